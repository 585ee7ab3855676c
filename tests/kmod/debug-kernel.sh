#!/bin/bash
# SPDX-License-Identifier: MIT
# debug-kernel.sh CACHE: Debian's Linux 6.12 source, built with debug.config (KASAN, lockdep, kmemleak, UBSAN, fault
# injection). Nothing is installed; about ten minutes on two cores. Prints the kernel's directory, as fetch-kernel.sh
# does. Debian: gcc-12 make bc flex bison libelf-dev libssl-dev xz-utils
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$1/debug
tree=$root/linux-source-6.12
if ! cmp -s "$here/debug.config" "$root/complete"; then
	rm -f "$root/complete"
	mkdir -p "$root"
	if [ ! -d "$tree" ]; then
		(cd "$root" && apt-get download -qq -o APT::Sandbox::User=root linux-source-6.12) >&2
		dpkg-deb -x "$root"/linux-source-6.12_*.deb "$root/unpacked"
		tar -C "$root" -xf "$root/unpacked/usr/src/linux-source-6.12.tar.xz"
		rm -rf "$root/unpacked" "$root"/linux-source-6.12_*.deb
	fi
	make -s -C "$tree" CC=gcc-12 KCONFIG_ALLCONFIG="$here/debug.config" allnoconfig >&2
	make -s -C "$tree" CC=gcc-12 -j"$(nproc)" bzImage modules >&2
	ln -sfn linux-source-6.12/arch/x86/boot/bzImage "$root/vmlinuz"
	ln -sfn linux-source-6.12 "$root/modules"
	ln -sfn linux-source-6.12 "$root/build"
	cp "$here/debug.config" "$root/complete"
fi
echo "$root"
