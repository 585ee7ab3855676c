/* SPDX-License-Identifier: MIT */
/*
 * process.c - the process's connection to its device: opened at first use, never shared with a forked child, replaced
 * only when the device has died and nothing of it is in use any more.
 */
#include "rts/config.h"
#include "rts/lock_order.h"
#include "rts/process.h"
#include "rts/rts.h"
#include "rts/visible.h"
#include "util/cancel.h"
#include "util/mutex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Immutable once published, and never freed: a thread without a context may have looked it up before it was replaced.
 * What a replaced one keeps is its few hundred bytes; its drv is retired.
 */
struct connection {
	struct drv *drv;
	const struct rts_profile *profile;
	uint32_t total;
	struct visible visible;
	uint64_t epoch;		       /* 1 more than the older one's */
	const struct connection *older; /* what this one replaced */
};

static struct {
	struct u_mutex lock; /* opening and replacing */
	_Atomic(struct connection *) current;
} process = { .lock = U_MUTEX_INIT(RANK_PROCESS, "process") };

static const struct connection *connection(void)
{
	return atomic_load_explicit(&process.current, memory_order_acquire);
}

/* ---- fork ------------------------------------------------------------------------------------ */

/*
 * A process counts as initialised from before it takes its first lock, because a child forked at any later moment may
 * find locks held by threads it does not have. The mark is a word in a page that the kernel wipes in the child (a raw
 * clone() runs no atfork handlers), and which the handler clears where the kernel cannot.
 */
static struct {
	_Atomic(atomic_uint *) mark; /* 1; 0 in a child */
	atomic_uint holds;	     /* threads that are opening, and 1 for a connection that is open */
} life;

bool rts_process_forked(void)
{
	atomic_uint *mark;

	if (!atomic_load_explicit(&life.holds, memory_order_relaxed))
		return false;
	mark = atomic_load_explicit(&life.mark, memory_order_acquire);
	return mark && !atomic_load_explicit(mark, memory_order_relaxed);
}

static void clear_mark_in_child(void)
{
	atomic_uint *mark = atomic_load(&life.mark);

	if (mark)
		atomic_store(mark, 0);
}

/* Once in a process and those it forks. NULL: no memory. */
static atomic_uint *make_mark(void)
{
	atomic_uint *mark = atomic_load(&life.mark), *none = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (mark)
		return mark;
	mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mark == MAP_FAILED)
		return NULL;
	(void)madvise(mark, page, MADV_WIPEONFORK); /* older kernels: only the handler */
	if (pthread_atfork(NULL, NULL, clear_mark_in_child)) {
		munmap(mark, page);
		return NULL;
	}
	if (atomic_compare_exchange_strong(&life.mark, &none, mark))
		return mark;
	munmap(mark, page);
	return none;
}

static bool hold(void)
{
	atomic_uint *mark = make_mark();

	if (!mark)
		return false;
	atomic_store(mark, 1);
	atomic_fetch_add(&life.holds, 1);
	return true;
}

static void unhold(void)
{
	atomic_fetch_sub(&life.holds, 1);
}

/* ---- visible devices ------------------------------------------------------------------------- */

/* Read when the library is loaded; changing the variable later has no effect. */
static char *visible_text;

static void __attribute__((constructor)) read_visible_devices(void)
{
	const char *text = secure_getenv("ASCEND_RT_VISIBLE_DEVICES");

	if (text)
		visible_text = strndup(text, VISIBLE_TEXT_MAX);
}

int rts_visible_check(void)
{
	static const char *const wanted[] = {
		[VISIBLE_NONE] = "device indices below the number of devices, separated by commas without spaces",
		[VISIBLE_ORDER] = "indices in ascending order",
		[VISIBLE_DUPLICATE] = "each index once",
	};
	const struct connection *c = connection();

	if (c->visible.fault == VISIBLE_OK)
		return 0;
	return u_report_as(
		"EE2002", ACL_ERROR_RT_NO_DEVICE,
		"Value \"%s\" for environment variable ASCEND_RT_VISIBLE_DEVICES is invalid. Expected value: %s "
		"(there are %u devices)",
		visible_text, wanted[c->visible.fault], c->total);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int ask_device(struct connection *c)
{
	struct drm_vinci_device_info info;
	uint64_t total;
	int r;

	r = drv_get_param(c->drv, VINCI_PARAM_DEVICE_COUNT, &total);
	if (!r)
		r = drv_device_info(c->drv, 0, &info);
	if (r || !total || total > VINCI_MAX_DEVICES)
		return u_report(ACL_ERROR_RT_NO_DEVICE, "the device does not say what it is: %s",
				r ? rts_errno_text(r) : "its number of devices is not from 1 to 64");
	info.soc[sizeof(info.soc) - 1] = '\0';
	c->profile = rts_profile_find((const char *)info.soc);
	if (!c->profile)
		return u_report(ACL_ERROR_RT_NO_DEVICE,
				"the device is a \"%s\", which this library does not know; it knows %s",
				(const char *)info.soc, rts_profile_names());
	if (c->profile->product == RTS_PRODUCT_IPV350)
		u_log_watch_calls();
	c->total = (uint32_t)total;
	visible_parse(visible_text, c->total, &c->visible);
	return 0;
}

/* Settings that another instance contradicts are the user's to change; all else is "no device". */
static int open_drv(const struct drv_settings *settings, struct drv **drv)
{
	char why[512] = "";
	int r = drv_open(settings, drv, why, sizeof(why));

	if (!r)
		return 0;
	return u_report(r == -EINVAL ? ACL_ERROR_RT_DEV_SETUP_ERROR : ACL_ERROR_RT_NO_DEVICE,
			"the device cannot be opened: %s", why[0] ? why : rts_errno_text(r));
}

static int connection_open(struct connection **out)
{
	struct rts_config *config = malloc(sizeof(*config));
	struct connection *c = calloc(1, sizeof(*c));
	int code;

	if (config && c)
		code = rts_config_read(config);
	else
		code = u_report(ACL_ERROR_RT_NO_DEVICE, "no host memory is left to open the device");
	if (!code)
		code = open_drv(&config->settings, &c->drv);
	if (!code) {
		code = ask_device(c);
		if (code)
			drv_close(c->drv);
	}
	free(config);
	if (code)
		free(c);
	else
		*out = c;
	return code;
}

static int report_lost(void)
{
	return u_report(ACL_ERROR_RT_LOST_HEARTBEAT,
			"the device has gone (vincid ended); reset every device that is set, then set it again");
}

/* Mappings of the old connection stay. */
static void publish_locked(struct connection *c)
{
	struct connection *old = atomic_load_explicit(&process.current, memory_order_relaxed);

	c->older = old;
	c->epoch = old ? old->epoch + 1 : 0;
	if (!old)
		atomic_fetch_add(&life.holds, 1);
	atomic_store_explicit(&process.current, c, memory_order_release);
	if (old)
		drv_retire(old->drv);
}

/* The device has died: another may take its place once no device is in use. */
static int replace_locked(void)
{
	struct connection *c;
	int code;

	if (!rts_device_unused())
		return report_lost();
	code = connection_open(&c);
	if (code)
		return code;
	if (!rts_device_lock_if_unused()) {
		drv_close(c->drv);
		free(c);
		return report_lost();
	}
	publish_locked(c);
	rts_device_unlock();
	return 0;
}

static int open_locked(void)
{
	struct connection *c;
	int code = connection_open(&c);

	if (!code)
		publish_locked(c);
	return code;
}

static int start_locked(void)
{
	const struct connection *c = atomic_load_explicit(&process.current, memory_order_relaxed);

	if (!c)
		return open_locked();
	return drv_lost(c->drv) ? replace_locked() : 0;
}

static int start(void)
{
	int code, cancel;

	if (!hold())
		return u_report(ACL_ERROR_RT_NO_DEVICE, "no host memory is left to open the device");
	cancel = u_cancel_off(); /* settings are read from a file */
	u_mutex_lock(&process.lock);
	code = start_locked();
	u_mutex_unlock(&process.lock);
	u_cancel_restore(cancel);
	unhold();
	return code;
}

int rts_process_check_fork(void)
{
	if (!rts_process_forked())
		return 0;
	return u_report(
		ACL_ERROR_RT_DRV_INTERNAL_ERROR,
		"this process was forked from one that had initialised AscendCL before the fork; exec first, or "
		"initialise only after the fork");
}

int rts_process_start(void)
{
	const struct connection *c = connection();
	int code = rts_process_check_fork();

	if (code)
		return code;
	return c && !drv_lost(c->drv) ? 0 : start();
}

void rts_process_probe(void)
{
	struct drv *drv = rts_drv();
	uint64_t value;

	if (drv && !rts_process_forked())
		(void)drv_get_param(drv, VINCI_PARAM_INSTANCE, &value); /* drv_lost() keeps the answer */
}

/* ---- what the connection says ---------------------------------------------------------------- */

uint64_t rts_process_epoch(void)
{
	const struct connection *c = connection();

	return c ? c->epoch : 0;
}

struct drv *rts_drv(void)
{
	const struct connection *c = connection();

	return c ? c->drv : NULL;
}

struct drv *rts_drv_at(uint64_t epoch)
{
	const struct connection *c = connection();

	while (c && c->epoch != epoch)
		c = c->older;
	return c ? c->drv : NULL;
}

const struct rts_profile *rts_profile(void)
{
	const struct connection *c = connection();

	return c ? c->profile : NULL;
}

uint32_t rts_device_count(void)
{
	const struct connection *c = connection();

	return c ? c->visible.count : 0;
}

uint32_t rts_device_total(void)
{
	const struct connection *c = connection();

	return c ? c->total : 0;
}

int rts_device_from_user(int32_t user, uint32_t *device)
{
	const struct connection *c = connection();
	uint32_t count = c ? c->visible.count : 0;

	if (user < 0 || (uint32_t)user >= count)
		return u_report(ACL_ERROR_RT_INVALID_DEVICEID,
				"Value %d for device id is invalid. Expected value: 0 to %d (%u devices are visible)",
				user, (int)count - 1, count);
	*device = c->visible.device[user];
	return 0;
}

int32_t rts_device_to_user(uint32_t device)
{
	const struct connection *c = connection();

	for (uint32_t i = 0; c && i < c->visible.count; i++)
		if (c->visible.device[i] == device)
			return (int32_t)i;
	return -1;
}

static int ask_tgid(uint64_t *value)
{
	int code = rts_process_start();
	int r;

	if (code)
		return code;
	r = drv_get_param(rts_drv(), VINCI_PARAM_TGID, value);
	if (r == -ENOTCONN) {
		/* Perhaps nobody had asked the device since it died: while none is in use that is no reason to fail. */
		code = rts_process_start();
		if (code)
			return code;
		r = drv_get_param(rts_drv(), VINCI_PARAM_TGID, value);
	}
	if (r)
		return u_report(rts_errno_code(0, RTS_OP_QUERY, r), "the device does not tell this process's id: %s",
				rts_errno_text(r));
	return 0;
}

int rts_process_bare_tgid(int32_t *pid)
{
	uint64_t value;
	int code = ask_tgid(&value);

	if (code == ACL_ERROR_RT_NO_DEVICE || code == ACL_ERROR_RT_DEV_SETUP_ERROR) {
		*pid = -1;
		return 0;
	}
	if (!code)
		*pid = (int32_t)value;
	return code;
}
