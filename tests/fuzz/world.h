/* SPDX-License-Identifier: MIT */
/*
 * world.h - drivers/common with processes, files and memory that are numbers only. Bytes are a sequence of requests; a
 * second, plain account of what the contract says is kept beside, and whatever differs from it aborts.
 */
#ifndef VINCI_TESTS_FUZZ_WORLD_H
#define VINCI_TESTS_FUZZ_WORLD_H

#include <stdio.h>
#include <stdlib.h>

#include "common/core.h"

#define NPUS 3u
#define NPU_BYTES (1ull << 32)
#define NOTIFIES 48u
#define MAX_HANDLES 24u /* of one file */
#define FILES 8u
#define PIDS 4u /* processes have few numbers, so that they get one another's */
#define FIRST_PID 100
#define SDID 7u
#define NAMES 24u /* shares that are kept account of */
#define LISTED 96u /* whitelist entries that are kept account of, per share */

#define check(condition) \
	do { \
		if (!(condition)) { \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

struct listed {
	uint32_t sdid;
	int32_t pid;
	uint64_t start;
};

/* What the contract says of a share. */
struct account {
	bool is_used;
	bool is_closed;
	bool is_unvalidated;
	bool is_host;
	uint32_t kind;
	uint32_t len;
	uint8_t name[VINCI_NAME_MAX];
	uint32_t owner; /* NPU */
	uint64_t size; /* as importers are told */
	int creator; /* file */
	uint32_t handle; /* its */
	struct vinci_process process;
	struct listed list[LISTED];
	uint32_t listed;
};

struct world {
	struct vinci_device device;
	struct vinci_file *files[FILES];
	uint64_t starts[PIDS]; /* of the process that has the number now; 0: nobody */
	uint64_t next_start;
	struct account accounts[NAMES];
	uint64_t now;
	uint64_t random, seed;
	uint32_t fail_at; /* the allocation that fails, counted down; 0: none */
	bool failed; /* one has */
	int64_t memory; /* objects that exist */
	int64_t holds;
};

extern struct world world;

/* invariants.c: sums and lists of the device itself */
void check_device(const struct vinci_device *device);

/* world.c: zeroed memory, and never a failure */
void *world_alloc(size_t size);

/* requests.c: a world from bytes; and by hand */
void world_run(const uint8_t *data, size_t size);
void world_begin(uint32_t max_handles);
void world_open(int file, uint32_t process);
void world_close(int file);
/* Everybody goes, and nothing is left. */
void world_end(void);
/* The next bytes: a number below @below; one that reaches far; now and then another byte somewhere in an argument. */
uint32_t any(uint32_t below);
uint64_t value(void);
void spoil(void *arg, size_t size);
/* Mostly one that the file has. */
uint32_t any_handle(int file);
uint32_t uid_of(int file);
uint64_t page_size(uint32_t kind);
/* Runs a request; a failed one changes no output. */
int run(int file, VINCI_REQUEST((*request)), void *arg, size_t size);
#define RUN(file, request, arg) run(file, request, &(arg), sizeof(arg))
/* As the contract wants it, or for want of memory; a handle more may be one too many. */
void expect(int r, int expected);
void expect_hold(int file, int r, int expected);

/* shares.c */
void accounts_begin(void);
void accounts_of_handle_end(int file, uint32_t handle, bool is_creator);
void accounts_of_file_end(int file);
void share_export(int file);
void share_allow(int file);
void share_import(int file);
void share_close(int file);
void share_attr(int file);
void guess(int file);

#endif
