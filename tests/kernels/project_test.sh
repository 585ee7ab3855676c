#!/bin/sh
# SPDX-License-Identifier: MIT
# project_test.sh <vinci-ascendc> <vinci source tree> <work directory> <cmake> <generator>
# Builds tests/kernels/project against an install tree made for it, and rebuilds it after edits. The ACL library in
# that tree is the tests' launcher, built here because this project knows nothing of vinci's sanitizers.
set -eu
tool=$1 source=$2 work=$3 cmake=$4 generator=$5
tikcpp=tree/$(uname -m)-linux/tikcpp/ascendc_kernel_cmake

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

# expect <what> <wanted> <program>
expect()
{
	got=$("./build/$3")
	[ "$got" = "$2" ] || fail "$1: $3 printed \"$got\", not \"$2\""
}

build()
{
	"$cmake" --build build >build.log 2>&1 || { cat build.log; fail "build"; }
}

if [ "$generator" = Ninja ] && ! command -v ninja >/dev/null; then
	echo "SKIP: no ninja"
	exit 77
fi

rm -rf "$work"
mkdir -p "$work"
cd "$work"
mkdir -p tree/bin tree/include tree/lib64 "$tikcpp"
cp "$tool" tree/bin/vinci-ascendc
cp -r "$source/include/ascendc" "$source/include/vinci" "$source/include/acl" tree/include/
"${CC:-cc}" -shared -fPIC -pthread -I"$source/include" "$source/tests/kernels/launcher.c" \
	-o tree/lib64/libascendcl.so -Wl,-soname,libascendcl.so
ln -s libascendcl.so tree/lib64/libacl_rt.so
cp "$source/cmake/ascendc.cmake" "$tikcpp/"
cp -r "$source/tests/kernels/project" project

configure()
{
	"$cmake" -S project/app -B build -G "$generator" "-DASCENDC_CMAKE_DIR=$work/$tikcpp" \
		"-DCMAKE_INSTALL_PREFIX=$work/out" >configure.log 2>&1
}

configure || { cat configure.log; fail "configure"; }
build
expect "first build" "0 2 20 200" one
expect "first build" "0 3 30 300" two
readelf -h out/fatbin/loaded_kernels/loaded_kernels.o | grep -q 'DYN' || fail "no fatbin at build time"
readelf -Ws out/fatbin/loaded_kernels/loaded_kernels.o | grep -q 'GLOBAL DEFAULT.* vinci_kernel_' ||
	fail "the fatbin's kernels cannot be found by name"
"$cmake" --install build >/dev/null
[ -x out/bin/one ] || fail "CMAKE_INSTALL_BINDIR is not set"
for file in lib/libmore_kernels.so lib/libkernels.a include/kernels/aclrtlaunch_Twice.h; do
	[ -e "out/$file" ] || fail "$file was not installed"
done

# Nothing to do is nothing done.
build
if grep -q Translating build.log; then
	fail "translated again without a change"
fi

# A header that the source includes, found by ascendc_include_directories.
echo '#define OFFSET 5' >project/kernels/include/offset.h
touch -d '+2 seconds' project/kernels/include/offset.h
build
expect "header changed" "0 7 25 205" one

# The source itself.
sed -i 's/\* FACTOR/* FACTOR * 10/' project/kernels/twice.cpp
touch -d '+4 seconds' project/kernels/twice.cpp
build
expect "source changed" "0 25 205 2005" one

# Messages speak of the source: the compiler's, and the translator's.
sed -i 's/\[block_idx\] = /[block_idx] = no_such_name + /' project/kernels/twice.cpp
touch -d '+6 seconds' project/kernels/twice.cpp
if "$cmake" --build build >build.log 2>&1; then
	fail "a source with an error was built"
fi
grep -q "project/kernels/twice.cpp:8:.*error:.*no_such_name" build.log || { cat build.log; fail "compiler's message"; }
sed -i -e 's/no_such_name + //' -e 's/<<<3, nullptr, /<<<3, /' project/kernels/twice.cpp
touch -d '+8 seconds' project/kernels/twice.cpp
if "$cmake" --build build >build.log 2>&1; then
	fail "a launch with an error was built"
fi
grep -q "project/kernels/twice.cpp:13: error: a launch takes three values" build.log ||
	{ cat build.log; fail "translator's message"; }

# A product that nobody makes.
sed -i 's/Ascend910B1/Descend1/' project/app/CMakeLists.txt
if configure; then
	fail "configured for an unknown SOC_VERSION"
fi
grep -q 'SOC_VERSION is "Descend1"' configure.log || { cat configure.log; fail "SOC_VERSION's message"; }
sed -i 's/Descend1/Ascend910B1/' project/app/CMakeLists.txt

for soc in Ascend910B12 ascend910_9361x Ascend; do
	sed -i "s/SOC_VERSION [^)]*)/SOC_VERSION $soc)/" project/app/CMakeLists.txt
	if configure; then
		fail "configured for SOC_VERSION $soc"
	fi
done
for soc in Ascend310P3 ascend910_9391 Ascend950PR_9589; do
	sed -i "s/SOC_VERSION [^)]*)/SOC_VERSION $soc)/" project/app/CMakeLists.txt
	configure || { cat configure.log; fail "not configured for SOC_VERSION $soc"; }
done

# Without the library there is nothing to link; say so when configuring.
rm -rf tree/lib64 build
if configure; then
	fail "configured without the ACL library"
fi
grep -q "the ACL library is not in vinci's install tree" configure.log || { cat configure.log; fail "configure's message"; }
echo "PASS"
