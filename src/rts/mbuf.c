/* SPDX-License-Identifier: MIT */
/* mbuf.c - shared buffers and their chains. */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "rts/lock_order.h"
#include "rts/mbuf.h"
#include "rts/memory.h"
#include "util/mutex.h"

struct buf_data {
	LIST_ENTRY(buf_data) link;
	struct buf_data *next_dead;
	uint32_t refs; /* buffers */
	uint32_t device;
	void *ptr; /* NULL: went with the device */
	size_t size;
};

struct rts_buf {
	struct rts_object obj;
	struct buf_data *data; /* NULL: freed */
	size_t len;
	struct rts_buf *prev, *next;
	uint8_t user[RTS_BUF_USER_BYTES];
};

static struct {
	struct u_mutex lock; /* all buffers, also what users write into them */
	LIST_HEAD(, buf_data) datas;
} bufs = { .lock = U_MUTEX_INIT(RANK_BUF, "buffers") };

static void buf_put(struct rts_buf **buf)
{
	if (*buf)
		rts_object_put(&(*buf)->obj);
	*buf = NULL;
}

/* On success the lock is held, until buf_unlock(). What the device took along may still be freed: @gone. */
static int buf_lock_even(aclrtMbuf handle, bool gone, struct rts_buf **out)
{
	int r = rts_process_check_fork();

	if (r)
		return r;
	*out = (struct rts_buf *)rts_object_get(handle, RTS_BUF);
	if (*out) {
		u_mutex_lock(&bufs.lock);
		if ((*out)->data && (gone || (*out)->data->ptr))
			return 0;
		u_mutex_unlock(&bufs.lock);
	}
	buf_put(out);
	return u_report(ACL_ERROR_RT_PARAM_INVALID,
			"buffer %p is no live buffer of this process: freed, gone with its device, or never one",
			handle);
}

static int buf_lock(aclrtMbuf handle, struct rts_buf **out)
{
	return buf_lock_even(handle, false, out);
}

static void buf_unlock(struct rts_buf *buf)
{
	u_mutex_unlock(&bufs.lock);
	buf_put(&buf);
}

/* The lock is held. */
static int check_head(const struct rts_buf *buf, const char *what)
{
	if (!buf->prev)
		return 0;
	return u_report(ACL_ERROR_RT_PARAM_INVALID, "%s is inside a chain; only the head of a chain will do", what);
}

/* The same for a head only. */
static int head_lock(aclrtMbuf handle, bool gone, struct rts_buf **out)
{
	int r = buf_lock_even(handle, gone, out);

	if (r)
		return r;
	r = check_head(*out, "the buffer");
	if (r)
		buf_unlock(*out);
	return r;
}

/* The lock is held. */
static uint32_t chain_length(const struct rts_buf *head)
{
	uint32_t n = 0;

	for (; head; head = head->next)
		n++;
	return n;
}

/* ---- allocation and end ---- */

static void buf_released(struct rts_object *obj)
{
	free(obj);
}

/* With a handle; its reference to @data is the caller's to count. 207001, 207005 */
static int buf_new(struct buf_data *data, struct rts_buf **out)
{
	struct rts_buf *buf = calloc(1, sizeof(*buf));
	int r;

	if (!buf)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe a buffer");
	buf->data = data;
	r = rts_object_publish(&buf->obj, RTS_BUF, buf_released);
	if (r)
		free(buf);
	else
		*out = buf;
	return r;
}

/* The lock is held. *dead: with @data in front, if this was the last reference. */
static void data_put(struct buf_data *data, struct buf_data **dead)
{
	if (--data->refs)
		return;
	LIST_REMOVE(data, link);
	data->next_dead = *dead;
	*dead = data;
}

static void datas_free(struct buf_data *dead)
{
	while (dead) {
		struct buf_data *next = dead->next_dead;

		if (dead->ptr)
			(void)rts_memory_free(dead->ptr);
		free(dead);
		dead = next;
	}
}

/* In the list, with one reference. */
static int data_new(size_t size, struct buf_data **out)
{
	struct buf_data *data;
	uint32_t device;
	int r = rts_device_get(&device);

	if (r)
		return r;
	data = calloc(1, sizeof(*data));
	if (!data)
		return u_report(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory left to describe a buffer");
	r = rts_memory_alloc(size, ACL_MEM_MALLOC_HUGE_FIRST, &data->ptr);
	if (r) {
		free(data);
		return r;
	}
	data->device = device;
	data->size = size;
	data->refs = 1;
	u_mutex_lock(&bufs.lock);
	LIST_INSERT_HEAD(&bufs.datas, data, link);
	u_mutex_unlock(&bufs.lock);
	*out = data;
	return 0;
}

int rts_buf_alloc(size_t size, aclrtMbuf *handle)
{
	struct buf_data *data, *dead = NULL;
	struct rts_buf *buf;
	int r;

	if (size > RTS_BUF_BYTES_MAX)
		return u_report(ACL_ERROR_RT_PARAM_INVALID, "size is %zu; a buffer has at most %zu bytes", size,
				RTS_BUF_BYTES_MAX);
	r = data_new(size, &data);
	if (r)
		return r;
	r = buf_new(data, &buf);
	if (r) {
		u_mutex_lock(&bufs.lock);
		data_put(data, &dead);
		u_mutex_unlock(&bufs.lock);
		datas_free(dead);
		return r;
	}
	*handle = atomic_load(&buf->obj.handle);
	return 0;
}

/* The lock is held. Ends a chain; what is left of it is for chain_put() and datas_free(). */
static void chain_end(struct rts_buf *head, struct buf_data **dead)
{
	for (struct rts_buf *buf = head; buf; buf = buf->next) {
		(void)rts_object_unpublish(atomic_load(&buf->obj.handle), RTS_BUF);
		data_put(buf->data, dead);
		buf->data = NULL;
	}
}

static void chain_put(struct rts_buf *head)
{
	while (head) {
		struct rts_buf *next = head->next;

		rts_object_put(&head->obj);
		head = next;
	}
}

int rts_buf_free(aclrtMbuf handle)
{
	struct buf_data *dead = NULL;
	struct rts_buf *head;
	int r = head_lock(handle, true, &head);

	if (r)
		return r;
	chain_end(head, &dead);
	u_mutex_unlock(&bufs.lock);
	rts_object_put(&head->obj);
	chain_put(head);
	datas_free(dead);
	return 0;
}

void rts_buf_device_gone(uint32_t device)
{
	struct buf_data *data;

	u_mutex_lock(&bufs.lock);
	LIST_FOREACH(data, &bufs.datas, link)
		if (data->device == device)
			data->ptr = NULL;
	u_mutex_unlock(&bufs.lock);
}

/* ---- what is in it ---- */

int rts_buf_data(aclrtMbuf handle, void **data, size_t *size)
{
	struct rts_buf *buf;
	int r = buf_lock(handle, &buf);

	if (r)
		return r;
	*data = buf->data->ptr;
	*size = buf->data->size;
	buf_unlock(buf);
	return 0;
}

int rts_buf_set_len(aclrtMbuf handle, size_t len)
{
	struct rts_buf *buf;
	int r = buf_lock(handle, &buf);

	if (r)
		return r;
	if (len && len <= buf->data->size)
		buf->len = len;
	else
		r = u_report(ACL_ERROR_RT_PARAM_INVALID, "len is %zu; the buffer has room for 1 to %zu bytes", len,
			     buf->data->size);
	buf_unlock(buf);
	return r;
}

int rts_buf_len(aclrtMbuf handle, size_t *len)
{
	struct rts_buf *buf;
	int r = buf_lock(handle, &buf);

	if (r)
		return r;
	*len = buf->len;
	buf_unlock(buf);
	return 0;
}

int rts_buf_set_user(aclrtMbuf handle, const void *from, size_t size, size_t offset)
{
	struct rts_buf *buf;
	int r = buf_lock(handle, &buf);

	if (r)
		return r;
	memcpy(buf->user + offset, from, size);
	buf_unlock(buf);
	return 0;
}

int rts_buf_user(aclrtMbuf handle, void *to, size_t size, size_t offset)
{
	struct rts_buf *buf;
	int r = buf_lock(handle, &buf);

	if (r)
		return r;
	memcpy(to, buf->user + offset, size);
	buf_unlock(buf);
	return 0;
}

/* ---- chains ---- */

static void link_behind(struct rts_buf *tail, struct rts_buf *buf)
{
	tail->next = buf;
	buf->prev = tail;
}

static struct rts_buf *chain_tail(struct rts_buf *buf)
{
	while (buf->next)
		buf = buf->next;
	return buf;
}

/* The lock is held. *head: the copy as far as it came. */
static int copy_chain(const struct rts_buf *from, struct rts_buf **head)
{
	struct rts_buf *tail = NULL, *buf;
	int r;

	for (*head = NULL; from; from = from->next) {
		r = buf_new(from->data, &buf);
		if (r)
			return r;
		from->data->refs++;
		buf->len = from->len;
		memcpy(buf->user, from->user, sizeof(buf->user));
		if (tail)
			link_behind(tail, buf);
		else
			*head = buf;
		tail = buf;
	}
	return 0;
}

int rts_buf_copy_ref(aclrtMbuf handle, aclrtMbuf *copy)
{
	struct buf_data *none = NULL;
	struct rts_buf *buf, *head;
	int r = buf_lock(handle, &buf);

	if (r)
		return r;
	r = copy_chain(buf, &head);
	if (r)
		chain_end(head, &none);
	else
		*copy = atomic_load(&head->obj.handle);
	buf_unlock(buf);
	if (r)
		chain_put(head);
	return r;
}

/* The lock is held. */
static int append(struct rts_buf *head, struct rts_buf *buf)
{
	uint32_t there = chain_length(head), more = chain_length(buf);
	int r;

	if (head == buf)
		return u_report(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "a buffer cannot be appended to itself");
	r = check_head(head, "headBuf");
	if (!r)
		r = check_head(buf, "buf");
	if (!r && there + more > RTS_BUF_CHAIN_MAX)
		r = u_report(ACL_ERROR_RT_OVER_LIMIT, "a chain has at most %u buffers; this one would have %u",
			     RTS_BUF_CHAIN_MAX, there + more);
	if (!r)
		link_behind(chain_tail(head), buf);
	return r;
}

int rts_buf_append(aclrtMbuf head_handle, aclrtMbuf handle)
{
	struct rts_buf *head, *buf;
	int r = buf_lock(handle, &buf);

	if (r)
		return r;
	u_mutex_unlock(&bufs.lock);
	r = buf_lock(head_handle, &head);
	if (!r) {
		if (buf->data)
			r = append(head, buf);
		else
			r = u_report(ACL_ERROR_RT_PARAM_INVALID, "buffer %p was freed meanwhile", handle);
		buf_unlock(head);
	}
	buf_put(&buf);
	return r;
}

int rts_buf_at(aclrtMbuf head_handle, uint32_t index, aclrtMbuf *handle)
{
	struct rts_buf *head, *buf;
	uint32_t left = index;
	int r = head_lock(head_handle, false, &head);

	if (r)
		return r;
	for (buf = head; buf && left; left--)
		buf = buf->next;
	if (buf)
		*handle = atomic_load(&buf->obj.handle);
	else
		r = u_report(index < RTS_BUF_CHAIN_MAX ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_ERROR_RT_PARAM_INVALID,
			     "index is %u; the chain has %u buffers", index, chain_length(head));
	buf_unlock(head);
	return r;
}

int rts_buf_count(aclrtMbuf head_handle, uint32_t *count)
{
	struct rts_buf *head;
	int r = head_lock(head_handle, false, &head);

	if (r)
		return r;
	*count = chain_length(head);
	buf_unlock(head);
	return 0;
}
