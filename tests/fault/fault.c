/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* Clang's sanitizers are linked in as well: they call wrapped functions before they are ready for instrumented code. */
#ifdef __clang__
#define RAW __attribute__((disable_sanitizer_instrumentation))
#else
#define RAW __attribute__((no_sanitize("thread"), no_sanitize("address"), no_sanitize("undefined")))
#endif

#define EINTR_ONLY (-1) /* this function never fails otherwise, or not in a way that matters */
#define NEVER 0		/* this function has no such error */

static struct state {
	atomic_uint groups; /* 0: disarmed */
	atomic_int way, at, calls;
	atomic_int only, except;
	atomic_int sharer; /* who called fault_share() */
	_Atomic(const char *) hit; /* the same string in all processes: they are forks of one program */
} own, *state = &own;

static atomic_long live;

bool fault_share(void)
{
	struct state *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return false;
	atomic_store(&shared->sharer, getpid());
	state = shared;
	return true;
}

RAW void fault_arm(const struct fault *fault)
{
	atomic_store(&state->groups, 0);
	atomic_store(&state->way, fault->way);
	atomic_store(&state->at, fault->at);
	atomic_store(&state->only, fault->only);
	atomic_store(&state->except, fault->except);
	atomic_store(&state->calls, 0);
	atomic_store(&state->hit, NULL);
	atomic_store(&state->groups, fault->groups);
}

RAW int fault_disarm(void)
{
	atomic_store(&state->groups, 0);
	return atomic_load(&state->calls);
}

RAW const char *fault_hit(void)
{
	return atomic_load(&state->hit);
}

RAW long fault_live_blocks(void)
{
	return atomic_load(&live);
}

RAW bool fault_heap_is_gone(void)
{
	return atomic_load(&state->groups) & FAULT_HEAP && atomic_load(&state->way) == FAULT_FROM;
}

static RAW bool is_elsewhere(void)
{
	int only = atomic_load(&state->only), except = atomic_load(&state->except), pid;

	if (!only && !except)
		return false;
	pid = getpid();
	return (only && only != pid) || (except && (except == pid || atomic_load(&state->sharer) == pid));
}

/* The errno with which this call has to fail, 0: it is let through. */
static RAW int fails(const char *name, unsigned group, int error, int other, bool interruptible)
{
	const char *none = NULL;
	int n, err, w, at;

	if (!(atomic_load_explicit(&state->groups, memory_order_relaxed) & group) || is_elsewhere())
		return 0;
	w = atomic_load(&state->way);
	at = atomic_load(&state->at);
	err = w == FAULT_INTERRUPT ? (interruptible ? EINTR : NEVER) : w == FAULT_ONCE_OTHER ? other : error;
	if (err == NEVER || err == EINTR_ONLY)
		return 0;
	n = atomic_fetch_add(&state->calls, 1) + 1;
	if (!at || (w == FAULT_FROM ? n < at : n != at))
		return 0;
	atomic_compare_exchange_strong(&state->hit, &none, name);
	return err;
}

#define WRAP(type, name, ...)                                                                                          \
	type __real_##name(__VA_ARGS__);                                                                               \
	RAW type __wrap_##name(__VA_ARGS__);                                                                           \
	RAW type __wrap_##name(__VA_ARGS__)

/* @failed is returned with errno. */
#define FAIL_IF(name, group, error, other, interruptible, failed)                                                      \
	do {                                                                                                           \
		int err_ = fails(#name, group, error, other, interruptible);                                           \
		if (err_) {                                                                                            \
			errno = err_;                                                                                  \
			return failed;                                                                                 \
		}                                                                                                      \
	} while (0)

/* ---- memory ---------------------------------------------------------------------------------- */

static RAW void *counted(void *p)
{
	if (p)
		atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
	return p;
}

WRAP(void *, malloc, size_t size)
{
	FAIL_IF(malloc, FAULT_HEAP, ENOMEM, NEVER, false, NULL);
	return counted(__real_malloc(size));
}

WRAP(void *, calloc, size_t n, size_t size)
{
	FAIL_IF(calloc, FAULT_HEAP, ENOMEM, NEVER, false, NULL);
	return counted(__real_calloc(n, size));
}

WRAP(void *, realloc, void *old, size_t size)
{
	void *p;

	FAIL_IF(realloc, FAULT_HEAP, ENOMEM, NEVER, false, NULL);
	p = __real_realloc(old, size);
	return old ? p : counted(p);
}

WRAP(void *, aligned_alloc, size_t align, size_t size)
{
	FAIL_IF(aligned_alloc, FAULT_HEAP, ENOMEM, NEVER, false, NULL);
	return counted(__real_aligned_alloc(align, size));
}

WRAP(char *, strdup, const char *s)
{
	FAIL_IF(strdup, FAULT_HEAP, ENOMEM, NEVER, false, NULL);
	return counted(__real_strdup(s));
}

WRAP(char *, strndup, const char *s, size_t n)
{
	FAIL_IF(strndup, FAULT_HEAP, ENOMEM, NEVER, false, NULL);
	return counted(__real_strndup(s, n));
}

WRAP(void, free, void *p)
{
	if (p)
		atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
	__real_free(p);
}

WRAP(void *, mmap, void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	FAIL_IF(mmap, FAULT_MAP, ENOMEM, EAGAIN, false, MAP_FAILED);
	return __real_mmap(addr, len, prot, flags, fd, offset);
}

/* What it names is gone all the same: a program can do nothing about a failure but report it. */
WRAP(int, munmap, void *addr, size_t len)
{
	int err = fails("munmap", FAULT_CLOSE, ENOMEM, NEVER, false);
	int r = __real_munmap(addr, len);

	if (err)
		errno = err;
	return err ? -1 : r;
}

WRAP(int, madvise, void *addr, size_t len, int advice)
{
	FAIL_IF(madvise, FAULT_MAP, ENOMEM, EINVAL, false, -1);
	return __real_madvise(addr, len, advice);
}

WRAP(int, mincore, void *addr, size_t len, unsigned char *vec)
{
	FAIL_IF(mincore, FAULT_MAP, ENOMEM, EAGAIN, false, -1);
	return __real_mincore(addr, len, vec);
}

WRAP(int, msync, void *addr, size_t len, int flags)
{
	FAIL_IF(msync, FAULT_MAP, ENOMEM, EINVAL, false, -1);
	return __real_msync(addr, len, flags);
}

WRAP(int, memfd_create, const char *name, unsigned flags)
{
	FAIL_IF(memfd_create, FAULT_MAP, ENOMEM, EMFILE, false, -1);
	return __real_memfd_create(name, flags);
}

WRAP(int, ftruncate, int fd, off_t size)
{
	FAIL_IF(ftruncate, FAULT_MAP, EFBIG, EIO, true, -1);
	return __real_ftruncate(fd, size);
}

/* ---- messages -------------------------------------------------------------------------------- */

WRAP(ssize_t, send, int fd, const void *buf, size_t len, int flags)
{
	FAIL_IF(send, FAULT_MESSAGE, EPIPE, ENOBUFS, true, -1);
	return __real_send(fd, buf, len, flags);
}

WRAP(ssize_t, sendmsg, int fd, const struct msghdr *msg, int flags)
{
	FAIL_IF(sendmsg, FAULT_MESSAGE, EPIPE, ENOBUFS, true, -1);
	return __real_sendmsg(fd, msg, flags);
}

WRAP(ssize_t, recv, int fd, void *buf, size_t len, int flags)
{
	FAIL_IF(recv, FAULT_MESSAGE, ECONNRESET, ENOMEM, true, -1);
	return __real_recv(fd, buf, len, flags);
}

WRAP(ssize_t, recvmsg, int fd, struct msghdr *msg, int flags)
{
	FAIL_IF(recvmsg, FAULT_MESSAGE, ECONNRESET, ENOMEM, true, -1);
	return __real_recvmsg(fd, msg, flags);
}

WRAP(ssize_t, read, int fd, void *buf, size_t len)
{
	FAIL_IF(read, FAULT_MESSAGE, EIO, EAGAIN, true, -1);
	return __real_read(fd, buf, len);
}

WRAP(ssize_t, pread, int fd, void *buf, size_t len, off_t offset)
{
	FAIL_IF(pread, FAULT_MESSAGE, EIO, ENXIO, true, -1);
	return __real_pread(fd, buf, len, offset);
}

WRAP(ssize_t, write, int fd, const void *buf, size_t len)
{
	FAIL_IF(write, FAULT_MESSAGE, EIO, ENOSPC, true, -1);
	return __real_write(fd, buf, len);
}

WRAP(int, poll, struct pollfd *fds, nfds_t n, int timeout)
{
	FAIL_IF(poll, FAULT_MESSAGE, ENOMEM, NEVER, true, -1);
	return __real_poll(fds, n, timeout);
}

WRAP(ssize_t, process_vm_readv, pid_t pid, const struct iovec *to, unsigned long n, const struct iovec *from,
     unsigned long m, unsigned long flags)
{
	FAIL_IF(process_vm_readv, FAULT_MESSAGE, EPERM, ENOSYS, false, -1);
	return __real_process_vm_readv(pid, to, n, from, m, flags);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

WRAP(int, socket, int domain, int type, int protocol)
{
	FAIL_IF(socket, FAULT_OPEN, EMFILE, ENOBUFS, false, -1);
	return __real_socket(domain, type, protocol);
}

WRAP(int, connect, int fd, const struct sockaddr *addr, socklen_t len)
{
	FAIL_IF(connect, FAULT_OPEN, EACCES, EAGAIN, true, -1);
	return __real_connect(fd, addr, len);
}

WRAP(int, bind, int fd, const struct sockaddr *addr, socklen_t len)
{
	FAIL_IF(bind, FAULT_OPEN, EACCES, ENOMEM, false, -1);
	return __real_bind(fd, addr, len);
}

WRAP(int, listen, int fd, int backlog)
{
	FAIL_IF(listen, FAULT_OPEN, EADDRINUSE, EOPNOTSUPP, false, -1);
	return __real_listen(fd, backlog);
}

WRAP(int, accept4, int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	FAIL_IF(accept4, FAULT_OPEN, EMFILE, ECONNABORTED, true, -1);
	return __real_accept4(fd, addr, len, flags);
}

WRAP(int, setsockopt, int fd, int level, int name, const void *value, socklen_t len)
{
	FAIL_IF(setsockopt, FAULT_OPEN, ENOMEM, EINVAL, false, -1);
	return __real_setsockopt(fd, level, name, value, len);
}

WRAP(int, getsockopt, int fd, int level, int name, void *value, socklen_t *len)
{
	FAIL_IF(getsockopt, FAULT_OPEN, ENOBUFS, ENOPROTOOPT, false, -1);
	return __real_getsockopt(fd, level, name, value, len);
}

WRAP(int, pipe2, int fds[2], int flags)
{
	FAIL_IF(pipe2, FAULT_OPEN, EMFILE, ENFILE, false, -1);
	return __real_pipe2(fds, flags);
}

WRAP(int, fcntl, int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	FAIL_IF(fcntl, FAULT_OPEN, EINVAL, EPERM, false, -1);
	return __real_fcntl(fd, cmd, arg);
}

WRAP(int, open, const char *path, int flags, ...)
{
	va_list ap;
	int mode = 0;

	va_start(ap, flags);
	if (flags & (O_CREAT | __O_TMPFILE))
		mode = va_arg(ap, int);
	va_end(ap);
	FAIL_IF(open, FAULT_OPEN, EMFILE, EACCES, true, -1);
	return __real_open(path, flags, mode);
}

WRAP(int, fstat, int fd, struct stat *st)
{
	FAIL_IF(fstat, FAULT_OPEN, ENOMEM, EOVERFLOW, false, -1);
	return __real_fstat(fd, st);
}

WRAP(int, dup2, int from, int to)
{
	FAIL_IF(dup2, FAULT_OPEN, EMFILE, EBADF, true, -1);
	return __real_dup2(from, to);
}

WRAP(int, access, const char *path, int mode)
{
	FAIL_IF(access, FAULT_OPEN, EACCES, ENOENT, false, -1);
	return __real_access(path, mode);
}

WRAP(int, epoll_create1, int flags)
{
	FAIL_IF(epoll_create1, FAULT_OPEN, EMFILE, ENOMEM, false, -1);
	return __real_epoll_create1(flags);
}

WRAP(int, epoll_ctl, int epfd, int op, int fd, struct epoll_event *event)
{
	FAIL_IF(epoll_ctl, FAULT_OPEN, ENOMEM, ENOSPC, false, -1);
	return __real_epoll_ctl(epfd, op, fd, event);
}

WRAP(int, epoll_wait, int epfd, struct epoll_event *events, int max, int timeout)
{
	FAIL_IF(epoll_wait, FAULT_MESSAGE, EINTR_ONLY, EINTR_ONLY, true, -1);
	return __real_epoll_wait(epfd, events, max, timeout);
}

WRAP(int, signalfd, int fd, const sigset_t *mask, int flags)
{
	FAIL_IF(signalfd, FAULT_OPEN, EMFILE, ENODEV, false, -1);
	return __real_signalfd(fd, mask, flags);
}

/* The descriptor is gone all the same, as on Linux. */
WRAP(int, close, int fd)
{
	int err = fails("close", FAULT_CLOSE, EIO, EINTR, true);
	int r = __real_close(fd);

	if (err)
		errno = err;
	return err ? -1 : r;
}

WRAP(ssize_t, getrandom, void *buf, size_t len, unsigned flags)
{
	FAIL_IF(getrandom, FAULT_OPEN, ENOSYS, EAGAIN, true, -1);
	return __real_getrandom(buf, len, flags);
}

/* ---- threads and processes ------------------------------------------------------------------- */

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int err = fails("pthread_create", FAULT_THREAD, EAGAIN, EPERM, false);

	return err ? err : __real_pthread_create(thread, attr, start, arg);
}

WRAP(int, pthread_attr_init, pthread_attr_t *attr)
{
	int err = fails("pthread_attr_init", FAULT_THREAD, ENOMEM, NEVER, false);

	return err ? err : __real_pthread_attr_init(attr);
}

WRAP(int, pthread_key_create, pthread_key_t *key, void (*end)(void *))
{
	int err = fails("pthread_key_create", FAULT_THREAD, EAGAIN, ENOMEM, false);

	return err ? err : __real_pthread_key_create(key, end);
}

WRAP(int, pthread_setspecific, pthread_key_t key, const void *value)
{
	int err = fails("pthread_setspecific", FAULT_THREAD, ENOMEM, NEVER, false);

	return err ? err : __real_pthread_setspecific(key, value);
}

WRAP(int, pthread_atfork, void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	int err = fails("pthread_atfork", FAULT_THREAD, ENOMEM, NEVER, false);

	return err ? err : __real_pthread_atfork(prepare, parent, child);
}

WRAP(int, execve, const char *path, char *const argv[], char *const env[])
{
	FAIL_IF(execve, FAULT_THREAD, EACCES, ENOMEM, false, -1);
	return __real_execve(path, argv, env);
}

WRAP(pid_t, waitpid, pid_t pid, int *status, int options)
{
	FAIL_IF(waitpid, FAULT_THREAD, NEVER, NEVER, true, -1);
	return __real_waitpid(pid, status, options);
}

/* Which of a system call's errors, if it is one that has to be survived. Wake-ups do not fail. */
static RAW int syscall_fails(long nr, long a1, long a3)
{
	bool waits = (a1 & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;

	switch (nr) {
	case SYS_clone:
		return fails("clone", FAULT_THREAD, EAGAIN, ENOMEM, false);
	case SYS_pidfd_open:
		return fails("pidfd_open", FAULT_OPEN, EMFILE, ENFILE, false);
	case SYS_futex_waitv:
		return fails("futex_waitv", FAULT_THREAD, NEVER, a3 ? NEVER : ENOSYS, a3 != 0);
	case SYS_futex:
		return waits ? fails("futex", FAULT_THREAD, NEVER, NEVER, true) : 0;
	default:
		return 0;
	}
}

WRAP(long, syscall, long nr, ...)
{
	long a[6];
	va_list ap;
	int err;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	err = syscall_fails(nr, a[1], a[3]);
	if (err) {
		errno = err;
		return -1;
	}
	return __real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
