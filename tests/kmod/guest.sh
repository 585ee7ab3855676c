#!/bin/sh
# SPDX-License-Identifier: MIT
# guest.sh: /init of the guest. Loads the module, runs the steps, unloads it, and switches off. A step prints one line
# "STEP name passed|failed|skipped"; the host reads these and the kernel's own messages.
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
ip link set lo up 2>/dev/null
. /settings
insmod /modules/drm.ko

wanted() {
	[ -z "$STEPS" ] && return 0
	case " $STEPS " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

step() { # NAME COMMAND...
	name=$1
	shift
	wanted "$name" || return 0
	begin=$(cut -d' ' -f1 /proc/uptime)
	"$@"
	case $? in
	0) result=passed ;;
	77) result=skipped ;;
	*) result=failed ;;
	esac
	echo "STEP $name $result ($begin to $(cut -d' ' -f1 /proc/uptime) s)"
}

load() { # PARAMETERS...
	insmod /modules/vinci.ko "$@" || { echo "STEP load failed"; return 1; }
}

# Nothing may be left: the module says so itself (a warning is a panic here).
unload() {
	rmmod vinci || echo "STEP unload failed"
}

load devices=4 notifies=64 peers=6,5,3,0
step uapi "$BUILD/bin/uapi_suite" drm
unload

echo "ALL DONE"
sync
reboot -f
