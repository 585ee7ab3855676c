#!/bin/bash
# SPDX-License-Identifier: MIT
# run-qemu.sh BUILD [6.1|6.12|debug...]: builds vinci.ko for Debian's stock kernels (default: 6.1 and 6.12), boots each under
# QEMU without KVM and runs guest.sh in it with the programs of the build directory. Nothing is installed, nothing
# needs root.
#
# VINCI_KMOD_CACHE keeps the unpacked kernels (default: BUILD/kmod/kernels), VINCI_KMOD_STEPS names the steps of guest.sh,
# VINCI_KMOD_FUZZ the seconds of fuzzing (20), VINCI_KMOD_CRASH the rounds of each case of crash_test (30).
# Exit 77: a program that is needed is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
shift
series=("$@")
[ $# -gt 0 ] || series=(6.1 6.12)
cache=${VINCI_KMOD_CACHE:-$build/kmod/kernels}
mkdir -p "$cache"

# Debian: qemu-system-x86 sparse busybox-static kmod cpio xz-utils gcc-12 make
for program in qemu-system-x86_64 sparse busybox modinfo cpio xz gcc-12 make apt-get; do
	command -v "$program" >/dev/null || { echo "run-qemu.sh needs $program"; exit 77; }
done
[ "$(uname -m)" = x86_64 ] || { echo "run-qemu.sh runs on x86-64 only"; exit 77; }

# A copy: kbuild leaves its files beside the sources.
build_module() { # KERNEL OUT
	mkdir -p "$2/drivers/kmod" "$2/drivers/common" "$2/include/uapi"
	cp -p "$top"/drivers/kmod/*.[ch] "$top"/drivers/kmod/Kbuild "$top"/drivers/kmod/Makefile "$2/drivers/kmod"
	cp -p "$top"/drivers/common/*.[ch] "$2/drivers/common"
	cp -p "$top"/include/uapi/*.h "$2/include/uapi"
	touch "$2"/drivers/kmod/*.c # sparse looks at what is compiled
	make -s -C "$2/drivers/kmod" KDIR="$1/build" CC=gcc-12 W=1 C=2 >"$2/make.log" 2>&1 || { cat "$2/make.log"; return 1; }
	if [ -s "$2/make.log" ]; then
		cat "$2/make.log"
		echo "the compiler or sparse has something to say: that is an error here"
		return 1
	fi
}

put() { # FILE ROOT: at the same place, with the libraries it needs
	mkdir -p "$2/$(dirname "$1")"
	strip -o "$2/$1" "$1" 2>/dev/null || cp -L "$1" "$2/$1"
	ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r lib; do
		[ -e "$2/$lib" ] || { mkdir -p "$2/$(dirname "$lib")" && cp -L "$lib" "$2/$lib"; }
	done || true
}

# With what it depends on, before it in modules/order.
put_module() { # NAME KERNEL ROOT
	local file needed
	file=$(find "$2/modules/" -name "${1//_/[-_]}.ko*" | head -n1)
	[ -n "$file" ] || { echo "the kernel has no module $1"; return 1; }
	for needed in $(modinfo -F depends "$file" | tr , ' '); do
		put_module "$needed" "$2" "$3"
	done
	[ ! -e "$3/modules/$1.ko" ] || return 0
	case $file in
	*.xz) xz -dc "$file" >"$3/modules/$1.ko" ;;
	*) cp "$file" "$3/modules/$1.ko" ;;
	esac
	echo "$1" >>"$3/modules/order"
}

make_initramfs() { # KERNEL OUT
	local root=$2/root file
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,etc,run,modules,lib64}
	cp "$(command -v busybox)" "$root/bin/busybox"
	"$root/bin/busybox" --install -s "$root/bin"
	for file in "$root"/bin/*; do
		[ ! -L "$file" ] || ln -sfn busybox "$file"
	done
	put "$(command -v bash)" "$root"
	ln -sfn "$(command -v bash)" "$root/bin/bash"
	put_module drm "$1" "$root"
	cp "$2/drivers/kmod/vinci.ko" "$root/modules/"
	put "$(ldconfig -p | sed -n 's/.*libdrm\.so\.2 .*x86-64.* => //p' | head -n1)" "$root"
	cp "$here/guest.sh" "$root/init"
	echo "root:x:0:0:root:/tmp:/bin/sh" >"$root/etc/passwd"
	find "$build/bin" "$build/lib64" "$build/tests" "$build/examples" -type f \( -perm -u+x -o -name '*.so*' \) 2>/dev/null |
		grep -Fv CMakeFiles | while read -r file; do put "$file" "$root"; done
	find "$build/lib64" -type l | while read -r file; do cp -P "$file" "$root/$file"; done
	mkdir -p "$root/$top"
	cp -r --parents "$top"/examples/*/run.sh "$top"/examples/common "$root"
	{ echo "BUILD='$build'"; echo "TOP='$top'"; echo "STEPS='${VINCI_KMOD_STEPS:-}'"
	  echo "FUZZ='${VINCI_KMOD_FUZZ:-20}'"; echo "CRASH='${VINCI_KMOD_CRASH:-30}'"; } >"$root/settings"
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$2/initramfs.gz"
}

# On a busy machine the emulated timer looks broken to the check that no_timer_check leaves out.
boot() { # KERNEL OUT
	timeout $((1800 + ${VINCI_KMOD_FUZZ:-20})) qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 3072 -smp 2 \
		-nodefaults -no-reboot -display none -kernel "$1/vmlinuz" -initrd "$2/initramfs.gz" -serial stdio \
		-append "console=ttyS0 panic=-1 oops=panic panic_on_warn=1 no_timer_check rdinit=/init" </dev/null | sed -u 's/\r$//' |
		tee "$2/console.log" | grep -av --line-buffered '^\[ *[0-9.]*\] ' || true
}

judge() { # OUT
	local bad=0
	if grep -aE -m1 -A80 'WARNING:|BUG:|Oops|Kernel panic|detected stall|blocked for more than' "$1/console.log"; then
		echo "the kernel complains"
		bad=1
	fi
	if grep -E '^STEP [a-z_0-9]+ (failed|skipped)' "$1/console.log"; then bad=1; fi
	grep -q '^ALL DONE$' "$1/console.log" || { echo "the guest did not come to its end"; bad=1; }
	return $bad
}

run() { # SERIES
	local kernel out
	if [ "$1" = debug ]; then
		kernel=$("$here/debug-kernel.sh" "$cache")
	else
		kernel=$("$here/fetch-kernel.sh" "$1" "$cache")
	fi
	out=$build/kmod/$(basename "$kernel")
	mkdir -p "$out"
	echo "=== Linux $(basename "$kernel"): module"
	build_module "$kernel" "$out"
	make_initramfs "$kernel" "$out"
	echo "=== Linux $(basename "$kernel"): boot"
	boot "$kernel" "$out"
	judge "$out"
}

for s in "${series[@]}"; do
	run "$s"
done
echo "run-qemu.sh: ${series[*]}: all passed"
