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
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
for module in $(cat /modules/order); do
	insmod "/modules/$module.ko" || echo "STEP $module failed"
done

wanted() {
	[ -z "$STEPS" ] && return 0
	case " $STEPS " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

step() { # NAME COMMAND...
	step_name=$1
	shift
	wanted "$step_name" || return 0
	begin=$(cut -d' ' -f1 /proc/uptime)
	"$@"
	case $? in
	0) result=passed ;;
	77) result=skipped ;;
	*) result=failed ;;
	esac
	echo "STEP $step_name $result ($begin to $(cut -d' ' -f1 /proc/uptime) s)"
}

load() { # PARAMETERS...
	insmod /modules/vinci.ko "$@" || { echo "STEP load failed"; reboot -f; }
}

# Nothing may be left: the module says so itself (a warning is a panic here).
unload() {
	rmmod vinci || echo "STEP unload failed"
}

export VINCI_DRIVER=drm

examples() {
	for example in "$TOP"/examples/*/run.sh; do
		"$example" "$BUILD" || return 1
	done
}

# Tests that start a device of their own with other settings cannot have one here: the module has been loaded. They are
# named, and exactly they have to fail.
integration() { # TEST[:CASE,CASE]...
	bad=0
	for t; do
		name=${t%%:*}
		cases=${t#"$name"}
		VINCI_INSTANCE=test-$name timeout 240 "$BUILD/tests/$name" >/tmp/test.log 2>&1
		r=$?
		failed=$(sed -n 's/^\[  FAILED  \] \([a-z_0-9]*\)$/\1/p' /tmp/test.log | sort -u | tr '\n' ' ')
		expected=$(echo "${cases#:}" | tr ',' '\n' | sort -u | tr '\n' ' ')
		echo "integration $name: $r ${failed:+(another device: $failed)}"
		ended=$(grep -ac '^\[  PASSED  \]' /tmp/test.log)
		if [ "${failed% }" != "${expected% }" ] || [ "$ended" -eq 0 ] || grep -aq 'SKIPPED' /tmp/test.log; then
			grep -av '  OK \]\|RUN  ' /tmp/test.log
			bad=1
		fi
	done
	return $bad
}

# A parameter out of its range is refused, and leaves nothing.
parameters() {
	for wrong in devices=0 devices=65 notifies=0 hbm_mib=0 hbm_mib=3 soc= peers=1,2 accel=maybe; do
		insmod /modules/vinci.ko $wrong 2>/tmp/insmod.log && return 1
		grep -qi 'invalid' /tmp/insmod.log || return 1
	done
	return 0
}

step parameters parameters
load devices=4 notifies=64 peers=6,5,3,0
step uapi "$BUILD/bin/uapi_suite" drm
unload

load
step kernel "$BUILD/tests/kmod_test"
step fuzz "$BUILD/tests/kmod_fuzz" "${FUZZ:-20}"
step examples examples
# notify_test's parent holds every notify id while its other scenarios run.
step integration integration memory_test memory_life_test:test_tight_device host_memory_test copy_test:test_peers_a3 \
	ipc_test ipc_life_test:test_without_link vmm_test vmm_access_test vmm_share_test:test_peer_access \
	peer_access_test:test_without_link init_test:cannot_start device_test:another_soc process_test:deaths stream_test \
	notify_test:super_nodes_have_lists_across_servers,plain_servers_have_none,exit_does_not_hang,a_forked_child_gets_errors
unload

if [ -d /sys/class/accel ]; then
	load accel=1 devices=4 notifies=64 peers=6,5,3,0
	step accel "$BUILD/bin/uapi_suite" drm
	unload
fi

# A debug kernel looks for memory that nobody refers to any more.
leaks() {
	[ -e /sys/kernel/debug/kmemleak ] || return 0
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6 # younger memory is not reported
	echo scan >/sys/kernel/debug/kmemleak
	! grep . /sys/kernel/debug/kmemleak
}
step leaks leaks

echo "ALL DONE"
sync
reboot -f
