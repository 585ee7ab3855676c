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

# Its whole output when it fails. A pattern that chooses no case is a failure too.
run() { # WHAT COMMAND...
	what=$1
	shift
	start=$(cut -d. -f1 /proc/uptime)
	timeout 240 "$@" >/tmp/test.log 2>&1
	r=$?
	echo "$what: $r, $(($(cut -d. -f1 /proc/uptime) - start)) s"
	if [ $r -ne 0 ] || grep -aqE 'SKIPPED|PASSED  \] 0 test' /tmp/test.log; then
		grep -av '  OK \]\|RUN  ' /tmp/test.log
		bad=1
	fi
}

# Whole programs. What follows a colon is a case that cannot be here: it needs a device of other settings (then "settings"
# runs it), or it is about vincid.
programs() { # TEST[:CASE]...
	for t; do
		name=${t%%:*}
		skip=${t#"$name"}
		VINCI_TEST_SKIP=${skip#:} run "$name" "$BUILD/tests/$name"
	done
}

cases() { # TEST CASE...
	program=$1
	shift
	for t; do
		VINCI_TEST_CASE=$t run "$program $t" "$BUILD/tests/$program"
	done
}

scenarios() { # TEST SCENARIO...
	program=$1
	shift
	for t; do
		run "$program $t" "$BUILD/tests/$program" scenario "$t"
	done
}

# vincid's own: that it cannot be started (init_test cannot_start), dies (process_test deaths), stops or has another
# instance beside it (fork_test devices), or is written to by a client (hostile_test the_device_is_not_disturbed). What a
# wait costs (hostile_test waiting_costs_little) is no measure in an emulator.
integration() {
	bad=0
	programs memory_test memory_life_test:test_tight_device host_memory_test copy_test:test_peers_a3 ipc_test \
		ipc_life_test:test_without_link vmm_test vmm_access_test vmm_share_test:test_peer_access \
		peer_access_test:test_without_link init_test:cannot_start device_test:another_soc process_test:deaths \
		stream_test stream_attr_test event_test event_ipc_test callback_test value_test engine_test options_test \
		state_test log_test plugin_test binary_test kernel_fault_test "notify_test:super_nodes_*"
	cases hostile_test timed_waits_end endless_waits_can_be_ended records_arrive_when_it_stops \
		others_are_not_disturbed leaving_works foreign_keys_are_refused rubbish_is_refused
	scenarios fork_test started_programs started_by_many_threads exit_handlers_of_children faults_of_children \
		fork_in_a_callback daemons every_end main_thread_leaves destructors_of_threads cancelled_threads \
		signals_stay_the_programs signals_interrupt_nothing
	scenarios scale_test ends_with_everything_open
	chmod 0666 /dev/dri/renderD128
	scenarios environment_test pipeline interrupted_group writes_into_closed_files closes_everything_first \
		closes_everything_after no_variables odd_variables deleted_directory hidden_proc no_proc small_files \
		small_address_space between_users unprivileged_container containers_together container_alone
	chmod 0600 /dev/dri/renderD128
	return $bad
}

# The main job, one of its two processes killed at a system call or between two steps.
crash() {
	bad=0
	VINCI_CRASH_ROUNDS=$CRASH programs "crash_test:the_device*"
	return $bad
}

# Each with the module loaded as it asks for.
settings() {
	bad=0
	load peers=2,1,8,4,0,0,0,0
	cases ipc_life_test test_without_link
	cases vmm_share_test test_peer_access
	cases peer_access_test test_without_link
	unload
	load hbm_mib=14
	VINCI_MEMORY=14M run "memory_life_test tight" "$BUILD/tests/memory_life_test" tight
	unload
	load soc=Ascend910_9391
	export VINCI_SOC=Ascend910_9391
	cases notify_test "super_nodes_*"
	run "copy_test a3" "$BUILD/tests/copy_test" a3
	programs sharing_a3_test
	unload
	load soc=Ascend910_9391 devices=2 hbm_mib=1024
	VINCI_DEVICES=2 VINCI_MEMORY=1G scenarios device_test super_pod
	unload
	unset VINCI_SOC
	load soc=Ascend950PR_9589 hbm_mib=131072 notifies=65535
	VINCI_SOC=Ascend950PR_9589 programs cnt_notify_test
	unload
	for product in Ascend910B1:65536:8192 Ascend910_9391:65536:8192 Ascend950PR_9589:131072:65535 Ascend310B1:32768:2048 \
			Ascend310P3:22888:1024 Ascend910A:32768:1024 Ascend035:256:1; do
		IFS=: read -r soc mib notifies <<-END
			$product
		END
		load "soc=$soc" "hbm_mib=$mib" "notifies=$notifies"
		VINCI_SOC=$soc run "product_test $soc" "$BUILD/tests/product_test" be "$soc"
		unload
	done
	load
	VINCI_DEVICES=many scenarios init_test bad_settings
	VINCI_DEVICES=3 scenarios init_test other_settings
	unload
	load
	run "kmod_test unload" "$BUILD/tests/kmod_test" unload
	"$BUILD/bin/vinci-smi" 2>&1 | grep -q "no device node of vinci.ko" || bad=1
	return $bad
}

# Every place where a request can fail, once. The filters of the kernel's fault injection would spare nearly all.
faults() {
	for filter in /sys/kernel/debug/fail*/ignore-gfp-* ; do
		echo N >"$filter"
	done
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
	for verbose in /sys/kernel/debug/fail*/verbose; do
		echo 0 >"$verbose"
	done
	"$BUILD/tests/kmod_fail"
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
step integration integration
step crash crash
[ ! -e /proc/self/fail-nth ] || step faults faults
unload
step settings settings

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
