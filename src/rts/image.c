/* SPDX-License-Identifier: MIT */
/*
 * image.c - shared objects: loading one that is in memory, and what the loader and its symbol table know of it.
 *
 * An image is written into a file of its own without a name and loaded from there, so that each load has its own
 * variables, as on a card, and a file that was replaced meanwhile is not taken for the one that is loaded already. The
 * loader knows objects by their path: each load spells the same path in another way.
 */
#include "rts/image.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

#define SERIAL_BITS 24
#define PATH_BYTES (64 + 2 * SERIAL_BITS)

/* --- loading ---------------------------------------------------------------------------------- */

/* The loader takes what the headers say for granted: a file that ends early would end the process. */
static bool segments_fit(const unsigned char *data, size_t size, const Elf64_Ehdr *h)
{
	Elf64_Phdr ph;

	if (h->e_phentsize != sizeof(ph) || h->e_phoff > size || h->e_phnum > (size - h->e_phoff) / sizeof(ph))
		return false;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		memcpy(&ph, data + h->e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && (ph.p_offset > size || ph.p_filesz > size - ph.p_offset))
			return false;
	}
	return true;
}

static int image_check(const void *data, size_t size, const char *what)
{
	Elf64_Ehdr h;

	if (size < sizeof(h) || memcmp(data, ELFMAG, SELFMAG))
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is no binary: it does not begin with an ELF header",
				what);
	memcpy(&h, data, sizeof(h));
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != MACHINE || h.e_type != ET_DYN)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%s is an object of type %u for machine %u; kernels for this library are shared "
				"objects (type 3) for "
				"machine %u, made by ascendc_fatbin_library()",
				what, h.e_type, h.e_machine, MACHINE);
	if (!segments_fit(data, size, &h))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"%s is cut off: it has %zu bytes, and its segments lie beyond", what, size);
	return 0;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Each bit of the serial number is a component of the path that leads nowhere: "/." or "/". */
static void spell_path(char *path, int fd)
{
	static atomic_uint serials;
	unsigned serial = atomic_fetch_add(&serials, 1);
	char *at = path + sprintf(path, "/proc/self");

	for (unsigned bit = 0; bit < SERIAL_BITS; bit++) {
		*at++ = '/';
		if (serial >> bit & 1)
			*at++ = '.';
	}
	sprintf(at, "/fd/%d", fd);
}

static void *image_open(const void *data, size_t size)
{
	char path[PATH_BYTES];
	void *dl = NULL;
	int fd = memfd_create("kernels", MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!write_all(fd, data, size)) {
		spell_path(path, fd);
		dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	close(fd);
	return dl;
}

int image_load(const void *data, size_t size, const char *what, void **dl)
{
	const char *why;
	int r;

	r = image_check(data, size, what);
	if (r)
		return r;
	*dl = image_open(data, size);
	if (*dl)
		return 0;
	why = dlerror();
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s cannot be loaded: %s", what,
			why ? why : "no memory, or /proc is not mounted");
}

/* --- segments --------------------------------------------------------------------------------- */

/* Looks for the object that was loaded at @map's address; @found is its program headers. */
struct search {
	const struct link_map *map;
	struct dl_phdr_info found;
};

static int is_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	if (info->dlpi_addr != s->map->l_addr || strcmp(info->dlpi_name, s->map->l_name))
		return 0;
	s->found = *info;
	return 1;
}

static bool find_segments(void *dl, struct dl_phdr_info *info)
{
	struct link_map *map = NULL;
	struct search s = { 0 };

	if (dlinfo(dl, RTLD_DI_LINKMAP, &map) || !map)
		return false;
	s.map = map;
	if (!dl_iterate_phdr(is_object, &s))
		return false;
	*info = s.found;
	return true;
}

static uintptr_t page_down(uintptr_t at)
{
	return at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t page_up(uintptr_t at)
{
	return page_down(at + (uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Segments are sorted by address. */
bool image_span(void *dl, void **base, size_t *size)
{
	uintptr_t begin = 0, end = 0, at;
	struct dl_phdr_info info;

	if (!find_segments(dl, &info))
		return false;
	for (unsigned i = 0; i < info.dlpi_phnum; i++) {
		if (info.dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		at = info.dlpi_addr + info.dlpi_phdr[i].p_vaddr;
		if (!begin)
			begin = page_down(at);
		else if (page_down(at) > page_up(end))
			return false;
		end = at + info.dlpi_phdr[i].p_memsz;
	}
	*base = (void *)begin;
	*size = end - begin;
	return begin != 0;
}

int image_for_variables(void *dl, int (*each)(uintptr_t base, size_t size, void *arg), void *arg)
{
	struct dl_phdr_info info;
	int r = 0;

	if (!find_segments(dl, &info))
		return 0;
	for (unsigned i = 0; i < info.dlpi_phnum && !r; i++)
		if (info.dlpi_phdr[i].p_type == PT_LOAD && info.dlpi_phdr[i].p_flags & PF_W)
			r = each(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr, info.dlpi_phdr[i].p_memsz, arg);
	return r;
}

/* --- symbols ---------------------------------------------------------------------------------- */

size_t image_symbol_bytes(const void *address, int type)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!address || !dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) || info.dli_saddr != address ||
	    !symbol || ELF64_ST_TYPE(symbol->st_info) != type)
		return 0;
	return symbol->st_size;
}

/* What the loader keeps of an object's symbols; pointers that it has relocated. */
struct symbols {
	const ElfW(Sym) *table;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH: {buckets, first hashed symbol, words of the filter, shift} and these */
};

static bool find_symbols(void *dl, struct symbols *s)
{
	struct link_map *map = NULL;

	memset(s, 0, sizeof(*s));
	if (dlinfo(dl, RTLD_DI_LINKMAP, &map) || !map)
		return false;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			s->table = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			s->names = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_GNU_HASH)
			s->hash = (const void *)d->d_un.d_ptr;
	}
	return s->table && s->names && s->hash;
}

/* Nothing tells the number but the end of the last bucket's chain. */
static uint32_t count_symbols(const struct symbols *s)
{
	const uint32_t *bucket = s->hash + 4 + s->hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = bucket + s->hash[0];
	uint32_t first = s->hash[1], last = 0;

	for (uint32_t i = 0; i < s->hash[0]; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

void image_for_symbols(void *dl, void (*each)(const char *name, void *arg), void *arg)
{
	struct symbols s;
	uint32_t count;

	if (!find_symbols(dl, &s))
		return;
	count = count_symbols(&s);
	for (uint32_t i = 0; i < count; i++)
		if (s.table[i].st_shndx != SHN_UNDEF)
			each(s.names + s.table[i].st_name, arg);
}
