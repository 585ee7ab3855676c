/* SPDX-License-Identifier: MIT */
/*
 * call_log_test.c - the line that VINCI_LOG=debug prints for each call. A peer, whose standard error is its standard output, calls and
 * then says what the line before has to be, as far as its arguments and its result.
 */
#include "mem_util.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "acl/acl_base_rt.h"
#include "acl/acl_rt_memory_soma.h"
#include "util/each.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* ---- peers ---- */

#define WANT(...) t_say("want " __VA_ARGS__)

static int say_ready(void)
{
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		return 1;
	return !t_say("pid %d", getpid());
}

/* Every kind of argument and result. */
static int call_with_values(void)
{
	const char *text = "no \"file\\\n\xff";
	aclrtEvent from, to;
	aclrtStream stream;
	size_t left, total;
	char key[65];
	float ms;
	void *p;

	WANT("aclInit(NULL) = %d", aclInit(NULL));
	WANT("aclrtSetDevice(-1) = %d", aclrtSetDevice(-1));
	WANT("aclrtSetDevice(0) = %d", aclrtSetDevice(0));
	WANT("aclrtCreateStream(NULL) = %d", aclrtCreateStream(NULL));
	aclrtCreateStream(&stream);
	WANT("aclrtCreateStream(&%p) = 0", stream);
	aclrtMalloc(&p, 8192, ACL_MEM_MALLOC_NORMAL_ONLY);
	WANT("aclrtMalloc(&%p, 8192, 2) = 0", p);
	WANT("aclrtMalloc(%p, 0, 2) = %d", (void *)&p, aclrtMalloc(&p, 0, ACL_MEM_MALLOC_NORMAL_ONLY));
	aclrtGetMemInfo(ACL_HBM_MEM, &left, &total);
	WANT("aclrtGetMemInfo(1, &%zu, &%zu) = 0", left, total);
	aclrtIpcMemGetExportKey(p, 8192, key, sizeof(key), ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT);
	WANT("aclrtIpcMemGetExportKey(%p, 8192, \"%.8s\"..., 65, 0) = 0", p, key);
	WANT("aclrtIpcMemClose(\"%.8s\"...) = %d", key, aclrtIpcMemClose(key));
	aclrtCreateEventExWithFlag(&from, ACL_EVENT_TIME_LINE);
	WANT("aclrtCreateEventExWithFlag(&%p, 8) = 0", from);
	aclrtCreateEventExWithFlag(&to, ACL_EVENT_TIME_LINE);
	WANT("aclrtCreateEventExWithFlag(&%p, 8) = 0", to);
	WANT("aclrtRecordEvent(%p, %p) = %d", from, stream, aclrtRecordEvent(from, stream));
	WANT("aclrtRecordEvent(%p, %p) = %d", to, stream, aclrtRecordEvent(to, stream));
	WANT("aclrtSynchronizeStreamWithTimeout(%p, -1) = %d", stream, aclrtSynchronizeStreamWithTimeout(stream, -1));
	aclrtEventElapsedTime(&ms, from, to);
	WANT("aclrtEventElapsedTime(&%g, %p, %p) = 0", (double)ms, from, to);
	WANT("aclrtBinaryLoadFromFile(\"no \\\"file\\\\\\n\\xff\", NULL, %p) = %d", (void *)&p,
	     aclrtBinaryLoadFromFile(text, NULL, &p));
	WANT("aclrtGetSocName() = \"%s\"", aclrtGetSocName());
	WANT("aclFloat16ToFloat(48128) = %g", (double)aclFloat16ToFloat(0xbc00));
	aclAppLog(ACL_ERROR, "f", "x.c", 7, "%d", 4);
	WANT("aclAppLog(3, \"f\", \"x.c\", 7, \"%%d\")");
	return aclrtResetDevice(0) || !WANT("aclrtResetDevice(0) = 0") || aclFinalize() || !WANT("aclFinalize() = 0");
}

/* A string that no NUL ends where memory ends, and an address where there is none: told as far as it can be read. */
static int call_with_bad_addresses(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		return 1;
	memcpy(page + 4093, "abc", 3);
	/* There is no level 4, and nobody looks at the rest. */
	aclAppLog((aclLogLevel)4, page + 4093, page + 4096, 7, NULL);
	WANT("aclAppLog(4, \"abc\"..., %p, 7, NULL)", (void *)(page + 4096));
	return 0;
}

/* ---- each function of the table, with zeros ---- */

#define CLASS(type) __builtin_classify_type(*(type *)0) /* 5: a pointer, 12: a structure */
#define ZERO(n, type) (type){ 0 }
#define SHOWN(n, type) zero_text(CLASS(type), sizeof(type))

static const char *zero_text(int class, size_t size)
{
	static char bytes[32];

	if (class != 12)
		return class == 5 ? "NULL" : "0";
	snprintf(bytes, sizeof(bytes), "{%zu bytes}", size);
	return size == 12 ? "{0, 0, 0}" : size == 8 ? "{0, 0}" : bytes;
}

static void want_zeros(const char *name, const char *const args[], const char *result)
{
	char line[T_LINE_MAX];
	size_t n = (size_t)snprintf(line, sizeof(line), "%s(", name);

	for (size_t i = 0; args[i]; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", i ? ", " : "", args[i]);
	WANT("%s) = %s", line, result);
}

static const char *int_text(long long n)
{
	static char text[24];

	snprintf(text, sizeof(text), "%lld", n);
	return text;
}

static const char *pointer_text(const void *p)
{
	static char text[24];

	snprintf(text, sizeof(text), p ? "%p" : "NULL", p);
	return text;
}

static const char *string_text(const char *s)
{
	static char text[160];

	snprintf(text, sizeof(text), !s ? "NULL" : strlen(s) > 128 ? "\"%.128s\"..." : "\"%s\"", s);
	return text;
}

#define RESULT(r) _Generic((r), char *: string_text, const char *: string_text, default: pointer_text,              \
	int32_t: int_text, uint16_t: int_text, uint32_t: int_text, size_t: int_text, float: int_text)(r)

#define CALL(name, result, args, ...)                                                                               \
	static void zero_##name(void)                                                                               \
	{                                                                                                           \
		const char *const shown[] = { __VA_ARGS__, NULL };                                                  \
		result r = name args;                                                                               \
                                                                                                                    \
		want_zeros(#name, shown, RESULT(r));                                                                \
	}
#define ABI_FUNCTION(name, result, ...) CALL(name, result, (EACH(ZERO, __VA_ARGS__)), EACH(SHOWN, __VA_ARGS__))
#define ABI_NO_PARAMETERS(name, result) CALL(name, result, (), NULL)
#define ABI_VARIADIC(name, ...)
#include "acl/functions.def"
#undef ABI_FUNCTION
#undef ABI_NO_PARAMETERS

static void (*const with_zeros[])(void) = {
#define ABI_FUNCTION(name, ...) zero_##name,
#define ABI_NO_PARAMETERS(name, ...) zero_##name,
#include "acl/functions.def"
};

#define FUNCTIONS (sizeof(with_zeros) / sizeof(with_zeros[0]))

static int call_with_zeros(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		with_zeros[i]();
	_exit(0); /* what came into being is nobody's: no leak that matters */
}

/* ---- threads and forks ---- */

#define THREADS 4
#define CALLS 100

static void *call_often(void *arg)
{
	int32_t device;

	for (int i = 0; i < CALLS; i++)
		(void)aclrtGetDevice(&device);
	return arg;
}

static int call_from_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call_often, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int call_from_child(void)
{
	int32_t device;
	pid_t child;

	WANT("aclrtSetDevice(0) = %d", aclrtSetDevice(0));
	child = fork();
	if (child)
		return child < 0 || t_wait_pid(child, 20000);
	errno = ERANGE;
	t_say("pid %d", getpid());
	WANT("aclrtGetDevice(%p) = %d", (void *)&device, aclrtGetDevice(&device));
	_exit(errno != ERANGE);
}

/* ---- reading ---- */

struct reading {
	struct t_peer peer;
	int pid; /* in the lines */
	char call[T_LINE_MAX];
	unsigned calls, wants;
};

static void begin(struct reading *r, const char *what, const char *log)
{
	const char *const args[] = { what, NULL };
	const char *const env[] = { log, "ASCEND_PROCESS_LOG_PATH=/nowhere", NULL };

	*r = (struct reading){ 0 };
	assert_true(t_spawn(&r->peer, args, env));
}

/* "vinci[1:2] debug: call, 1.234 us" is a call; false: a line of another level. */
static bool take_call(struct reading *r, const char *line)
{
	int pid, tid, n = 0;
	unsigned us, ns;
	char *end;

	if (sscanf(line, "vinci[%d:%d] debug: %n", &pid, &tid, &n) != 2 || !n)
		return false;
	assert_int_equal(pid, r->pid);
	snprintf(r->call, sizeof(r->call), "%s", line + n);
	end = strrchr(r->call, ',');
	assert_non_null(end);
	n = 0;
	assert_int_equal(sscanf(end, ", %u.%3u us%n", &us, &ns, &n), 2);
	assert_int_equal(n, strlen(end));
	*end = 0;
	r->calls++;
	return true;
}

/* Reads all lines; what is wanted must be the call before, and no call comes without. */
static void read_all(struct reading *r)
{
	char line[T_LINE_MAX];

	while (t_read_line(&r->peer, line, sizeof(line), 20000)) {
		if (sscanf(line, "pid %d", &r->pid) == 1 || take_call(r, line))
			continue;
		if (strncmp(line, "want ", 5))
			continue;
		assert_string_equal(r->call, line + 5);
		r->wants++;
	}
	assert_int_equal(t_wait(&r->peer, 20000), 0);
}

static void every_call_is_told(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, "values", "VINCI_LOG=debug");
	read_all(&r);
	assert_in_range(r.wants, 20, 40);
	assert_int_equal(r.calls, r.wants);
}

static void every_function_tells(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, "zeros", "VINCI_LOG=debug");
	read_all(&r);
	assert_int_equal(r.wants, FUNCTIONS);
	assert_int_equal(r.calls, FUNCTIONS);
}

static void bad_addresses_are_told(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, "bad", "VINCI_LOG=debug");
	read_all(&r);
	assert_int_equal(r.calls, 1);
	assert_int_equal(r.wants, 1);
}

static void lines_of_threads_are_whole(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, "threads", "VINCI_LOG=debug");
	read_all(&r);
	assert_int_equal(r.calls, THREADS * CALLS);
}

static void a_forked_child_tells(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, "child", "VINCI_LOG=debug");
	read_all(&r);
	assert_int_equal(r.calls, 2);
	assert_int_equal(r.wants, 2);
}

static void otherwise_nothing_is_written(void **state)
{
	static const char *const levels[] = { "VINCI_LOG=off", "VINCI_LOG=", "VINCI_LOG=nonsense" };
	struct reading r;
	char line[T_LINE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		begin(&r, "threads", levels[i]);
		assert_true(t_read_line(&r.peer, line, sizeof(line), 20000)); /* its pid */
		assert_false(t_read_line(&r.peer, line, sizeof(line), 20000));
		assert_int_equal(t_wait(&r.peer, 20000), 0);
	}
}

static const struct {
	const char *name;
	int (*run)(void);
} peers[] = {
	{ "values", call_with_values },	  { "zeros", call_with_zeros },	    { "bad", call_with_bad_addresses },
	{ "threads", call_from_threads }, { "child", call_from_child },
};

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_told),
		cmocka_unit_test(every_function_tells),
		cmocka_unit_test(bad_addresses_are_told),
		cmocka_unit_test(lines_of_threads_are_whole),
		cmocka_unit_test(a_forked_child_tells),
		cmocka_unit_test(otherwise_nothing_is_written),
	};

	for (size_t i = 0; argc == 2 && i < sizeof(peers) / sizeof(peers[0]); i++)
		if (!strcmp(argv[1], peers[i].name))
			return say_ready() || peers[i].run();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
