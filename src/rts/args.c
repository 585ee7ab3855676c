/* SPDX-License-Identifier: MIT */
/*
 * args.c - argument lists. Values fill 8-byte slots in the order in which they are appended; what place holders point
 * at follows.
 *
 * A list is the thread's own, emptied by each init, as in CANN; or it lies in memory of the caller's, who may do to it
 * what he likes: it is known by a mark that depends on its address, and everything in it is checked before it is used.
 */
#include "rts/args.h"
#include "rts/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MARK UINT64_C(0x9e3779b97f4a7c15)

/* A parameter's handle: {serial of the init:32, index:8, 1}. */
#define PARAM_INDEX_BITS 8

struct own_list {
	struct rts_object obj;
	struct args_list list;
	_Alignas(64) unsigned char bytes[RTS_ARGS_BYTES_MAX];
};

/* Keeps the thread's list until the thread ends. */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_error;
static atomic_uint serials;

/* --- lists ------------------------------------------------------------------------------------ */

static void own_released(struct rts_object *obj)
{
	struct own_list *own = (struct own_list *)obj;

	u_mutex_destroy(&own->list.lock);
	free(own);
}

static void thread_ends(void *arg)
{
	struct own_list *own = arg;

	if (!rts_process_forked() && rts_object_unpublish(atomic_load(&own->obj.handle), RTS_ARGS))
		rts_object_put(&own->obj);
}

static void make_key(void)
{
	key_error = pthread_key_create(&key, thread_ends);
}

static struct own_list *own_new(void)
{
	struct own_list *own = aligned_alloc(64, (sizeof(*own) + 63) / 64 * 64);

	if (!own)
		return NULL;
	memset(own, 0, offsetof(struct own_list, bytes));
	u_mutex_init(&own->list.lock, RANK_MODULE, "arguments");
	own->list.buffer = own->bytes;
	own->list.capacity = RTS_ARGS_BYTES_MAX;
	return own;
}

static int own_get(struct own_list **out)
{
	struct own_list *own;
	int r;

	pthread_once(&once, make_key);
	own = key_error ? NULL : pthread_getspecific(key);
	if (own) {
		*out = own;
		return 0;
	}
	own = key_error ? NULL : own_new();
	if (!own)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a list of arguments");
	r = rts_object_publish(&own->obj, RTS_ARGS, own_released);
	if (r)
		goto err_free;
	if (pthread_setspecific(key, own)) {
		rts_object_put((rts_object_unpublish(atomic_load(&own->obj.handle), RTS_ARGS)));
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "out of host memory for a list of arguments");
	}
	*out = own;
	return 0;

err_free:
	u_mutex_destroy(&own->list.lock);
	free(own);
	return r;
}

static void list_reset(struct args_list *list)
{
	list->serial = atomic_fetch_add(&serials, 1);
	list->used = 0;
	list->count = 0;
	list->finalized = false;
	list->updating = false;
	list->placed = false;
}

int rts_args_init(void **handle)
{
	struct own_list *own = NULL;
	int r;

	r = own_get(&own);
	if (r)
		return r;
	u_mutex_lock(&own->list.lock);
	list_reset(&own->list);
	u_mutex_unlock(&own->list.lock);
	*handle = atomic_load(&own->obj.handle);
	return 0;
}

static uint64_t mark_of(const struct args_list *list)
{
	return (uint64_t)(uintptr_t)list ^ MARK;
}

size_t rts_args_handle_bytes(void)
{
	return sizeof(struct args_list);
}

int rts_args_init_in(void *memory, void *buffer, size_t size)
{
	struct args_list *list = memory;

	if ((uintptr_t)memory % _Alignof(struct args_list))
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the memory for the list is at %p; it must be aligned to %zu bytes", memory,
				_Alignof(struct args_list));
	memset(list, 0, sizeof(*list));
	u_mutex_init(&list->lock, RANK_MODULE, "arguments");
	list->buffer = buffer;
	list->capacity = size < RTS_ARGS_BYTES_MAX ? (uint32_t)size : RTS_ARGS_BYTES_MAX;
	list_reset(list);
	list->mark = mark_of(list);
	return 0;
}

/* Whether @size bytes at @at are mapped: somebody may pass anything for a handle. */
static bool mapped(const void *at, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)at & ~(page - 1);
	uintptr_t last = ((uintptr_t)at + size - 1) & ~(page - 1);

	return last >= first && !msync((void *)first, last - first + page, MS_ASYNC);
}

static bool list_in_memory(void *handle)
{
	struct args_list *list = handle;

	return (uintptr_t)handle % _Alignof(struct args_list) == 0 && mapped(list, sizeof(*list)) &&
	       list->mark == mark_of(list) && list->count <= RTS_ARGS_PARAMS_MAX &&
	       list->capacity <= RTS_ARGS_BYTES_MAX && list->used <= list->capacity;
}

int args_lock(void *handle, struct args_list **out)
{
	struct rts_object *obj;
	int r = rts_process_check_fork();

	if (r)
		return r;
	obj = rts_object_get(handle, RTS_ARGS);
	if (obj)
		*out = &((struct own_list *)obj)->list;
	else if (list_in_memory(handle))
		*out = handle;
	else
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"%p is no list of arguments: its thread has ended, or it never was one", handle);
	u_mutex_lock(&(*out)->lock);
	return 0;
}

void args_unlock(struct args_list *list)
{
	u_mutex_unlock(&list->lock);
	if (!list->mark)
		rts_object_put(&((struct own_list *)((char *)list - offsetof(struct own_list, list)))->obj);
}

/* --- appending -------------------------------------------------------------------------------- */

static void *param_handle(const struct args_list *list, uint32_t index)
{
	return (void *)(uintptr_t)((uint64_t)list->serial << (PARAM_INDEX_BITS + 1) | (uint64_t)index << 1 | 1);
}

static int param_find(struct args_list *list, void *handle, struct args_param **out)
{
	uint64_t h = (uint64_t)(uintptr_t)handle;
	uint32_t index = h >> 1 & ((1u << PARAM_INDEX_BITS) - 1);

	if (!(h & 1) || index >= list->count || param_handle(list, index) != handle)
		return u_report(ACL_ERROR_RT_INVALID_HANDLE,
				"%p is no parameter of this list, as it was filled since its last initialisation",
				handle);
	*out = &list->params[index];
	return 0;
}

/* Room for @size bytes that begin on a slot. */
static int room(struct args_list *list, size_t size, uint32_t *offset)
{
	uint32_t at = (list->used + VINCI_KERNEL_SLOT - 1) / VINCI_KERNEL_SLOT * VINCI_KERNEL_SLOT;

	if (at > list->capacity || size > list->capacity - at)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the list is full: %zu bytes are to follow %u; it has room for %u in all", size, at,
				list->capacity);
	*offset = at;
	return 0;
}

static int append_check(const struct args_list *list)
{
	if (list->finalized)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"nothing can be appended to a list that is finalized");
	if (list->placed)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
				"nothing can be appended once the buffer of a place holder was asked for");
	if (list->count >= RTS_ARGS_PARAMS_MAX)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "the list has %u parameters; more than that it cannot have",
				RTS_ARGS_PARAMS_MAX);
	return 0;
}

static int append(struct args_list *list, const void *value, size_t size, void **param)
{
	uint32_t offset = 0;
	int r;

	r = append_check(list);
	if (!r)
		r = room(list, size, &offset);
	if (r)
		return r;
	memset(list->buffer + list->used, 0, offset - list->used);
	if (value)
		memcpy(list->buffer + offset, value, size);
	else
		memset(list->buffer + offset, 0, size);
	list->params[list->count] = (struct args_param){ .offset = offset, .size = (uint32_t)size, .holder = !value };
	*param = param_handle(list, list->count++);
	list->used = offset + (uint32_t)size;
	return 0;
}

static int append_to(void *handle, const void *value, size_t size, void **param)
{
	struct args_list *list;
	int r;

	r = args_lock(handle, &list);
	if (r)
		return r;
	r = append(list, value, size, param);
	args_unlock(list);
	return r;
}

int rts_args_append(void *handle, const void *value, size_t size, void **param)
{
	return append_to(handle, value, size, param);
}

int rts_args_append_place_holder(void *handle, void **param)
{
	return append_to(handle, NULL, sizeof(void *), param);
}

static int place(struct args_list *list, void *param, size_t size, void **buffer)
{
	struct args_param *p;
	uint32_t offset = 0;
	int r;

	r = param_find(list, param, &p);
	if (r)
		return r;
	if (!p->holder)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the parameter is a value; only a place holder has a buffer");
	if (list->finalized)
		return u_report(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "a list that is finalized gives no more buffers");
	r = room(list, size, &offset);
	if (r)
		return r;
	if (!list->placed)
		list->slots = offset;
	list->placed = true;
	p->data = offset;
	list->used = offset + (uint32_t)size;
	*buffer = list->buffer + offset;
	return 0;
}

int rts_args_place_holder_buffer(void *handle, void *param, size_t size, void **buffer)
{
	struct args_list *list;
	int r;

	r = args_lock(handle, &list);
	if (r)
		return r;
	r = place(list, param, size, buffer);
	args_unlock(list);
	return r;
}

static int update(struct args_list *list, void *param, const void *value, size_t size)
{
	struct args_param *p;
	int r = param_find(list, param, &p);

	if (r)
		return r;
	if (p->holder)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the parameter is a place holder; its buffer is written directly");
	if (p->size != size || (uint64_t)p->offset + size > list->capacity)
		return u_report(ACL_ERROR_RT_PARAM_INVALID,
				"the new value has %zu bytes; the parameter was appended with %u", size, p->size);
	memcpy(list->buffer + p->offset, value, size);
	list->updating = true;
	return 0;
}

int rts_args_update(void *handle, void *param, const void *value, size_t size)
{
	struct args_list *list;
	int r;

	r = args_lock(handle, &list);
	if (r)
		return r;
	r = update(list, param, value, size);
	args_unlock(list);
	return r;
}

int rts_args_finalize(void *handle)
{
	struct rts_context *ctx;
	struct args_list *list;
	int r;

	r = rts_context_current(&ctx);
	if (!r)
		r = args_lock(handle, &list);
	if (r)
		return r;
	if (!list->placed)
		list->slots = list->used;
	list->finalized = true;
	list->updating = false;
	args_unlock(list);
	return 0;
}
