/* SPDX-License-Identifier: MIT */
/* What the contract says of shares, kept as plain tables, beside what the device does. */
#include "world.h"

static const struct {
	uint32_t len;
	uint32_t pids;
	uint32_t slots;
	bool is_hex;
} kinds[] = {
	[VINCI_SHARE_IPC_MEM] = { 64, 31, 32768, true },
	[VINCI_SHARE_NOTIFY] = { 40, 1, 15, true },
	[VINCI_SHARE_VMM] = { 8, 65535, 65535, false },
	[VINCI_SHARE_FABRIC] = { 128, 65535, 65535, false },
	[VINCI_SHARE_EVENT] = { 64, 0, 0, false },
};

/* --- accounts ------------------------------------------------------------------------------ */

/* What a file has been given by shares, and when it guessed wrong. */
struct held {
	struct account *share;
	uint32_t device;
};

struct wrong {
	uint64_t at[1024];
	uint32_t count;
};

static struct held held[FILES][MAX_HANDLES + 1]; /* by handle */
static struct wrong wrong_of_file[FILES], wrong_of_uid[2];

static bool is_held(const struct account *share)
{
	uint32_t f, h;

	for (f = 0; f < FILES; f++)
		for (h = 1; h <= MAX_HANDLES; h++)
			if (held[f][h].share == share)
				return true;
	return false;
}

void accounts_begin(void)
{
	memset(held, 0, sizeof(held));
	memset(wrong_of_file, 0, sizeof(wrong_of_file));
	memset(wrong_of_uid, 0, sizeof(wrong_of_uid));
}

void accounts_of_handle_end(int file, uint32_t handle, bool is_creator)
{
	struct account *s;

	for (s = world.accounts; s < world.accounts + NAMES && is_creator; s++)
		s->is_closed |= s->creator == file && s->handle == handle;
	held[file][handle].share = NULL;
}

void accounts_of_file_end(int file)
{
	struct account *s;

	for (s = world.accounts; s < world.accounts + NAMES; s++)
		s->is_closed |= s->creator == file;
	memset(held[file], 0, sizeof(held[file]));
	wrong_of_file[file].count = 0;
}

/* Closed ones live on in their openers. */
static bool exists(const struct account *s)
{
	return s->is_used && (!s->is_closed || is_held(s));
}

static struct account *find_account(uint32_t kind, const uint8_t *name, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < NAMES; i++) {
		struct account *s = &world.accounts[i];

		if (exists(s) && s->kind == kind && s->len == len && !memcmp(s->name, name, VINCI_NAME_MAX))
			return s;
	}
	return NULL;
}

static bool same_process(const struct vinci_process *a, const struct vinci_process *b)
{
	return a->pid == b->pid && a->identity.start == b->identity.start;
}

static bool is_vmm(uint32_t kind)
{
	return kind == VINCI_SHARE_VMM || kind == VINCI_SHARE_FABRIC;
}

static bool excludes(uint32_t a, uint32_t b)
{
	return (is_vmm(a) && is_vmm(b)) || (a == b && a != VINCI_SHARE_IPC_MEM);
}

static int judge_export(int file, const struct vinci_hold *hold, const struct drm_vinci_share_export *a)
{
	const struct vinci_object *o;
	uint64_t page;
	uint32_t i;

	if (!hold)
		return -ENOENT;
	if (hold->is_imported)
		return -EACCES;
	o = hold->object;
	if (a->kind < VINCI_SHARE_IPC_MEM || a->kind > VINCI_SHARE_EVENT || a->flags > VINCI_SHARE_UNVALIDATED ||
	    (a->kind == VINCI_SHARE_EVENT && !a->flags) ||
	    (a->kind == VINCI_SHARE_NOTIFY) != (o->type == VINCI_OBJECT_NOTIFY))
		return -EINVAL;
	page = page_size(o->page_kind);
	if (o->type == VINCI_OBJECT_NOTIFY ? a->size : !a->size || a->size > o->size || a->size <= o->size - page)
		return -EINVAL;
	if (o->split_count)
		return -EINVAL;
	for (i = 0; i < NAMES; i++) {
		const struct account *s = &world.accounts[i];

		if (s->is_used && !s->is_closed && s->creator == file && s->handle == hold->handle &&
		    excludes(s->kind, a->kind))
			return -EEXIST;
	}
	return 0;
}

static void check_name(const struct drm_vinci_share_export *a)
{
	uint32_t i, any_bits = 0;

	check(a->name_len == kinds[a->kind].len);
	for (i = 0; i < a->name_len; i++) {
		any_bits |= a->name[i];
		check(!kinds[a->kind].is_hex || memchr("0123456789abcdef", a->name[i], 16));
	}
	check(any_bits && (a->kind != VINCI_SHARE_VMM || a->name[7] < 0x80));
	for (; i < VINCI_NAME_MAX; i++)
		check(!a->name[i]);
	check(!find_account(a->kind, a->name, a->name_len));
}

static struct account *free_account(void)
{
	uint32_t first = any(NAMES), i;

	for (i = 0; i < NAMES; i++) {
		struct account *s = &world.accounts[(first + i) % NAMES];

		if (!exists(s))
			return s;
	}
	return NULL;
}

void share_export(int file)
{
	struct drm_vinci_share_export a = {
		.handle = any_handle(file), .kind = 1 + any(5), .flags = any(2), .size = value()
	};
	bool repeats = !any(6);
	struct vinci_hold *hold;
	struct account *s = free_account();
	int r, expected;

	if (!s)
		return;
	spoil(&a, sizeof(a) - sizeof(a.name));
	hold = vinci_hold_find(world.files[file], a.handle);
	if (hold && any(8))
		a.size = hold->object->type == VINCI_OBJECT_BO ? hold->object->size : 0;
	expected = judge_export(file, hold, &a);
	world.seed += !repeats;
	world.random = world.seed * 0x9e3779b97f4a7c15u;
	r = RUN(file, vinci_share_export, a);
	/* The same random bytes never name two shares. */
	if (r != -EIO || !repeats)
		expect(r, expected);
	if (r)
		return;
	check_name(&a);
	*s = (struct account){
		.is_used = true, .is_unvalidated = a.flags & VINCI_SHARE_UNVALIDATED, .kind = a.kind, .len = a.name_len,
		.is_host = hold->object->flags & VINCI_BO_HOST, .owner = hold->object->owner, .handle = a.handle,
		.size = hold->object->type == VINCI_OBJECT_NOTIFY ? VINCI_NOTIFY_PAGE_SIZE : a.size,
		.creator = file, .process = world.files[file]->process,
	};
	memcpy(s->name, a.name, sizeof(s->name));
}

/* Mostly the name of a share, @file's own if there is one; in one of sixteen a byte is wrong. */
static void pick_name(int file, uint32_t *kind, uint32_t *len, uint8_t *name)
{
	uint32_t first = any(NAMES), i;
	const struct account *s = &world.accounts[first];

	for (i = 0; i < NAMES && any(32); i++) {
		s = &world.accounts[(first + i) % NAMES];
		if (s->is_used && !s->is_closed && (file < 0 || s->creator == file))
			break;
	}
	*kind = s->is_used ? s->kind : 1 + any(5);
	*len = s->is_used ? s->len : kinds[*kind].len;
	memcpy(name, s->name, VINCI_NAME_MAX);
	if (!any(16))
		name[any(VINCI_NAME_MAX)] ^= (uint8_t)any(256);
}

static bool is_name(uint32_t kind, const uint8_t *name, uint32_t len)
{
	uint32_t i;

	if (kind < VINCI_SHARE_IPC_MEM || kind > VINCI_SHARE_EVENT || !len || len > VINCI_NAME_MAX)
		return false;
	for (i = len; i < VINCI_NAME_MAX; i++)
		if (name[i])
			return false;
	return true;
}

/* ALLOW, CLOSE and ATTR are for the file that exported. */
static int judge_own(int file, const struct account *s, int not_creator)
{
	if (!s)
		return -ESTALE;
	if (!same_process(&s->process, &world.files[file]->process))
		return not_creator;
	if (s->is_closed)
		return -EIDRM;
	return s->creator == file ? 0 : not_creator;
}

void share_close(int file)
{
	struct drm_vinci_share_close a = { 0 };
	struct account *s;
	int r;

	pick_name(file, &a.kind, &a.name_len, a.name);
	spoil(&a, sizeof(a));
	s = find_account(a.kind, a.name, a.name_len);
	r = RUN(file, vinci_share_close, a);
	expect(r, is_name(a.kind, a.name, a.name_len) ? judge_own(file, s, -EACCES) : -EINVAL);
	if (!r)
		s->is_closed = true;
}

static int judge_attr(int file, const struct account *s, const struct drm_vinci_share_attr *a)
{
	int r;

	if (a->pad || !is_name(a->kind, a->name, a->name_len))
		return -EINVAL;
	if (!(a->attr == VINCI_SHARE_ATTR_UNVALIDATED && a->value == 1) &&
	    !(a->attr == VINCI_SHARE_ATTR_LINK && a->value <= 3 && a->kind == VINCI_SHARE_IPC_MEM))
		return -EINVAL;
	r = judge_own(file, s, -EPERM);
	if (r)
		return r == -EIDRM ? -ESTALE : r;
	return a->attr == VINCI_SHARE_ATTR_UNVALIDATED && s->listed ? -EPERM : 0;
}

void share_attr(int file)
{
	struct drm_vinci_share_attr a = { .attr = 1 + any(2), .value = any(5) };
	struct account *s;
	int r;

	if (any(2))
		a.value = 1;
	pick_name(file, &a.kind, &a.name_len, a.name);
	spoil(&a, sizeof(a));
	s = find_account(a.kind, a.name, a.name_len);
	r = RUN(file, vinci_share_attr, a);
	expect(r, judge_attr(file, s, &a));
	if (!r && a.attr == VINCI_SHARE_ATTR_UNVALIDATED)
		s->is_unvalidated = true;
}

/* --- whitelists ---------------------------------------------------------------------------- */

static struct listed *find_listed(struct account *s, uint32_t sdid, int32_t pid)
{
	uint32_t i;

	for (i = 0; i < s->listed; i++)
		if (s->list[i].sdid == sdid && s->list[i].pid == pid)
			return &s->list[i];
	return NULL;
}

static uint64_t start_of(uint32_t sdid, int32_t pid)
{
	return sdid == SDID && pid >= FIRST_PID && pid < FIRST_PID + (int)PIDS ? world.starts[pid - FIRST_PID] : 0;
}

/* All the pids or none of them; the account's list is changed with @commit. */
static int list_pids(struct account *s, uint32_t sdid, const int32_t *pids, uint32_t count, bool commit)
{
	struct listed list[LISTED];
	uint32_t had = s->listed, i;
	bool any_one = false;

	memcpy(list, s->list, sizeof(list));
	for (i = 0; i < count; i++)
		if (pids[i] < 0)
			return -EINVAL;
	for (i = 0; i < count; i++) {
		struct listed *l;

		if (!pids[i] || (pids[i] == s->process.pid && kinds[s->kind].is_hex))
			continue;
		any_one = true;
		l = find_listed(s, sdid, pids[i]);
		if (!l)
			l = &s->list[s->listed++];
		*l = (struct listed){ sdid, pids[i], start_of(sdid, pids[i]) };
	}
	i = s->listed;
	if (!commit || i > kinds[s->kind].slots) {
		memcpy(s->list, list, sizeof(list));
		s->listed = had;
	}
	if (i > kinds[s->kind].slots)
		return -ENOSPC;
	return any_one || s->kind == VINCI_SHARE_NOTIFY ? 0 : -EINVAL;
}

static int judge_allow(int file, const struct account *s, const struct drm_vinci_share_allow *a)
{
	int r;

	if (a->flags > VINCI_ALLOW_SDID || (!a->flags && a->sdid) || a->elem_size < 4 || a->elem_size > 64 ||
	    !is_name(a->kind, a->name, a->name_len))
		return -EINVAL;
	r = judge_own(file, s, -EACCES);
	if (r)
		return r;
	if (s->is_unvalidated)
		return -EPERM;
	if (!a->count)
		return -EINVAL;
	return a->count > kinds[s->kind].pids ? -E2BIG : 0;
}

static int32_t any_pid(void)
{
	switch (any(8)) {
	case 0:
		return any(20) ? 0 : -1;
	case 1:
	case 2:
	case 3:
		return (int32_t)(1 + any(24));
	default:
		return FIRST_PID + (int)any(PIDS);
	}
}

void share_allow(int file)
{
	struct drm_vinci_share_allow a = { .count = any(8) ? 1 : any(5), .elem_size = 4 + 4 * any(2) };
	struct vinci_pids pids = { 0 };
	uint8_t array[8 * 64];
	int32_t list[8];
	struct account *s;
	uint32_t sdid, i;
	int r;

	if (!any(4)) {
		a.flags = VINCI_ALLOW_SDID;
		a.sdid = SDID + any(3);
	}
	pick_name(file, &a.kind, &a.name_len, a.name);
	spoil(&a, sizeof(a));
	s = find_account(a.kind, a.name, a.name_len);
	world.failed = false;
	r = vinci_allow_begin(world.files[file], &a);
	check(r == judge_allow(file, s, &a));
	if (r || a.count > 8 || s->listed + a.count > LISTED)
		return;
	memset(array, 0xee, sizeof(array));
	for (i = 0; i < a.count; i++) {
		list[i] = any_pid();
		memcpy(array + i * a.elem_size, &list[i], sizeof(list[i]));
	}
	sdid = a.flags ? a.sdid : SDID;
	r = vinci_pids_parse(world.files[file], &a, array, &pids);
	/* Meanwhile other threads of the process go on. */
	if (!r && !any(6))
		share_close(file);
	if (!r && !any(6))
		share_attr(file);
	if (!r) {
		r = vinci_allow_finish(world.files[file], &a, &pids);
		s = find_account(a.kind, a.name, a.name_len);
		i = (uint32_t)-judge_allow(file, s, &a);
		expect(r, i ? -(int)i : list_pids(s, sdid, list, a.count, !r));
	} else {
		i = (uint32_t)-list_pids(s, sdid, list, a.count, false);
		check(world.failed || (r == -EINVAL && i == EINVAL));
	}
	vinci_pids_free(&pids);
}

/* --- import -------------------------------------------------------------------------------- */

static void guessed_wrong(struct wrong *w)
{
	w->at[w->count++ % 1024] = world.now;
}

/* How many of the last second. */
static uint32_t wrong_lately(const struct wrong *w)
{
	uint32_t i, n = 0;

	for (i = 0; i < w->count && i < 1024; i++)
		n += w->at[i] + 1000000000 > world.now;
	return n;
}

static int judge_import(int file, struct account *s, uint32_t device)
{
	const struct vinci_process *p = &world.files[file]->process;
	bool is_creator = same_process(p, &s->process), own_npu = s->owner == device && !s->is_host;
	const struct listed *l;

	if (is_creator && s->kind == VINCI_SHARE_NOTIFY)
		return 0;
	if (is_creator && s->kind == VINCI_SHARE_EVENT)
		return -EACCES;
	if (is_creator && own_npu && is_vmm(s->kind))
		return -EEXIST;
	if (s->is_unvalidated)
		return 0;
	l = find_listed(s, SDID, p->pid);
	if (!l)
		return -EACCES;
	return l->start == p->identity.start ? 0 : -EKEYEXPIRED;
}

/* The handle that answers for a share that is held already; 0: none; -EBUSY. */
static int find_held(int file, const struct account *s, uint32_t device)
{
	uint32_t h;

	for (h = 1; h <= MAX_HANDLES; h++) {
		if (held[file][h].share != s)
			continue;
		if (held[file][h].device == device || s->kind == VINCI_SHARE_NOTIFY || s->kind == VINCI_SHARE_EVENT)
			return (int)h;
		if (s->kind == VINCI_SHARE_IPC_MEM)
			return -EBUSY;
	}
	return 0;
}

static void check_import(int file, struct account *s, const struct drm_vinci_share_import *a)
{
	const struct vinci_hold *hold = vinci_hold_find(world.files[file], a->handle);

	check(hold && hold->is_imported && hold->object->owner == s->owner && a->owner_device == s->owner);
	check(a->size == s->size && a->size <= hold->object->span && !hold->object->split_count);
	held[file][a->handle] = (struct held){ s, a->device };
}

static void share_import_of(int file, struct drm_vinci_share_import *a)
{
	struct account *s = find_account(a->kind, a->name, a->name_len);
	struct wrong *of_file = &wrong_of_file[file], *of_uid = &wrong_of_uid[!uid_of(file)];
	int r = RUN(file, vinci_share_import, *a), again;

	if (a->flags || !is_name(a->kind, a->name, a->name_len)) {
		check(r == -EINVAL);
	} else if (a->device >= NPUS) {
		check(r == -ENODEV);
	} else if (r == -EDQUOT) {
		check(wrong_lately(of_file) >= 99 || wrong_lately(of_uid) >= 999);
	} else if (!s || s->is_closed) {
		check(r == -ESTALE);
		guessed_wrong(of_file);
		guessed_wrong(of_uid);
		check(wrong_lately(of_file) <= 200);
	} else {
		again = find_held(file, s, a->device);
		if (again)
			check(again > 0 ? !r && a->handle == (uint32_t)again : r == again);
		else
			expect_hold(file, r, judge_import(file, s, a->device));
		if (!again && !r)
			check_import(file, s, a);
	}
}

void share_import(int file)
{
	struct drm_vinci_share_import a = { .device = any(NPUS) };

	pick_name(-1, &a.kind, &a.name_len, a.name);
	spoil(&a, sizeof(a));
	share_import_of(file, &a);
}

void guess(int file)
{
	struct drm_vinci_share_import a = { .kind = VINCI_SHARE_VMM, .name_len = 8 };
	uint32_t n = any(256);

	for (; n; n--) {
		a.handle = 0;
		memcpy(a.name, &n, sizeof(n));
		share_import_of(file, &a);
	}
}
