/* SPDX-License-Identifier: MIT */
#include "share_peer.h"

/* --- the peer's side ---------------------------------------------------------------------- */

static struct {
	uint8_t *ptr;
	aclrtDrvMemHandle handle;
	void *reserved;
	uint64_t number;
	char key[65];
	int device;
} self;

static int64_t cmd_pid(char *args)
{
	int32_t pid = 0;

	(void)args;
	return aclrtDeviceGetBareTgid(&pid) ? -1 : pid;
}

static int64_t cmd_set(char *args)
{
	self.device = atoi(args);
	return aclrtSetDevice(self.device);
}

static int64_t cmd_reset(char *args)
{
	(void)args;
	return aclrtResetDeviceForce(self.device);
}

static int64_t cmd_malloc(char *args)
{
	return aclrtMalloc((void **)&self.ptr, strtoull(args, NULL, 0), ACL_MEM_MALLOC_HUGE_FIRST);
}

static int64_t cmd_free(char *args)
{
	(void)args;
	return aclrtFree(self.ptr);
}

static int64_t cmd_export(char *args)
{
	size_t offset = strtoull(args, &args, 0), size = strtoull(args, &args, 0);

	return aclrtIpcMemGetExportKey(self.ptr + offset, size, self.key, sizeof(self.key), strtoull(args, NULL, 0));
}

static int64_t cmd_allow(char *args)
{
	char key[65] = "";
	int32_t pid = 0;

	if (sscanf(args, "%64s %" SCNd32, key, &pid) != 2)
		return -1;
	return aclrtIpcMemSetImportPid(key, &pid, 1);
}

static int64_t cmd_import(char *args)
{
	char key[65] = "";
	unsigned flags = 0;

	if (sscanf(args, "%64s %u", key, &flags) != 2)
		return -1;
	return aclrtIpcMemImportByKey((void **)&self.ptr, key, flags);
}

static int64_t cmd_close(char *args)
{
	return aclrtIpcMemClose(args);
}

static int64_t cmd_range(char *args)
{
	void *base = NULL;
	size_t size = 0;

	(void)args;
	return aclrtMemGetAddressRange(self.ptr, &base, &size) || base != self.ptr ? -1 : (int64_t)size;
}

/* Bytes from the pointer to the end of its mapping, as the kernel has it: all that this process can reach. */
static int64_t cmd_reach(char *args)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t from, to, at = (uintptr_t)self.ptr;
	int64_t reach = -1;
	char line[512];

	(void)args;
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 && from <= at && at < to)
			reach = (int64_t)(to - at);
	if (maps)
		fclose(maps);
	return reach;
}

static _Atomic uint64_t *word(size_t offset)
{
	return (_Atomic uint64_t *)(void *)(self.ptr + offset);
}

static int64_t cmd_get(char *args)
{
	return (int64_t)atomic_load(word(strtoull(args, NULL, 0)));
}

static int64_t cmd_put(char *args)
{
	size_t offset = strtoull(args, &args, 0);

	atomic_store(word(offset), strtoull(args, NULL, 0));
	return 0;
}

static int64_t cmd_vimport(char *args)
{
	uint64_t number = strtoull(args, &args, 0);

	return aclrtMemImportFromShareableHandle(number, atoi(args), &self.handle);
}

static int64_t cmd_vmap(char *args)
{
	size_t size = strtoull(args, NULL, 0);
	aclError code = aclrtReserveMemAddress(&self.reserved, size, 0, NULL, 0);

	if (!code)
		code = aclrtMapMem(self.reserved, size, 0, self.handle, 0);
	if (!code)
		self.ptr = self.reserved;
	return code;
}

static int64_t cmd_vunmap(char *args)
{
	(void)args;
	return aclrtUnmapMem(self.ptr);
}

static int64_t cmd_vfree(char *args)
{
	(void)args;
	return aclrtFreePhysical(self.handle);
}

static int64_t cmd_vrelease(char *args)
{
	(void)args;
	return aclrtReleaseMemAddress(self.reserved);
}

static int64_t cmd_vcreate(char *args)
{
	aclrtPhysicalMemProp prop = { .memAttr = ACL_HBM_MEM_HUGE,
				      .location = { .id = (uint32_t)self.device, .type = ACL_MEM_LOCATION_TYPE_DEVICE } };
	size_t size = strtoull(args, &args, 0);

	if (*args)
		prop.location.id = (uint32_t)strtoul(args, NULL, 0);
	return aclrtMallocPhysical(&self.handle, size, &prop, 0);
}

static int64_t cmd_vlocation(char *args)
{
	aclrtPhysicalMemProp prop = { .location = { .id = 0 } };

	(void)args;
	return aclrtMemGetAllocationPropertiesFromHandle(self.handle, &prop) ? -1 : (int64_t)prop.location.id;
}

static int64_t cmd_vaccess(char *args)
{
	aclrtMemAccessDesc desc = { .flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
				    .location = { .type = ACL_MEM_LOCATION_TYPE_DEVICE } };
	size_t size = strtoull(args, &args, 0);

	desc.location.id = (uint32_t)strtoul(args, NULL, 0);
	return aclrtMemSetAccess(self.ptr, size, &desc, 1);
}

static int64_t cmd_p2pstatus(char *args)
{
	int32_t device = (int32_t)strtol(args, &args, 0), status = -1;

	return aclrtDevicePeerAccessStatus(device, (int32_t)strtol(args, NULL, 0), &status) ? -1 : status;
}

static int64_t cmd_canp2p(char *args)
{
	int32_t device = (int32_t)strtol(args, &args, 0), can = -1;

	return aclrtDeviceCanAccessPeer(&can, device, (int32_t)strtol(args, NULL, 0)) ? -1 : can;
}

/* --- fabric handles, in hexadecimal --- */

static bool fabric_parse(const char *text, aclrtMemFabricHandle *out)
{
	unsigned i, byte;

	for (i = 0; i < sizeof(out->data); i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return false;
		out->data[i] = (uint8_t)byte;
	}
	return true;
}

static int64_t cmd_fimport(char *args)
{
	aclrtMemFabricHandle fabric;

	if (!fabric_parse(args, &fabric))
		return -1;
	return aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &self.handle);
}

static int64_t cmd_attr(char *args)
{
	char key[65] = "";
	unsigned link = 0;

	if (sscanf(args, "%64s %u", key, &link) != 2)
		return -1;
	return aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, link);
}

static int64_t cmd_vexport(char *args)
{
	return aclrtMemExportToShareableHandle(self.handle, ACL_MEM_HANDLE_TYPE_NONE, strtoull(args, NULL, 0),
					       &self.number);
}

static int64_t cmd_number(char *args)
{
	(void)args;
	return (int64_t)self.number;
}

static int64_t cmd_vallow(char *args)
{
	uint64_t number = strtoull(args, &args, 0);
	int32_t pid = atoi(args);

	return aclrtMemSetPidToShareableHandle(number, &pid, 1);
}

static int64_t cmd_p2p(char *args)
{
	return aclrtDeviceEnablePeerAccess(atoi(args), 0);
}

static int64_t cmd_unp2p(char *args)
{
	return aclrtDeviceDisablePeerAccess(atoi(args));
}

static int64_t cmd_sync(char *args)
{
	(void)args;
	return aclrtSynchronizeDevice();
}

static const struct {
	const char *name;
	int64_t (*run)(char *args);
} commands[] = {
	{ "pid", cmd_pid },	  { "set", cmd_set },	      { "reset", cmd_reset },	{ "malloc", cmd_malloc },
	{ "free", cmd_free },	  { "export", cmd_export },   { "allow", cmd_allow },	{ "import", cmd_import },
	{ "close", cmd_close },	  { "range", cmd_range }, { "reach", cmd_reach },     { "get", cmd_get },	{ "put", cmd_put },
	{ "vimport", cmd_vimport }, { "vmap", cmd_vmap },     { "vunmap", cmd_vunmap }, { "vfree", cmd_vfree },
	{ "vrelease", cmd_vrelease }, { "vcreate", cmd_vcreate }, { "vexport", cmd_vexport }, { "number", cmd_number },
	{ "vallow", cmd_vallow }, { "p2p", cmd_p2p },	      { "unp2p", cmd_unp2p },	{ "sync", cmd_sync },
	{ "vlocation", cmd_vlocation }, { "vaccess", cmd_vaccess }, { "p2pstatus", cmd_p2pstatus },
	{ "canp2p", cmd_canp2p }, { "fimport", cmd_fimport }, { "attr", cmd_attr },
};

static bool is_line_text(char *line, size_t size)
{
	const char *text;

	if (strcmp(line, "key") && strcmp(line, "message"))
		return false;
	text = line[0] == 'k' ? self.key : aclGetRecentErrMsg();
	snprintf(line, size, "%s", text ? text : "-");
	for (; *line; line++)
		if (*line == '\n')
			*line = ' ';
	return true;
}

static int64_t run(char *line)
{
	size_t len = strcspn(line, " ");
	unsigned i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strlen(commands[i].name) == len && !strncmp(line, commands[i].name, len))
			return commands[i].run(line[len] ? line + len + 1 : line + len);
	return -2;
}

bool share_peer_main(int argc, char **argv, int *status)
{
	char line[T_LINE_MAX];

	if (argc < 2 || strcmp(argv[1], "share-peer"))
		return false;
	while (t_hear(line, sizeof(line), 600000))
		if (is_line_text(line, sizeof(line)))
			t_say("%s", line);
		else
			t_say("%" PRId64, run(line));
	*status = 0;
	return true;
}

/* --- the test's side ---------------------------------------------------------------------- */

void peer_start_env(struct t_peer *peer, int device, const char *const env[])
{
	static const char *const args[] = { "share-peer", NULL };

	assert_true(t_spawn(peer, args, env));
	if (device >= 0)
		assert_ask(peer, 0, "set %d", device);
}

void peer_start(struct t_peer *peer, int device)
{
	peer_start_env(peer, device, NULL);
}

void peer_stop(struct t_peer *peer)
{
	assert_int_equal(t_wait(peer, ANSWER_MS), 0);
}

int64_t peer_ask(struct t_peer *peer, const char *fmt, ...)
{
	char line[T_LINE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	assert_true(t_write_line(peer, "%s", line));
	assert_true(t_read_line(peer, line, sizeof(line), ANSWER_MS));
	return strtoll(line, NULL, 10);
}

void peer_key(struct t_peer *peer, char key[65])
{
	assert_true(t_write_line(peer, "key"));
	assert_true(t_read_line(peer, key, 65, ANSWER_MS));
	assert_int_equal(strlen(key), 64);
}

void peer_message(struct t_peer *peer, char *text, size_t size)
{
	assert_true(t_write_line(peer, "message"));
	assert_true(t_read_line(peer, text, size, ANSWER_MS));
}
