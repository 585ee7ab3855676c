/* SPDX-License-Identifier: MIT */
#include "rts/device_info.h"
#include "rts/config.h"
#include "rts/exec.h"
#include "rts/halt.h"
#include "rts/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static int ask(uint32_t device, struct drm_vinci_device_info *info)
{
	return rts_errno_code(0, RTS_OP_QUERY, drv_device_info(rts_drv(), device, info));
}

bool rts_device_alive(uint32_t device)
{
	struct drm_vinci_device_info info;

	return !ask(device, &info);
}

#define LOAD_LOOKS 50u
#define LOAD_NS (200 * UINT64_C(1000)) /* between them */

unsigned rts_device_load(uint32_t device)
{
	_Atomic uint32_t never = 0;
	unsigned busy = 0, most = pool_limit() * LOAD_LOOKS;

	for (unsigned i = 0; i < LOAD_LOOKS; i++) {
		busy += halt_count(device);
		u_futex_wait(&never, 0, u_deadline(u_now_ns(), LOAD_NS), false);
	}
	return busy < most ? 100 * busy / most : 100; /* threads that wait help the workers */
}

static bool is_known(aclrtDevAttr attr)
{
	int n = (int)attr;

	return n == 1 || n == 101 || n == 102 || (n >= 201 && n <= 212) || n == 301 || n == 302 ||
	       (n >= 401 && n <= 409) || n == 501 || n == 601;
}

static int refuse(const struct rts_profile *profile, aclrtDevAttr attr)
{
	if (!is_known(attr))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"Value %d for attr is invalid. Expected value: one of aclrtDevAttr", (int)attr);
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "attribute %d has no value on a %s of this library",
			(int)attr, profile->soc);
}

/* The super pod of one host: this server, and no other. */
static int pod_attribute(uint32_t device, aclrtDevAttr attr, int64_t *value)
{
	struct drm_vinci_device_info info;
	int code;

	if (!(rts_profile()->features & RTS_FEATURE_SUPER_POD))
		return refuse(rts_profile(), attr);
	code = ask(device, &info);
	if (code)
		return u_report(code, "device %d does not answer", rts_device_to_user(device));
	*value = attr == ACL_DEV_ATTR_SUPER_POD_DEVICE_ID ? (int64_t)info.sdid : 0;
	return 0;
}

static int memory_attribute(uint32_t device, int64_t *value)
{
	struct drm_vinci_device_info info;
	int code = ask(device, &info);

	if (code)
		return u_report(code, "device %d does not answer", rts_device_to_user(device));
	*value = (int64_t)info.mem_total;
	return 0;
}

int rts_device_attribute(uint32_t device, aclrtDevAttr attr, int64_t *value)
{
	const struct rts_profile *profile = rts_profile();

	switch (attr) {
	case ACL_DEV_ATTR_AICPU_CORE_NUM:
		*value = profile->aicpu_cores;
		return 0;
	case ACL_DEV_ATTR_AICORE_CORE_NUM:
	case ACL_DEV_ATTR_CUBE_CORE_NUM:
		*value = profile->cube_cores;
		return 0;
	case ACL_DEV_ATTR_VECTOR_CORE_NUM:
		*value = profile->vector_cores;
		return 0;
	case ACL_DEV_ATTR_L2_CACHE_SIZE:
		*value = (int64_t)profile->l2_bytes;
		return 0;
	case ACL_DEV_ATTR_PHY_CHIP_ID:
		*value = device;
		return 0;
	case ACL_DEV_ATTR_SMP_ID: /* one host */
	case ACL_DEV_ATTR_IS_VIRTUAL:
		*value = 0;
		return 0;
	case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
		return memory_attribute(device, value);
	case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
	case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
	case ACL_DEV_ATTR_SUPER_POD_ID:
		return pod_attribute(device, attr, value);
	default:
		return refuse(profile, attr);
	}
}

/* ---- links ---- */

/* The dies of an A3 chip are neighbours; everything else on it goes through the switches. */
static uint64_t link_kind(uint32_t a, uint32_t b)
{
	if (!(rts_profile()->features & RTS_FEATURE_SUPER_POD) || a == b)
		return ACL_RT_DEVS_TOPOLOGY_HCCS;
	return a / 2 == b / 2 ? ACL_RT_DEVS_TOPOLOGY_SIO : ACL_RT_DEVS_TOPOLOGY_HCCS_SW;
}

int rts_device_link(uint32_t a, uint32_t b, uint64_t *kind)
{
	struct drm_vinci_device_info info;
	int code = ask(a, &info);

	if (code)
		return u_report(code, "device %d does not answer", rts_device_to_user(a));
	/* Without a link of their own, devices meet at the host's processors. */
	*kind = a == b || info.peer_mask >> b & 1 ? link_kind(a, b) : ACL_RT_DEVS_TOPOLOGY_SYS;
	return 0;
}

/* ---- names ---- */

/* FNV-1a, 64 bits. */
static uint64_t hash(uint64_t h, const void *data, size_t size)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* What tells this host from others, as far as it can be read. */
static size_t host_name_of(char *out, size_t size)
{
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, out, size);
	(void)close(fd);
	return n > 0 ? (size_t)n : 0;
}

int rts_device_uuid(uint32_t device, unsigned char out[16])
{
	struct rts_config *config = malloc(sizeof(*config));
	uint64_t half[2] = { UINT64_C(0xcbf29ce484222325), UINT64_C(0x76696e6369757569) };
	char host[64] = { 0 };
	uid_t uid = getuid();
	size_t len = host_name_of(host, sizeof(host));
	int code;

	if (!config)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory is left for reading the settings");
	code = rts_config_read(config);
	for (int i = 0; !code && i < 2; i++) {
		half[i] = hash(half[i], host, len);
		half[i] = hash(half[i], &uid, sizeof(uid));
		half[i] = hash(half[i], config->socket, strlen(config->socket) + 1);
		half[i] = hash(half[i], config->instance, strlen(config->instance) + 1);
		half[i] = hash(half[i], &device, sizeof(device));
	}
	free(config);
	if (code)
		return code;
	memcpy(out, half, 16);
	out[6] = (unsigned char)((out[6] & 0x0f) | 0x80); /* RFC 9562: version 8, made by a rule of ours */
	out[8] = (unsigned char)((out[8] & 0x3f) | 0x80);
	return 0;
}

/* A domain that no bus of the machine has. */
#define PCI_DOMAIN 0x7669

static int check_pci(void)
{
	if (!(rts_profile()->features & RTS_FEATURE_SUPER_POD))
		return 0;
	return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the devices of a %s are not on a PCI bus", rts_profile()->soc);
}

int rts_device_pci(uint32_t device, char *out, size_t size)
{
	int code = check_pci();

	if (!code && size < RTS_PCI_BYTES)
		code = u_report(ACL_ERROR_RT_PARAM_INVALID, "len is %zu; a bus id has %d bytes with its NUL", size,
				RTS_PCI_BYTES);
	if (!code)
		snprintf(out, size, "%04x:%02x:00.0", PCI_DOMAIN, device & 0xff);
	return code;
}

int rts_device_by_pci(const char *text, int32_t *user)
{
	char name[RTS_PCI_BYTES];
	int code = check_pci();
	int32_t found;

	for (uint32_t device = 0; !code && device < rts_device_total(); device++) {
		code = rts_device_pci(device, name, sizeof(name));
		found = code || strcasecmp(name, text) ? -1 : rts_device_to_user(device);
		if (found >= 0) {
			*user = found;
			return 0;
		}
	}
	if (code)
		return code;
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"\"%.16s\" is no visible device; their bus ids are %04x:00:00.0 and on (dddd:bb:dd.f)", text,
			PCI_DOMAIN);
}

/* ---- atomic operations ---- */

#define WIDTHS(to) (((to) << 1) - ACL_RT_ATOMIC_CAPABILITY_SCALAR8) /* from 8 bits */
#define ANY_INTEGER                                                                                                 \
	(ACL_RT_ATOMIC_CAPABILITY_SIGNED | ACL_RT_ATOMIC_CAPABILITY_UNSIGNED |                                      \
	 WIDTHS(ACL_RT_ATOMIC_CAPABILITY_SCALAR64))
#define COUNTER (ACL_RT_ATOMIC_CAPABILITY_UNSIGNED | WIDTHS(ACL_RT_ATOMIC_CAPABILITY_SCALAR64))
#define FLOAT (ACL_RT_ATOMIC_CAPABILITY_SCALAR32 | ACL_RT_ATOMIC_CAPABILITY_SCALAR64)
#define COPY (ACL_RT_ATOMIC_CAPABILITY_SIGNED | WIDTHS(ACL_RT_ATOMIC_CAPABILITY_SCALAR32)) /* what SetAtomicAdd takes */

/* A CPU has them all for words of up to 64 bits, at least by compare and exchange, and its caches are coherent. */
static const uint16_t atomics[] = {
	[ACL_RT_ATOMIC_OPERATION_INTEGER_ADD] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_INTEGER_MIN] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_INTEGER_MAX] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_INTEGER_INCREMENT] = COUNTER,
	[ACL_RT_ATOMIC_OPERATION_INTEGER_DECREMENT] = COUNTER,
	[ACL_RT_ATOMIC_OPERATION_AND] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_OR] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_XOR] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_EXCHANGE] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_CAS] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_FLOAT_ADD] = FLOAT,
	[ACL_RT_ATOMIC_OPERATION_FLOAT_MIN] = FLOAT,
	[ACL_RT_ATOMIC_OPERATION_FLOAT_MAX] = FLOAT,
	[ACL_RT_ATOMIC_OPERATION_DMA_ADD] = COPY,
	[ACL_RT_ATOMIC_OPERATION_DMA_MIN] = COPY,
	[ACL_RT_ATOMIC_OPERATION_DMA_MAX] = COPY,
	[ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_ADD] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MIN] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_MAX] = ANY_INTEGER,
	[ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_CAS] = COUNTER,
	[ACL_RT_ATOMIC_OPERATION_SIMD_SCALAR_EXCH] = COUNTER,
};

/* Numbers between the groups name no operation and are no error, as in CANN's runtime. */
int rts_atomics(const aclrtAtomicOperation *operations, uint32_t count, uint32_t *capabilities)
{
	const uint32_t end = sizeof(atomics) / sizeof(atomics[0]);

	for (uint32_t i = 0; i < count; i++)
		if ((uint32_t)operations[i] >= end)
			return u_report(ACL_ERROR_RT_PARAM_INVALID, "operations[%u] is %d; aclrtAtomicOperation has 0 to %u", i,
					(int)operations[i], end - 1);
	for (uint32_t i = 0; i < count; i++)
		capabilities[i] = atomics[operations[i]];
	return 0;
}
