/* SPDX-License-Identifier: MIT */
/*
 * Devices and contexts. A thread works in its current context, and a new one has none until it takes one; streams belong to a
 * context, and tasks are queued from there only.
 */
#include "example.h"
#include "value.h"

#include <pthread.h>

#define DEVICES 2

struct place {
	aclrtContext context;
	aclrtStream stream;
	int32_t *value;
};

static void describe(int32_t device)
{
	int64_t cores;
	size_t left, total;

	CHECK(aclrtSetDevice(device));
	CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
	CHECK(aclrtGetDeviceInfo((uint32_t)device, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
	example_say("device %d: %s, %zu GiB, %lld vector cores", device, aclrtGetSocName(), total >> 30,
		    (long long)cores);
	CHECK(aclrtResetDevice(device));
}

/* Creating a context makes it the thread's current one, and what follows happens on its device. */
static struct place open_place(int32_t device)
{
	struct place p;

	CHECK(aclrtCreateContext(&p.context, device));
	CHECK(aclrtCreateStream(&p.stream));
	CHECK(aclrtMalloc((void **)&p.value, sizeof(*p.value), ACL_MEM_MALLOC_NORMAL_ONLY));
	return p;
}

static void close_place(struct place *p)
{
	CHECK(aclrtSetCurrentContext(p->context));
	CHECK(aclrtFree(p->value));
	CHECK(aclrtDestroyStream(p->stream));
	CHECK(aclrtDestroyContext(p->context));
}

static void *in_thread(void *arg)
{
	struct place *p = arg;
	int32_t device;

	example_say("a new thread has no context:");
	REFUSED(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
	CHECK(aclrtSetCurrentContext(p->context));
	CHECK(aclrtGetDevice(&device));
	CHECK(value_store(p->value, EXAMPLE_VALUE, p->stream));
	example_say("it took one, is on device %d, and reads %d there", device, value_fetch(p->value, p->stream));
	return NULL;
}

int main(void)
{
	struct place places[DEVICES];
	pthread_t thread;
	int32_t device;

	example_begin("contexts");
	CHECK(aclInit(NULL));
	for (int32_t i = 0; i < DEVICES; i++)
		describe(i);
	for (int32_t i = 0; i < DEVICES; i++)
		places[i] = open_place(i);
	CHECK(aclrtGetDevice(&device));
	example_say("the context made last is current: device %d", device);
	example_say("a stream of the other context takes nothing from here:");
	REFUSED(ACL_ERROR_RT_STREAM_CONTEXT, value_store(places[0].value, 1, places[0].stream));
	CHECK(aclrtSetCurrentContext(places[0].context));
	CHECK(value_store(places[0].value, 1, places[0].stream));
	CHECK(aclrtSynchronizeStream(places[0].stream));
	if (pthread_create(&thread, NULL, in_thread, &places[1]) || pthread_join(thread, NULL))
		example_fail("no thread");
	CHECK(aclrtGetDevice(&device));
	example_say("this thread is still on device %d", device);
	for (int32_t i = 0; i < DEVICES; i++)
		close_place(&places[i]);
	CHECK(aclFinalize());
	return 0;
}
