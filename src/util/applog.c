/* SPDX-License-Identifier: MIT */
#include "util/applog.h"
#include "util/cancel.h"
#include "util/mutex.h"
#include "util/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES ((size_t)20 << 20) /* of a file; then comes the next */
#define FILES_MAX 1000
#define FILES_DEFAULT 10
#define LEVEL_DEFAULT 3
#define LEVEL_NONE 4

static const char *const level_names[] = { "DEBUG", "INFO", "WARNING", "ERROR" };

/* Read once, written before anybody else looks. */
static struct {
	unsigned level;
	bool to_stdout;
	unsigned files;
	char dir[PATH_MAX]; /* "": nowhere */
	char process[17];
} wanted;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static struct u_mutex lock = U_MUTEX_INIT(U_RANK_LAST, "application log"); /* file */
static struct {
	int fd;
	pid_t pid; /* whose file it is: a child made by fork begins its own */
	bool failed;
	size_t written;
	unsigned count;			      /* files begun */
	char stamps[FILES_MAX][18];	      /* of the last ones, in a ring */
} file = { .fd = -1 };

/* ---- settings ---- */

static int digit(const char *text, int max)
{
	return text && text[0] >= '0' && text[0] <= '0' + max && !text[1] ? text[0] - '0' : -1;
}

int u_applog_module_level(const char *text)
{
	static const char key[] = "APP=";

	while (text) {
		if (!strncmp(text, key, sizeof(key) - 1)) {
			text += sizeof(key) - 1;
			return *text >= '0' && *text <= '4' && (!text[1] || text[1] == ':') ? *text - '0' : -1;
		}
		text = strchr(text, ':');
		if (text)
			text++;
	}
	return -1;
}

static unsigned read_level(void)
{
	int level = u_applog_module_level(secure_getenv("ASCEND_MODULE_LOG_LEVEL"));

	if (level < 0)
		level = digit(secure_getenv("ASCEND_GLOBAL_LOG_LEVEL"), LEVEL_NONE);
	return level < 0 ? LEVEL_DEFAULT : (unsigned)level;
}

/* The newer name wins over the older one, also when it says no. */
static bool read_to_stdout(void)
{
	int value = digit(secure_getenv("ASCEND_LOG_PRINT_TO_STDOUT"), 1);

	if (value < 0)
		value = digit(secure_getenv("ASCEND_SLOG_PRINT_TO_STDOUT"), 1);
	return value == 1;
}

static unsigned read_files(void)
{
	const char *text = secure_getenv("ASCEND_HOST_LOG_FILE_NUM");
	char *end;
	long n;

	if (!text || *text < '0' || *text > '9')
		return FILES_DEFAULT;
	n = strtol(text, &end, 10);
	return *end || n < 1 || n > FILES_MAX ? FILES_DEFAULT : (unsigned)n;
}

static void read_dir(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = {
		{ "ASCEND_PROCESS_LOG_PATH", "" }, { "ASCEND_WORK_PATH", "/log" }, { "HOME", "/ascend/log" }
	};
	const char *value;
	int n;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		value = secure_getenv(places[i].variable);
		if (!value || value[0] != '/')
			continue;
		n = snprintf(wanted.dir, sizeof(wanted.dir), "%s%s/debug/plog", value, places[i].below);
		if (n < 0 || n + 64 > (int)sizeof(wanted.dir)) /* room for a file's name */
			wanted.dir[0] = 0;
		return;
	}
}

static void read_process_name(void)
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, wanted.process, sizeof(wanted.process) - 1);

	if (fd >= 0)
		(void)close(fd);
	wanted.process[n > 0 ? n : 0] = 0;
	wanted.process[strcspn(wanted.process, "\n")] = 0;
}

/* The parent's other threads do not exist in the child. */
static void reset_in_child(void)
{
	u_mutex_after_fork(&lock);
}

static void read_settings(void)
{
	wanted.level = read_level();
	wanted.to_stdout = read_to_stdout();
	wanted.files = read_files();
	read_dir();
	read_process_name();
	if (pthread_atfork(NULL, NULL, reset_in_child))
		u_log(U_WARN, "no memory to watch for forks: a forked child may hang in its log");
}

/* ---- the file ---- */

static int make_dirs(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(part, 0750) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(part, 0750) && errno != EEXIST ? -errno : 0;
}

static void name_of(char *out, size_t size, const char *stamp)
{
	snprintf(out, size, "%.*s/plog-%d_%s.log", PATH_MAX - 64, wanted.dir, file.pid, stamp);
}

/* YYYYMMDDhhmmssmmm: the digits of the time, up to milliseconds. */
static void file_stamp(char out[18])
{
	char now[U_STAMP_BYTES];
	unsigned n = 0;

	u_stamp(now, sizeof(now));
	for (const char *p = now; *p && n < 17; p++)
		if (*p >= '0' && *p <= '9')
			out[n++] = *p;
	out[n] = 0;
}

static void begin_file_locked(void)
{
	char *stamp = file.stamps[file.count % FILES_MAX];
	char path[PATH_MAX];
	int r;

	if (file.fd >= 0)
		(void)close(file.fd);
	file_stamp(stamp);
	name_of(path, sizeof(path), stamp);
	r = make_dirs(wanted.dir);
	file.fd = r ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
	file.failed = file.fd < 0;
	file.written = 0;
	if (file.failed) {
		u_log(U_WARN, "the application log %s cannot be written: %s", path,
		      strerrordesc_np(r ? -r : errno));
		return;
	}
	file.count++;
	if (file.count > wanted.files) {
		name_of(path, sizeof(path), file.stamps[(file.count - wanted.files - 1) % FILES_MAX]);
		(void)unlink(path);
	}
}

static void write_to_file_locked(const char *line, size_t size)
{
	pid_t pid = getpid();

	if (file.pid != pid) {
		file.pid = pid;
		file.count = 0;
		file.failed = false;
		begin_file_locked();
	} else if (file.written >= FILE_BYTES) {
		begin_file_locked();
	}
	if (file.failed)
		return;
	if (write(file.fd, line, size) == (ssize_t)size)
		file.written += size;
	else
		file.failed = true; /* the disk is full */
}

static void write_line(const char *line, size_t size)
{
	if (wanted.to_stdout) {
		if (write(STDOUT_FILENO, line, size) < 0)
			return; /* nobody reads it */
	} else if (wanted.dir[0]) {
		u_mutex_lock(&lock);
		write_to_file_locked(line, size);
		u_mutex_unlock(&lock);
	}
}

bool u_applog_wants(unsigned level)
{
	pthread_once(&once, read_settings);
	return level < LEVEL_NONE && level >= wanted.level;
}

void u_applog(unsigned level, const char *text)
{
	char line[U_APPLOG_BYTES + 128], now[U_STAMP_BYTES];
	int saved = errno, cancel, n;

	if (!u_applog_wants(level))
		return;
	cancel = u_cancel_off();
	u_stamp(now, sizeof(now));
	n = snprintf(line, sizeof(line) - 1, "[%s] APP(%d,%s):%s %s", level_names[level], getpid(), wanted.process, now,
		     text);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	write_line(line, (size_t)n);
	u_cancel_restore(cancel);
	errno = saved;
}
