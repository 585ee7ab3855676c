/* SPDX-License-Identifier: MIT */
/* Bytes become requests, and each answer is compared with what the header says. */
#include "common/checks.h"
#include "world.h"

/* --- bytes --------------------------------------------------------------------------------- */

static const uint8_t *bytes;
static size_t left;

uint32_t any(uint32_t below)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < (below > 256 ? 4u : 1u) && left; i++, left--)
		value = value << 8 | *bytes++;
	return value % below;
}

/* Mostly small numbers, which reach further than noise. */
uint64_t value(void)
{
	switch (any(8)) {
	case 0:
		return ~0ull;
	case 1:
		return 1ull << any(64);
	case 2:
		return 4096ull << any(21);
	case 3:
		return 2ull << 20;
	default:
		return any(9);
	}
}

/* Now and then one byte of an argument is something else. */
void spoil(void *arg, size_t size)
{
	if (!any(12))
		((uint8_t *)arg)[any((uint32_t)size)] = (uint8_t)any(256);
}

/* --- files --------------------------------------------------------------------------------- */

uint32_t uid_of(int file)
{
	return world.files[file]->process.uid;
}

void world_open(int file, uint32_t n)
{
	struct vinci_process process = { .pid = FIRST_PID + (int)n, .uid = n % 2 ? 1000 : 0 };
	struct vinci_file *f;

	if (!world.starts[n])
		world.starts[n] = ++world.next_start;
	process.identity.start = world.starts[n];
	f = world_alloc(sizeof(*f));
	f->own.handles = world_alloc((MAX_HANDLES + 1) * sizeof(struct vinci_hold *));
	vinci_file_init(f, &world.device, &process);
	world.files[file] = f;
}

void world_close(int file)
{
	struct vinci_file *f = world.files[file];

	vinci_file_clear(f);
	check(list_empty(&f->holds) && list_empty(&f->shares) && list_empty(&f->ids) && list_empty(&f->peers));
	free(f->own.handles);
	free(f);
	world.files[file] = NULL;
	accounts_of_file_end(file);
}

static void process_dies(uint32_t n)
{
	int file;

	for (file = 0; file < (int)FILES; file++)
		if (world.files[file] && world.files[file]->process.pid == FIRST_PID + (int)n)
			world_close(file);
	world.starts[n] = 0;
}

static void close_handle(int file, uint32_t handle)
{
	struct vinci_hold *hold = vinci_hold_find(world.files[file], handle);

	if (!hold)
		return;
	accounts_of_handle_end(file, handle, !hold->is_imported);
	world.files[file]->own.handles[handle] = NULL;
	vinci_hold_close(hold);
	vinci_hold_gone(hold);
}

/* Mostly one that the file has. */
uint32_t any_handle(int file)
{
	uint32_t first = any(MAX_HANDLES + 1), i, handle;

	if (!any(10))
		return first;
	for (i = 0; i <= MAX_HANDLES; i++) {
		handle = (first + i) % (MAX_HANDLES + 1);
		if (vinci_hold_find(world.files[file], handle))
			return handle;
	}
	return first;
}

/* --- requests ------------------------------------------------------------------------------ */

/* Runs one; a failed one changes no output. */
int run(int file, VINCI_REQUEST((*request)), void *arg, size_t size)
{
	uint8_t before[512];
	int r;

	check(size <= sizeof(before));
	memcpy(before, arg, size);
	world.failed = false;
	r = request(world.files[file], arg);
	check(r <= 0 && (!r || !memcmp(before, arg, size)));
	return r;
}

/* As the contract wants it, or for want of memory. */
void expect(int r, int expected)
{
	check(r == expected || (world.failed && (r == -ENOSPC || r == -ENOMEM || r == -EIO)));
}

void expect_hold(int file, int r, int expected)
{
	bool full = world.files[file]->hold_count >= world.device.config.max_handles;

	if (expected || r != -ENOSPC || !full)
		expect(r, expected);
}

uint64_t page_size(uint32_t kind)
{
	static const uint64_t sizes[] = { 4096, 2 << 20, 1 << 30 };

	return kind < 3 ? sizes[kind] : 0;
}

static int judge_create(const struct drm_vinci_bo_create *a, uint64_t used)
{
	uint64_t page = page_size(a->page_kind);

	if (a->pad || a->flags > VINCI_BO_HOST || !page || !a->size || a->size % page)
		return -EINVAL;
	if (a->flags)
		return a->device || a->numa_node < -1 ? -EINVAL : a->size > 1ull << 46 ? -ENOSPC : 0;
	if (a->numa_node != -1)
		return -EINVAL;
	if (a->device >= NPUS)
		return -ENODEV;
	return a->size > NPU_BYTES - used ? -ENOMEM : 0;
}

static void bo_create(int file)
{
	struct drm_vinci_bo_create a = { .size = value(), .device = any(NPUS), .page_kind = any(3), .numa_node = -1 };
	uint64_t used;
	int expected, r;

	if (!any(6)) {
		a.flags = VINCI_BO_HOST;
		a.device = 0;
	}
	if (any(4))
		a.size = page_size(a.page_kind) * (1 + any(8));
	spoil(&a, sizeof(a));
	used = a.device < NPUS ? world.device.used[a.device] : 0;
	expected = judge_create(&a, used);
	r = RUN(file, vinci_bo_create, a);
	expect_hold(file, r, expected);
	if (!r && !a.flags)
		check(world.device.used[a.device] == used + a.size);
}

static bool may_split(const struct vinci_hold *hold, const struct drm_vinci_bo_split *a)
{
	const struct vinci_object *o = hold->object;
	uint64_t page = page_size(o->page_kind);
	uint32_t i;

	if (hold->is_imported || o->type != VINCI_OBJECT_BO || a->pad || a->pad2 || !a->size || a->size % page ||
	    a->offset % page || a->size > o->span || a->offset > o->span - a->size)
		return false;
	for (i = 0; i < o->split_count; i++)
		if (!(a->offset + a->size <= o->splits[i].offset ||
		      o->splits[i].offset + o->splits[i].size <= a->offset))
			return false;
	return list_empty(&o->shares) && o->holds.next->next == &o->holds;
}

static void bo_split(int file)
{
	struct drm_vinci_bo_split a = { .handle = any_handle(file), .offset = value(), .size = value() };
	struct vinci_hold *hold = vinci_hold_find(world.files[file], a.handle);
	uint64_t used = hold ? world.device.used[hold->object->owner] : 0;
	bool may;
	int r;

	if (hold && any(4)) {
		a.size = page_size(hold->object->page_kind);
		a.offset = a.size * any(8);
	}
	spoil((uint8_t *)&a + 4, sizeof(a) - 4);
	may = hold && may_split(hold, &a) && world.files[file]->hold_count < world.device.config.max_handles;
	r = RUN(file, vinci_bo_split, a);
	check(may ? !r || world.failed : r < 0);
	if (hold)
		check(used == world.device.used[hold->object->owner]); /* the charge moves, and nothing is gained */
}

static void bo_info(int file)
{
	struct drm_vinci_bo_info a = { .handle = any_handle(file) };
	struct vinci_hold *hold = vinci_hold_find(world.files[file], a.handle);
	int r = RUN(file, vinci_bo_info, a);

	expect(r, hold ? 0 : -ENOENT);
	if (!r)
		check(a.size == hold->object->size && a.holders >= 1 && a.holders <= FILES);
}

/* --- notifies, peers, listings ------------------------------------------------------------- */

static void notify_ids(int file)
{
	struct drm_vinci_notify_ids a = { .device = any(NPUS), .count = any(12) };
	uint8_t before[NOTIFIES];
	uint32_t i, is_free = 0;
	int r;

	spoil(&a, sizeof(a));
	if (a.device < NPUS) {
		memcpy(before, world.device.ids[a.device], NOTIFIES);
		for (i = 0; i < NOTIFIES; i++)
			is_free += !before[i];
	}
	i = a.count;
	r = RUN(file, vinci_notify_ids, a);
	expect(r, a.pad || !i || i > 64 ? -EINVAL : a.device >= NPUS ? -ENODEV : is_free ? 0 : -ENOSPC);
	if (r)
		return;
	check(a.count && a.count <= i && a.first + a.count <= NOTIFIES);
	for (i = 0; i < a.count; i++)
		check(!before[a.first + i]);
}

static int judge_notify(int file, const struct drm_vinci_notify_create *a)
{
	const struct vinci_ids *run;

	if (a->device >= NPUS)
		return -ENODEV;
	if (a->flags || a->id >= NOTIFIES)
		return -EINVAL;
	list_for_each_entry(run, &world.files[file]->ids, link)
		if (run->device == a->device && a->id >= run->first && a->id < run->first + run->count)
			return world.device.ids[a->device][a->id] & VINCI_ID_BUSY ? -EBUSY : 0;
	return -EINVAL;
}

static void notify_create(int file)
{
	struct drm_vinci_notify_create a = { .device = any(NPUS), .id = any(NOTIFIES) };
	const struct vinci_file *f = world.files[file];
	int expected;

	if (!list_empty(&f->ids) && any(4)) {
		const struct vinci_ids *run = list_entry(f->ids.prev, struct vinci_ids, link);

		a.device = run->device;
		a.id = run->first + any(run->count);
	}
	spoil(&a, sizeof(a));
	expected = judge_notify(file, &a);
	expect_hold(file, RUN(file, vinci_notify_create, a), expected);
}

static void notify_status(int file)
{
	struct drm_vinci_notify_status a = { .handle = any_handle(file), .pad = !any(16) };
	struct vinci_hold *hold = vinci_hold_find(world.files[file], a.handle);
	int expected = a.pad ? -EINVAL : !hold ? -ENOENT : hold->object->type == VINCI_OBJECT_NOTIFY ? 0 : -EINVAL;

	expect(RUN(file, vinci_notify_status, a), expected);
}

static void peer(int file)
{
	struct drm_vinci_peer a = { .device = any(NPUS), .peer = any(NPUS), .op = 1 + any(3) };
	uint32_t files = 0;
	int r, f;

	spoil(&a, sizeof(a));
	r = RUN(file, vinci_peer, a);
	if (a.op < VINCI_PEER_ENABLE || a.op > VINCI_PEER_QUERY || a.device == a.peer) {
		check(r == -EINVAL);
	} else if (a.device >= NPUS || a.peer >= NPUS) {
		check(r == -ENODEV);
	} else if (!(world.device.config.peers[a.device] >> a.peer & 1)) {
		check(r == -EOPNOTSUPP);
	} else {
		check(!r || (r == -ESRCH && a.op == VINCI_PEER_DISABLE) || (r == -ENOMEM && world.failed));
		for (f = 0; !r && f < (int)FILES; f++) {
			const struct vinci_peer_ref *ref;

			if (!world.files[f])
				continue;
			list_for_each_entry(ref, &world.files[f]->peers, link)
				files |= ref->device == a.device && ref->peer == a.peer ? 1 :
					 ref->device == a.peer && ref->peer == a.device ? 2 : 0;
		}
		check(r || a.active == (files == 3));
	}
}

struct counted {
	struct vinci_rows rows;
	uint32_t type;
	uint32_t viewer; /* uid */
	uint32_t emitted;
	uint64_t bytes;
};

static void count_row(struct vinci_rows *rows, const void *row)
{
	struct counted *c = (struct counted *)rows;
	const struct vinci_list_process *p = row;
	const struct vinci_list_share *s = row;

	check(rows->count == c->emitted++);
	if (c->type == VINCI_LIST_PROCESSES) {
		check(!c->viewer || p->uid == c->viewer);
		check((p->device == ~0u) == !p->objects && (p->objects || !p->bytes));
		c->bytes += p->bytes;
	} else if (c->type == VINCI_LIST_SHARES) {
		check(!c->viewer || (uint32_t)(s->pid - FIRST_PID) % 2 == 1);
		check(!s->hint[sizeof(s->hint) - 1]);
	}
}

static void list(int file)
{
	struct drm_vinci_list a = { .type = 1 + any(5), .elem_size = 8 };
	struct counted c = { .rows = { .emit = count_row }, .viewer = uid_of(file) };
	uint64_t used = 0;
	uint32_t d;

	spoil(&a, sizeof(a));
	if (vinci_check_list(&a)) {
		check(a.pad || a.type < 1 || a.type > 5 || a.elem_size < 8 || a.elem_size > 4096);
		return;
	}
	c.type = a.type;
	check(vinci_row_size(a.type) >= 8 && vinci_row_size(a.type) % 8 == 0);
	vinci_list_rows(world.files[file], c.type, &c.rows);
	check(c.rows.count == c.emitted);
	for (d = 0; d < NPUS; d++)
		used += world.device.used[d];
	/* Root sees whose all of the memory is. */
	if (c.type == VINCI_LIST_PROCESSES)
		check(c.viewer ? c.bytes <= used : c.bytes == used);
}

static void query(int file)
{
	struct drm_vinci_device_info info = { .device = any(NPUS + 1) };
	struct drm_vinci_get_param param = { .param = any(5), .pad = !any(8) };
	int r = RUN(file, vinci_device_info, info);

	check(r == (info.device < NPUS ? 0 : -ENODEV));
	if (!r)
		check(info.mem_used <= info.mem_total && !(info.peer_mask >> NPUS) &&
		      !(info.peer_mask >> info.device & 1));
	check(RUN(file, vinci_get_param, param) == (param.pad || param.param > 3 ? -EINVAL : 0));
}

/* --- worlds -------------------------------------------------------------------------------- */

static void on_file(uint32_t what, int file)
{
	static void (*const requests[])(int) = {
		bo_create, bo_create, bo_split, bo_info, share_export, share_export, share_export, share_allow,
		share_allow, share_allow, share_import, share_import, share_import, share_import, share_close,
		share_attr, notify_ids, notify_create, notify_create, notify_status, peer, peer, list, query, guess,
	};

	requests[what % (sizeof(requests) / sizeof(requests[0]))](file);
}

static void one_step(void)
{
	uint32_t what = any(64);
	int file = (int)any(FILES);

	if (!world.files[file])
		world_open(file, any(PIDS));
	else if (what < 2)
		world_close(file);
	else if (what < 3)
		process_dies(any(PIDS));
	else if (what < 6)
		world.now += value() % (1u << 30);
	else if (what < 8)
		world.fail_at = 1 + any(6);
	else if (what < 12)
		close_handle(file, any(MAX_HANDLES + 1));
	else
		on_file(what - 12, file);
}

void world_begin(uint32_t max_handles)
{
	struct vinci_config config = {
		.devices = NPUS, .notify_limit = NOTIFIES, .sdid = SDID, .max_handles = max_handles,
		.mem_bytes = NPU_BYTES, .soc = "fuzzed", .peers = { 6, 1, 3 },
	};

	memset(&world, 0, sizeof(world));
	accounts_begin();
	world.now = 1ull << 40;
	check(vinci_config_valid(&config) && !vinci_device_init(&world.device, &config));
}

/* Nothing is left when everybody has gone. */
void world_end(void)
{
	uint32_t i;
	int file;

	for (file = 0; file < (int)FILES; file++)
		if (world.files[file])
			world_close(file);
	check_device(&world.device);
	check(!world.memory && !world.holds && !world.device.share_count && !world.device.orphans);
	check(list_empty(&world.device.files) && list_empty(&world.device.objects));
	for (i = 0; i < NPUS; i++)
		check(!world.device.used[i]);
	vinci_device_fini(&world.device);
}

void world_run(const uint8_t *data, size_t size)
{
	uint32_t steps = 0;

	bytes = data;
	left = size;
	world_begin(any(2) ? MAX_HANDLES : 10);
	while (left) {
		one_step();
		if (!(++steps % 16))
			check_device(&world.device);
	}
	world_end();
}
