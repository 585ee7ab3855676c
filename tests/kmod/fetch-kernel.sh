#!/bin/bash
# SPDX-License-Identifier: MIT
# fetch-kernel.sh SERIES CACHE: Debian's newest stock kernel of a series (6.1 or 6.12) with its headers, unpacked below
# CACHE. Nothing is installed. Prints the kernel's directory: vmlinuz, modules/, build/ (for make -C).
set -euo pipefail
series=$1
cache=$2

# Newest of the flavour -amd64: not cloud (no DRM), not rt.
newest() {
	apt-cache search --names-only "^linux-headers-${series//./\\.}\.[0-9]+(-[0-9]+|\+deb[0-9]+)-amd64\$" |
		cut -d' ' -f1 | sort -V | tail -n1
}

unpack() { # PACKAGE ROOT
	local debs
	(cd "$cache/debs" && apt-get download -qq -o APT::Sandbox::User=root "$1" >&2)
	debs=$(ls -t "$cache/debs/$1"_*.deb | head -n1)
	dpkg-deb -x "$debs" "$2"
	rm -f "$debs"
}

# The headers' makefiles name each other by absolute path.
relocate() { # ROOT RELEASE
	local headers=$1/usr/src/linux-headers-$2
	find "$headers" -maxdepth 1 -type f \( -name Makefile -o -name .kernelvariables \) \
		-exec sed -i "s#/usr/src/#$1/usr/src/#g" {} +
	find "$headers" -maxdepth 1 -type l | while read -r link; do
		target=$(readlink "$link")
		case $target in
		/usr/*) ln -sfn "$1$target" "$link" ;;
		esac
	done
}

headers=$(newest)
[ -n "$headers" ] || { echo "no linux-headers-$series*-amd64 in apt's lists: apt-get update" >&2; exit 1; }
release=${headers#linux-headers-}
root=$cache/$release
if [ ! -e "$root/complete" ]; then
	rm -rf "$root"
	mkdir -p "$root" "$cache/debs"
	for package in $(apt-cache depends "$headers" | sed -n 's/^ *Depends: *//p' |
			grep -E '^linux-(headers|kbuild)-') "$headers" "linux-image-$release"; do
		unpack "$package" "$root"
	done
	relocate "$root" "$release"
	ln -sfn "boot/vmlinuz-$release" "$root/vmlinuz"
	modules=lib/modules/$release
	[ -d "$root/$modules" ] || modules=usr/$modules
	ln -sfn "$modules" "$root/modules"
	ln -sfn "usr/src/linux-headers-$release" "$root/build"
	touch "$root/complete"
fi
echo "$root"
