/* SPDX-License-Identifier: MIT */
/*
 * vincid: the software device behind a socket. Usually started by the library (--inherited), or by hand where several
 * users or containers meet at a path (--socket).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "soft/launch.h"
#include "soft/server.h"

struct options {
	struct vinci_config config;
	bool inherited;
	const char *socket;
	const char *instance;
	unsigned long mode; /* permissions of the socket's file */
};

static const char usage[] =
	"usage: vincid [--socket=PATH [--mode=OCTAL] | --instance=NAME] [settings]\n"
	"\n"
	"The device that vinci's processes share. The library starts one by itself; by hand it is needed only where\n"
	"several users or containers meet: all of them set VINCI_SOCKET to PATH. Ends at SIGTERM or SIGINT.\n"
	"\n"
	"  --mode=OCTAL     permissions of PATH: who may connect (default 0600)\n"
	"  --devices=N      NPUs, 1 to 64 (default 8)\n"
	"  --memory=BYTES   memory of each NPU (default 64 GiB)\n"
	"  --notifies=N     notifies of each NPU (default 8192)\n"
	"  --soc=NAME       SoC name (default Ascend910B1)\n"
	"  --sdid=N         number of this server in its super node (default 0)\n"
	"  --peers=H,H,...  for each NPU the mask of NPUs it reaches, hexadecimal (default: all)\n";

/* --- arguments ----------------------------------------------------------------------------- */

static int number(const char *text, int base, unsigned long long max, unsigned long long *out)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, base);
	if (!*text || *text == '-' || *end || errno || value > max)
		return -EINVAL;
	*out = value;
	return 0;
}

static int parse_peers(const char *text, struct vinci_config *config)
{
	unsigned int d;
	char *end;

	for (d = 0; d < VINCI_MAX_DEVICES && *text; d++) {
		errno = 0;
		config->peers[d] = strtoull(text, &end, 16);
		if (end == text || errno || (*end && *end != ','))
			return -EINVAL;
		text = *end ? end + 1 : end;
	}
	return *text ? -EINVAL : 0;
}

enum { OPT_INHERITED = 1, OPT_SOCKET, OPT_MODE, OPT_INSTANCE, OPT_DEVICES, OPT_MEMORY, OPT_NOTIFIES, OPT_SOC, OPT_SDID,
       OPT_PEERS, OPT_HELP };

static const struct option long_options[] = {
	{ "inherited", no_argument, NULL, OPT_INHERITED },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "instance", required_argument, NULL, OPT_INSTANCE },
	{ "devices", required_argument, NULL, OPT_DEVICES },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "notifies", required_argument, NULL, OPT_NOTIFIES },
	{ "soc", required_argument, NULL, OPT_SOC },
	{ "sdid", required_argument, NULL, OPT_SDID },
	{ "peers", required_argument, NULL, OPT_PEERS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static int take_number(int option, const char *text, struct options *o)
{
	unsigned long long value;

	switch (option) {
	case OPT_MODE:
		if (number(text, 8, 0777, &value))
			return -EINVAL;
		o->mode = (unsigned long)value;
		return 0;
	case OPT_MEMORY:
		return number(text, 10, 1ull << 46, &value) ? -EINVAL : (o->config.mem_bytes = value, 0);
	default:
		if (number(text, 10, UINT32_MAX, &value))
			return -EINVAL;
		break;
	}
	if (option == OPT_DEVICES)
		o->config.devices = (uint32_t)value;
	else if (option == OPT_NOTIFIES)
		o->config.notify_limit = (uint32_t)value;
	else
		o->config.sdid = (uint32_t)value;
	return 0;
}

static int take_option(int option, const char *text, struct options *o)
{
	switch (option) {
	case OPT_INHERITED:
		o->inherited = true;
		return 0;
	case OPT_SOCKET:
		o->socket = text;
		return 0;
	case OPT_INSTANCE:
		o->instance = text;
		return 0;
	case OPT_SOC:
		if (!*text || strlen(text) >= sizeof(o->config.soc))
			return -EINVAL;
		memset(o->config.soc, 0, sizeof(o->config.soc));
		memcpy(o->config.soc, text, strlen(text));
		return 0;
	case OPT_PEERS:
		return parse_peers(text, &o->config);
	default:
		return take_number(option, text, o);
	}
}

/* 0 go on, 1 help was given, -EINVAL */
static int parse_arguments(int argc, char **argv, struct options *o)
{
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == OPT_HELP)
			return fputs(usage, stdout) < 0 ? -EIO : 1;
		if (option == '?')
			return -EINVAL;
		if (take_option(option, optarg, o)) {
			(void)fprintf(stderr, "vincid: bad value: %s\n", optarg);
			return -EINVAL;
		}
	}
	if (optind < argc || o->inherited + !!o->socket + !!o->instance != 1) {
		(void)fputs(usage, stderr);
		return -EINVAL;
	}
	return 0;
}

/* --- surroundings -------------------------------------------------------------------------- */

static void raise_limit(int resource)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit limit;

	/* Without the privilege, and for descriptors without end, as far as may be. */
	if (!setrlimit((__rlimit_resource_t)resource, &unlimited) || getrlimit((__rlimit_resource_t)resource, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit((__rlimit_resource_t)resource, &limit);
}

/* One client may use half of what there is, so that there is always some left for the others. */
static uint32_t handle_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > 131072)
		return 131072;
	return limit.rlim_cur < 2 ? 1 : (uint32_t)(limit.rlim_cur / 2);
}

/* The client's limits are for the client. What cannot be raised shows when it is reached. */
static void set_surroundings(void)
{
	raise_limit(RLIMIT_NOFILE);
	raise_limit(RLIMIT_FSIZE); /* a memfd's size counts as a file's */
	raise_limit(RLIMIT_CPU);
	raise_limit(RLIMIT_AS);
	raise_limit(RLIMIT_DATA);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	/* Not to be traced by other processes of the user: it holds everybody's memory. */
	(void)prctl(PR_SET_DUMPABLE, 0);
}

/* --- its address --------------------------------------------------------------------------- */

static int make_address(const struct options *o, struct sockaddr_un *un, socklen_t *len)
{
	size_t room = sizeof(un->sun_path);
	int n;

	memset(un, 0, sizeof(*un));
	un->sun_family = AF_UNIX;
	if (o->socket)
		n = snprintf(un->sun_path, room, "%s", o->socket);
	else
		n = snprintf(un->sun_path + 1, --room, "vinci-%u-%s-%d", (unsigned int)geteuid(), o->instance,
			     VINCI_UAPI_MAJOR);
	if (n <= 0 || (size_t)n >= room)
		return -ENAMETOOLONG;
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n + 1);
	return 0;
}

/*
 * A socket that a killed vincid left is taken over; one that is served is not (a full backlog is not waited for), and a
 * file that is no socket is somebody's, although it refuses connections too.
 */
static bool is_stale(const struct sockaddr_un *un, socklen_t len)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;
	bool stale = sock >= 0 && !lstat(un->sun_path, &st) && S_ISSOCK(st.st_mode) &&
		     connect(sock, (const struct sockaddr *)un, len) && errno == ECONNREFUSED;

	if (sock >= 0)
		(void)close(sock);
	return stale;
}

static int bind_at(int sock, const struct options *o, const struct sockaddr_un *un, socklen_t len)
{
	mode_t old = umask(0777 & (mode_t)~o->mode);
	int r = bind(sock, (const struct sockaddr *)un, len) ? -errno : 0;

	if (r == -EADDRINUSE && o->socket && is_stale(un, len)) {
		(void)unlink(un->sun_path);
		r = bind(sock, (const struct sockaddr *)un, len) ? -errno : 0;
	}
	(void)umask(old);
	return r;
}

static int open_listener(const struct options *o)
{
	struct sockaddr_un un;
	socklen_t len;
	int sock = LAUNCH_FD_LISTEN;
	int on = 1, r = 0;

	if (!o->inherited) {
		r = make_address(o, &un, &len);
		if (r)
			return r;
		sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (sock < 0)
			return -errno;
		r = bind_at(sock, o, &un, len);
	}
	/*
	 * Connections inherit this. Set on each after accept() it would come too late for a hello that was sent in
	 * between, which would arrive without the sender's credentials.
	 */
	if (!r && setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		r = -errno;
	/* Also on an inherited socket: now it is this process that its clients see as their peer. */
	if (!r &&
	    (listen(sock, LAUNCH_BACKLOG) || fcntl(sock, F_SETFL, O_NONBLOCK) || fcntl(sock, F_SETFD, FD_CLOEXEC)))
		r = -errno;
	if (!r)
		return sock;
	(void)close(sock);
	return r;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int set_up(struct server *server, const struct options *o)
{
	int r;

	INIT_LIST_HEAD(&server->clients);
	INIT_LIST_HEAD(&server->held);
	INIT_LIST_HEAD(&server->dead);
	server->stays = !o->inherited;
	server->any_user = o->socket != NULL;
	r = soft_device_create(&o->config, &server->device);
	if (r)
		return r;
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	server->signals = open_signals();
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (server->epoll < 0)
		return -errno;
	server->listener = open_listener(o);
	return server->listener < 0 ? server->listener : server_start(server);
}

/* The one who started us waits for this. */
static void report(const struct options *o, int error)
{
	struct launch_report r = { .stage = error ? LAUNCH_SETUP : LAUNCH_READY, .error = -error };
	ssize_t n;

	if (!o->inherited)
		return;
	do
		n = write(LAUNCH_FD_REPORT, &r, sizeof(r));
	while (n < 0 && errno == EINTR);
	/* If it has gone nobody comes, and we leave; if it has not, it must not wait for more. */
	(void)close(LAUNCH_FD_REPORT);
}

static void clean_up(struct server *server, const struct options *o)
{
	struct client *client, *tmp;

	if (o->socket)
		(void)unlink(o->socket);
	(void)close(server->listener);
	list_for_each_entry_safe(client, tmp, &server->clients, link)
		client_disconnect(client);
	list_for_each_entry_safe(client, tmp, &server->dead, link)
		free(client);
	soft_device_destroy(server->device);
	free(server->events);
	(void)close(server->epoll);
}

int main(int argc, char **argv)
{
	struct options o = { .mode = 0600 };
	struct server server = { 0 };
	int r;

	soft_config_default(&o.config);
	r = parse_arguments(argc, argv, &o);
	if (r) {
		if (r < 0)
			report(&o, r);
		return r < 0 ? 2 : 0;
	}
	set_surroundings();
	o.config.max_handles = handle_limit();
	r = set_up(&server, &o);
	report(&o, r);
	if (r) {
		(void)fprintf(stderr, "vincid: cannot serve: %s\n", strerror(-r));
		return 1;
	}
	r = server_run(&server);
	clean_up(&server, &o);
	return r ? 1 : 0;
}
