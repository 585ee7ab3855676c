#!/bin/bash
# SPDX-License-Identifier: MIT
# Cross-builds everything for aarch64 and runs the tests that need no second program (unit, abi, uapi in process) under
# qemu-user. Needs: gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user and libcmocka-dev, libdrm-dev, libnuma-dev of arm64.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$top/build-aarch64}
export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig
cmake -S "$top" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$top/cmake/aarch64-linux-gnu.cmake"
cmake --build "$build" -j"$(nproc)"
ctest --test-dir "$build" --output-on-failure --no-tests=error -L qemu
