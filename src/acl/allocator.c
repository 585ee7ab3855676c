/* SPDX-License-Identifier: MIT */
/*
 * allocator.c - chapter 11.8: allocators of the application, kept for whoever runs operators on a stream and asks for
 * the one that is registered there. A registration is a copy of the description, which the application may destroy.
 */
#include "acl/acl_rt_allocator.h"
#include "acl/api.h"
#include "rts/stream.h"
#include "util/cleanup.h"
#include "util/mutex.h"

#include <stdlib.h>

struct description {
	aclrtAllocator object;
	aclrtAllocatorAllocFunc alloc;
	aclrtAllocatorFreeFunc free;
	aclrtAllocatorAllocAdviseFunc alloc_advise;
	aclrtAllocatorGetAddrFromBlockFunc address;
};

struct registration {
	struct registration *next;
	aclrtStream stream; /* its handle, which no later stream gets */
	aclrtAllocatorDesc from;
	struct description copy;
};

static struct u_mutex lock = U_MUTEX_INIT(U_RANK_LAST, "allocators"); /* registrations */
static struct registration *registrations;

aclrtAllocatorDesc aclrtAllocatorCreateDesc(void)
{
	struct description *d = calloc(1, sizeof(*d));

	if (!d)
		(void)u_report(ACL_ERROR_BAD_ALLOC, "no host memory is left for the description of an allocator");
	return d;
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc)
{
	REQUIRE_NOT_NULL(allocatorDesc);
	free(allocatorDesc);
	return ACL_SUCCESS;
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator)
{
	REQUIRE_NOT_NULL(allocatorDesc);
	REQUIRE_NOT_NULL(allocator);
	((struct description *)allocatorDesc)->object = allocator;
	return ACL_SUCCESS;
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func)
{
	REQUIRE_NOT_NULL(allocatorDesc);
	REQUIRE_NOT_NULL(func);
	((struct description *)allocatorDesc)->alloc = func;
	return ACL_SUCCESS;
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func)
{
	REQUIRE_NOT_NULL(allocatorDesc);
	REQUIRE_NOT_NULL(func);
	((struct description *)allocatorDesc)->free = func;
	return ACL_SUCCESS;
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func)
{
	REQUIRE_NOT_NULL(allocatorDesc);
	REQUIRE_NOT_NULL(func);
	((struct description *)allocatorDesc)->alloc_advise = func;
	return ACL_SUCCESS;
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
						     aclrtAllocatorGetAddrFromBlockFunc func)
{
	REQUIRE_NOT_NULL(allocatorDesc);
	REQUIRE_NOT_NULL(func);
	((struct description *)allocatorDesc)->address = func;
	return ACL_SUCCESS;
}

/* ---- streams ---- */

static struct registration **find_locked(aclrtStream stream)
{
	struct registration **at = &registrations;

	while (*at && (*at)->stream != stream)
		at = &(*at)->next;
	return at;
}

/* Puts @entry, or nothing, in the place of what is registered for @stream, which the caller frees. */
static struct registration *replace(aclrtStream stream, struct registration *entry)
{
	struct registration **at, *old;

	u_mutex_lock(&lock);
	at = find_locked(stream);
	old = *at;
	if (old)
		*at = old->next;
	if (entry) {
		entry->next = registrations;
		registrations = entry;
	}
	u_mutex_unlock(&lock);
	return old;
}

static aclError check_complete(const struct description *d)
{
	if (d->object && d->alloc && d->free && d->address)
		return ACL_SUCCESS;
	return u_report(ACL_ERROR_INVALID_PARAM, "the description of the allocator has no %s yet",
			!d->object ? "allocator" :
			!d->alloc  ? "alloc function" :
			!d->free   ? "free function" :
				     "function for the address of a block");
}

static int check_stream(aclrtStream stream)
{
	u_cleanup(rts_stream_put) struct rts_stream *st = NULL;

	return rts_stream_get_any(stream, &st);
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc)
{
	struct registration *entry;
	aclError r;

	REQUIRE_PRODUCT();
	REQUIRE_NOT_NULL(stream);
	REQUIRE_NOT_NULL(allocatorDesc);
	r = check_complete(allocatorDesc);
	if (r)
		return r;
	r = check_stream(stream);
	if (r)
		return api_result(r);
	entry = malloc(sizeof(*entry));
	if (!entry)
		return u_report(ACL_ERROR_BAD_ALLOC, "no host memory is left to register an allocator");
	*entry = (struct registration){ .stream = stream, .from = allocatorDesc,
					.copy = *(struct description *)allocatorDesc };
	free(replace(stream, entry));
	return ACL_SUCCESS;
}

aclError aclrtAllocatorUnregister(aclrtStream stream)
{
	REQUIRE_PRODUCT();

	aclError r = rts_process_check_fork();

	REQUIRE_NOT_NULL(stream);
	if (!r)
		free(replace(stream, NULL));
	return api_result(r);
}

static bool look_up(aclrtStream stream, aclrtAllocatorDesc *from, struct description *d)
{
	struct registration *found;

	u_mutex_lock(&lock);
	found = *find_locked(stream);
	if (found) {
		*from = found->from;
		*d = found->copy;
	}
	u_mutex_unlock(&lock);
	return found;
}

/* All outputs but the first may be NULL. */
aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc *allocatorDesc, aclrtAllocator *allocator,
				   aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
				   aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
				   aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc)
{
	REQUIRE_PRODUCT();

	aclError r = rts_process_check_fork();
	struct description d;

	REQUIRE_NOT_NULL(allocatorDesc);
	REQUIRE_NOT_NULL(stream);
	if (r)
		return api_result(r);
	REQUIRE(look_up(stream, allocatorDesc, &d), "%s: no allocator is registered for this stream", __func__);
	if (allocator)
		*allocator = d.object;
	if (allocFunc)
		*allocFunc = d.alloc;
	if (freeFunc)
		*freeFunc = d.free;
	if (allocAdviseFunc)
		*allocAdviseFunc = d.alloc_advise;
	if (getAddrFromBlockFunc)
		*getAddrFromBlockFunc = d.address;
	return ACL_SUCCESS;
}
