/* SPDX-License-Identifier: MIT */
/* vinciLaunchKernel on one thread a block, all at once, finished when it returns. */
#include "launcher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct launcher_record launcher_last;
struct vinci_symbol *launcher_symbols;

struct job {
	pthread_t thread;
	const struct vinci_kernel *kernel;
	const void *args;
	struct vinci_block block;
	pthread_barrier_t *start;
};

static void *run_block(void *data)
{
	struct job *job = data;

	(void)pthread_barrier_wait(job->start);
	job->kernel->run(job->args, &job->block);
	return NULL;
}

static void run_all(const struct vinci_kernel *kernel, uint32_t block_dim, const void *args)
{
	struct job *jobs = calloc(block_dim, sizeof(*jobs));
	pthread_barrier_t start;
	uint32_t i;

	if (!jobs || pthread_barrier_init(&start, NULL, block_dim))
		abort();
	for (i = 0; i < block_dim; i++) {
		jobs[i] = (struct job){ .kernel = kernel, .args = args, .start = &start };
		jobs[i].block = (struct vinci_block){ .index = i, .count = block_dim };
		if (pthread_create(&jobs[i].thread, NULL, run_block, &jobs[i]))
			abort();
	}
	for (i = 0; i < block_dim; i++)
		(void)pthread_join(jobs[i].thread, NULL);
	(void)pthread_barrier_destroy(&start);
	free(jobs);
}

uint32_t vinciLaunchKernel(const struct vinci_kernel *kernel, uint32_t block_dim, void *stream, const void *args,
			   size_t args_size)
{
	void *copy;

	launcher_last = (struct launcher_record){ kernel, block_dim, stream, args_size, launcher_last.launches + 1 };
	if (block_dim == 0)
		return 107000;
	/* exactly the size, so that a sanitizer sees a kernel that reads beyond its slots */
	copy = malloc(args_size ? args_size : 1);
	if (!copy)
		abort();
	memcpy(copy, args, args_size);
	run_all(kernel, block_dim, copy);
	free(copy);
	return 0;
}

void vinciRegisterSymbol(struct vinci_symbol *symbol)
{
	symbol->next = launcher_symbols;
	launcher_symbols = symbol;
}

void vinciUnregisterSymbol(struct vinci_symbol *symbol)
{
	struct vinci_symbol **at;

	for (at = &launcher_symbols; *at && *at != symbol; at = &(*at)->next)
		;
	if (*at)
		*at = symbol->next;
}
