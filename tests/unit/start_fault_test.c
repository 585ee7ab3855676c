/* SPDX-License-Identifier: MIT */
/*
 * start_fault_test.c - call N of what the library asks of libc and of the device fails, for N = 1, 2, ...: the first
 * calls of a program answer with a sane code and a sentence, leak no descriptor, and succeed when they are made again.
 */
#include "acl/acl.h"
#include "drv/drv.h"
#include "test_util.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/* Calls until the one that fails; 0: none fails. */
static int countdown;
static bool fired;
static int device_error; /* what a failing request of the device answers */

static bool fails_now(void)
{
	if (!countdown || --countdown)
		return false;
	fired = true;
	return true;
}

static enum { LIBC, DEVICE } target;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return target == LIBC && fails_now() ? NULL : __real_calloc(n, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return target == LIBC && fails_now() ? NULL : __real_malloc(size);
}

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
	return target == LIBC && fails_now() ? NULL : __real_strdup(s);
}

void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (target == LIBC && fails_now()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(addr, len, prot, flags, fd, offset);
}

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return target == LIBC && fails_now() ? ENOMEM : __real_pthread_atfork(prepare, parent, child);
}

int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
	return target == LIBC && fails_now() ? ENOMEM : __real_pthread_setspecific(key, value);
}

int __real_drv_open(const struct drv_settings *settings, struct drv **out, char *why, size_t why_len);
int __wrap_drv_open(const struct drv_settings *settings, struct drv **out, char *why, size_t why_len);
int __wrap_drv_open(const struct drv_settings *settings, struct drv **out, char *why, size_t why_len)
{
	return target == DEVICE && fails_now() ? device_error : __real_drv_open(settings, out, why, why_len);
}

int __real_drv_get_param(struct drv *drv, uint32_t param, uint64_t *value);
int __wrap_drv_get_param(struct drv *drv, uint32_t param, uint64_t *value);
int __wrap_drv_get_param(struct drv *drv, uint32_t param, uint64_t *value)
{
	return target == DEVICE && fails_now() ? device_error : __real_drv_get_param(drv, param, value);
}

int __real_drv_device_info(struct drv *drv, uint32_t device, struct drm_vinci_device_info *info);
int __wrap_drv_device_info(struct drv *drv, uint32_t device, struct drm_vinci_device_info *info);
int __wrap_drv_device_info(struct drv *drv, uint32_t device, struct drm_vinci_device_info *info)
{
	return target == DEVICE && fails_now() ? device_error : __real_drv_device_info(drv, device, info);
}

/* ---- one run --------------------------------------------------------------------------------- */

static void must(bool cond, const char *what, int code)
{
	const char *text;

	if (cond)
		return;
	text = aclGetRecentErrMsg();
	fprintf(stderr, "%s: %d: %s\n", what, code, text ? text : "no sentence");
	_exit(1);
}

/* A code of this library: the memory is short, or the device is not there. */
static bool is_sane(int code)
{
	static const int codes[] = { ACL_SUCCESS,
				     ACL_ERROR_BAD_ALLOC,
				     ACL_ERROR_INTERNAL_ERROR,
				     ACL_ERROR_RT_MEMORY_ALLOCATION,
				     ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
				     ACL_ERROR_RT_NO_DEVICE,
				     ACL_ERROR_RT_NO_STREAM_RESOURCE,
				     ACL_ERROR_RT_DEV_SETUP_ERROR,
				     ACL_ERROR_RT_LOST_HEARTBEAT,
				     ACL_ERROR_RT_REPORT_TIMEOUT,
				     ACL_ERROR_RT_DRV_INTERNAL_ERROR };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == code)
			return true;
	return false;
}

#define TRY(call)                                                                                                      \
	do {                                                                                                           \
		int code_ = (call);                                                                                    \
		must(is_sane(code_), #call, code_);                                                                    \
		if (code_)                                                                                             \
			return false;                                                                                  \
	} while (0)

/* The first calls of a program; what was opened before a failure is closed by the second round's end. */
static bool first_calls(void)
{
	uint32_t count;
	aclrtContext ctx;
	int32_t pid;

	TRY(aclInit(NULL));
	TRY(aclrtGetDeviceCount(&count));
	TRY(aclrtDeviceGetBareTgid(&pid));
	TRY(aclrtSetDevice(1));
	TRY(aclrtCreateContext(&ctx, 2));
	TRY(aclrtDestroyContext(ctx));
	TRY(aclrtResetDevice(1));
	TRY(aclFinalize());
	return true;
}

static void clean_up(void)
{
	(void)aclrtResetDeviceForce(1);
	(void)aclrtResetDeviceForce(2);
	(void)aclFinalize();
}

/* In a child that nothing was initialised in. Ends with 0: call @n failed; 7: there is no call @n. */
static void __attribute__((noreturn)) run(int n)
{
	unsigned fds, before;
	bool ok;

	countdown = n;
	before = t_count_fds();
	ok = first_calls();
	countdown = 0;
	must(ok || fired, "a call failed by itself", 0);
	clean_up();
	fds = t_count_fds();
	must(fds <= before + 2, "descriptors after a failure", (int)fds); /* the connection, and one that died */
	must(first_calls(), "the second round", 0);
	clean_up();
	must(t_count_fds() <= before + 2, "descriptors after the second round", (int)t_count_fds());
	_exit(fired ? 0 : 7);
}

static int sweep(void)
{
	for (int n = 1; n < 1000; n++) {
		pid_t pid = fork();
		int r;

		assert_true(pid >= 0);
		if (!pid)
			run(n);
		r = t_wait_pid(pid, 30000);
		if (r == 7)
			return n - 1;
		if (r)
			fail_msg("with call %d failing: ended with %d", n, r);
	}
	return 1000;
}

static void libc_fails(void **state)
{
	int n;

	(void)state;
	target = LIBC;
	n = sweep();
	print_message("%d calls of libc failed\n", n);
	assert_in_range(n, 5, 999);
}

static void the_device_fails(void **state)
{
	static const int errors[] = { -ENOMEM, -EIO, -EINVAL, -ENOTCONN, -EPROTO, -ETIMEDOUT };
	int n;

	(void)state;
	target = DEVICE;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		device_error = errors[i];
		n = sweep();
		assert_in_range(n, 4, 999);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libc_fails),
		cmocka_unit_test(the_device_fails),
	};
	char instance[64];

	snprintf(instance, sizeof(instance), "test-start-fault-%d", getpid());
	setenv("VINCI_INSTANCE", instance, 1);
	setenv("VINCI_SERVER", SERVER_PATH, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
