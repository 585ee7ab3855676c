/* SPDX-License-Identifier: MIT */
/*
 * Code of the host in a stream. aclrtLaunchHostFunc() lets a thread of the library run it; aclrtLaunchCallback() the thread that the
 * program has subscribed, while that is in aclrtProcessReport(). A stream has the one or the other.
 */
#include "example.h"
#include "value.h"

#include <pthread.h>
#include <semaphore.h>

#define ROUNDS 3

static aclrtStream stream, subscribed;
static pthread_t main_thread, reporter;
static sem_t ready;

static void host_function(void *arg)
{
	example_say("host function %d runs in %s", *(int *)arg,
		    pthread_equal(pthread_self(), main_thread) ? "the main thread" : "a thread of the library");
}

/* What it does to its own stream would wait for itself. */
static void callback(void *arg)
{
	example_say("callback %d runs in %s", *(int *)arg,
		    pthread_equal(pthread_self(), reporter) ? "the subscribed thread" : "some thread");
	example_say("it may not wait for its own stream:");
	REFUSED(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStream(subscribed));
}

/* Serves callbacks until it is unsubscribed; a second without one is no error. */
static void *report(void *context)
{
	aclError code;

	CHECK(aclrtSetCurrentContext(context));
	CHECK(aclrtSubscribeReport((uint64_t)pthread_self(), subscribed));
	sem_post(&ready);
	do
		code = aclrtProcessReport(1000);
	while (!code || code == ACL_ERROR_RT_REPORT_TIMEOUT);
	if (code != ACL_ERROR_RT_THREAD_SUBSCRIBE)
		CHECK(code);
	return NULL;
}

static void queue_round(int *number, int32_t *value)
{
	CHECK(aclrtLaunchHostFunc(stream, host_function, number));
	CHECK(aclrtLaunchCallback(callback, number, ACL_CALLBACK_BLOCK, subscribed));
	CHECK(value_store(value, *number, subscribed));
}

int main(void)
{
	int numbers[ROUNDS];
	aclrtContext context;
	void *value;

	example_begin("callbacks");
	main_thread = pthread_self();
	sem_init(&ready, 0, 0);
	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtGetCurrentContext(&context));
	CHECK(aclrtCreateStream(&stream));
	CHECK(aclrtCreateStream(&subscribed));
	CHECK(aclrtMalloc(&value, sizeof(int32_t), ACL_MEM_MALLOC_NORMAL_ONLY));
	example_say("nobody is subscribed yet:");
	REFUSED(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(callback, numbers, ACL_CALLBACK_BLOCK, subscribed));
	if (pthread_create(&reporter, NULL, report, context))
		example_fail("no thread");
	sem_wait(&ready);
	for (int i = 0; i < ROUNDS; i++) {
		numbers[i] = i + 1;
		queue_round(&numbers[i], value);
	}
	CHECK(aclrtSynchronizeStream(stream));
	CHECK(aclrtSynchronizeStream(subscribed));
	example_say("the kernel after callback %d was the last", value_fetch(value, subscribed));

	CHECK(aclrtUnSubscribeReport((uint64_t)reporter, subscribed));
	pthread_join(reporter, NULL);
	CHECK(aclrtFree(value));
	CHECK(aclrtDestroyStream(stream));
	CHECK(aclrtDestroyStream(subscribed));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	sem_destroy(&ready);
	return 0;
}
