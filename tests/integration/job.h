/* SPDX-License-Identifier: MIT */
/*
 * job.h - a bit of everything the library does, and two processes that share memory with a whitelist: what the tests of
 * strange surroundings try there.
 */
#ifndef VINCI_JOB_H
#define VINCI_JOB_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "scenario.h"

#define JOB_MS 20000
#define JOB_SIZE ((size_t)2 << 20)

/* Of this process and those it starts. */
static inline void own_instance(void)
{
	char name[64];

	snprintf(name, sizeof(name), "test-job-%d", getpid());
	CHECK(!setenv("VINCI_INSTANCE", name, 1));
}

/* The vincid of this process's instance; 0: the device is the kernel's. */
static inline pid_t job_server(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *driver = getenv("VINCI_DRIVER");
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	int fd, n;

	if (driver && !strcmp(driver, "drm"))
		return 0;
	n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "vinci-%u-%s-1", geteuid(),
		     getenv("VINCI_INSTANCE"));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0);
	CHECK(!connect(fd, (struct sockaddr *)&address,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)));
	CHECK(!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len));
	close(fd);
	CHECK(cred.pid > 1 && cred.pid != getpid());
	return cred.pid;
}

static inline bool job_gone(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	bool gone;

	if (p.fd < 0)
		return !pid || errno == ESRCH;
	gone = poll(&p, 1, JOB_MS) == 1;
	close(p.fd);
	return gone;
}

static inline void job_wait(pid_t pid)
{
	int status;

	CHECK(pid > 0);
	status = t_wait_pid(pid, JOB_MS);
	if (status)
		fprintf(stderr, "the child ended with %d\n", status);
	CHECK(!status);
}

/* Device memory, a stream, copies, a notify, physical memory. Leaves nothing. */
static inline void job_with_device_set(void)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
				      .location = { .type = ACL_MEM_LOCATION_TYPE_DEVICE } };
	unsigned char bytes[4096] = { 0 };
	aclrtDrvMemHandle handle;
	aclrtStream stream;
	aclrtNotify notify;
	void *memory, *range;
	int32_t device;

	CHECK_CODE(aclrtGetDevice(&device), ACL_SUCCESS);
	prop.location.id = (uint32_t)device;
	CHECK_CODE(aclrtCreateStream(&stream), ACL_SUCCESS);
	CHECK_CODE(aclrtMalloc(&memory, JOB_SIZE, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
	CHECK_CODE(aclrtMemsetAsync(memory, JOB_SIZE, 0x5a, JOB_SIZE, stream), ACL_SUCCESS);
	CHECK_CODE(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
	CHECK_CODE(aclrtWaitAndResetNotify(notify, stream, 10), ACL_SUCCESS);
	CHECK_CODE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
	CHECK_CODE(aclrtMemcpy(bytes, sizeof(bytes), memory, sizeof(bytes), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
	CHECK(bytes[0] == 0x5a && bytes[4095] == 0x5a);
	CHECK_CODE(aclrtMallocPhysical(&handle, JOB_SIZE, &prop, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtReserveMemAddress(&range, JOB_SIZE, 0, NULL, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtMapMem(range, JOB_SIZE, 0, handle, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtMemset(range, JOB_SIZE, 1, JOB_SIZE), ACL_SUCCESS);
	CHECK_CODE(aclrtUnmapMem(range), ACL_SUCCESS);
	CHECK_CODE(aclrtReleaseMemAddress(range), ACL_SUCCESS);
	CHECK_CODE(aclrtFreePhysical(handle), ACL_SUCCESS);
	CHECK_CODE(aclrtDestroyNotify(notify), ACL_SUCCESS);
	CHECK_CODE(aclrtDestroyStream(stream), ACL_SUCCESS);
	CHECK_CODE(aclrtFree(memory), ACL_SUCCESS);
}

static inline void job(void)
{
	CHECK_CODE(aclInit(NULL), ACL_SUCCESS);
	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	job_with_device_set();
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclFinalize(), ACL_SUCCESS);
}

/* ---- two processes ----------------------------------------------------------------------------- */

static inline void job_send(int fd, const void *data, size_t size)
{
	CHECK(write(fd, data, size) == (ssize_t)size);
}

static inline void job_receive(int fd, void *data, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	CHECK(poll(&p, 1, JOB_MS) == 1);
	CHECK(read(fd, data, size) == (ssize_t)size);
}

/* Its numbers: what the device calls it, and what it calls itself. */
struct job_numbers {
	int32_t bare, own;
};

static inline void job_importer(int channel)
{
	struct job_numbers numbers = { .own = getpid() };
	unsigned char byte = 0;
	char key[65];
	void *memory;
	int32_t next;

	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtDeviceGetBareTgid(&numbers.bare), ACL_SUCCESS);
	CHECK(numbers.bare > 0);
	job_send(channel, &numbers, sizeof(numbers));
	job_receive(channel, key, sizeof(key));
	CHECK_SAYS(aclrtIpcMemImportByKey(&memory, key, 0), ACL_ERROR_RT_DRV_INTERNAL_ERROR, "whitelist");
	job_send(channel, &byte, 1);
	job_receive(channel, &next, sizeof(next));
	if (numbers.own != numbers.bare)
		CHECK_SAYS(aclrtIpcMemImportByKey(&memory, key, 0), ACL_ERROR_RT_DRV_INTERNAL_ERROR, "whitelist");
	job_send(channel, &byte, 1);
	job_receive(channel, &next, sizeof(next));
	CHECK_CODE(aclrtIpcMemImportByKey(&memory, key, 0), ACL_SUCCESS);
	CHECK_CODE(aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
	CHECK(byte == 77);
	CHECK_CODE(aclrtMemset(memory, JOB_SIZE, 78, JOB_SIZE), ACL_SUCCESS);
	CHECK_CODE(aclrtIpcMemClose(key), ACL_SUCCESS);
	job_send(channel, &byte, 1);
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
}

/* First nobody is listed, then the number the importer has for itself, then the one the device has for it. */
static inline void job_exporter(int channel)
{
	struct job_numbers numbers;
	unsigned char byte = 0;
	char key[65];
	void *memory;

	CHECK_CODE(aclrtSetDevice(0), ACL_SUCCESS);
	CHECK_CODE(aclrtMalloc(&memory, JOB_SIZE, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
	CHECK_CODE(aclrtMemset(memory, JOB_SIZE, 77, JOB_SIZE), ACL_SUCCESS);
	CHECK_CODE(aclrtIpcMemGetExportKey(memory, JOB_SIZE, key, sizeof(key), 0), ACL_SUCCESS);
	job_receive(channel, &numbers, sizeof(numbers));
	job_send(channel, key, sizeof(key));
	job_receive(channel, &byte, 1);
	if (numbers.own != numbers.bare) /* whoever has it outside, if anybody */
		(void)aclrtIpcMemSetImportPid(key, &numbers.own, 1);
	job_send(channel, &numbers.own, sizeof(numbers.own));
	job_receive(channel, &byte, 1);
	CHECK_CODE(aclrtIpcMemSetImportPid(key, &numbers.bare, 1), ACL_SUCCESS);
	job_send(channel, &numbers.bare, sizeof(numbers.bare));
	job_receive(channel, &byte, 1);
	CHECK_CODE(aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
	CHECK(byte == 78);
	CHECK_CODE(aclrtIpcMemClose(key), ACL_SUCCESS);
	CHECK_CODE(aclrtFree(memory), ACL_SUCCESS);
	CHECK_CODE(aclrtResetDevice(0), ACL_SUCCESS);
}

/* @enter: puts the importer where it shall be; NULL: it stays here. This process must not have used the library yet. */
static inline void job_exchange(void (*enter)(void))
{
	int pair[2];
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	pid = fork();
	if (!pid) {
		CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
		close(pair[0]);
		if (enter)
			enter();
		job_importer(pair[1]);
		exit(0);
	}
	close(pair[1]);
	job_exporter(pair[0]);
	close(pair[0]);
	job_wait(pid);
}

#endif
