/* SPDX-License-Identifier: MIT */
/*
 * The unified buffer of the core that runs the calling thread's block. It is there from the block's first use of it to
 * the block's end, with the size of an Atlas A2's; tensors in it are checked against its bounds, so that a kernel's
 * slip fails the kernel and not whatever the host keeps behind it.
 */
#ifndef VINCI_ASCENDC_BUFFER_H
#define VINCI_ASCENDC_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "block.h"

namespace vinci_ascendc __attribute__((visibility("hidden"))) {

/* What a card does in its own way, by hanging or by an exception of the core; here the task fails, with a reason. */
[[noreturn]] inline void fail(const char *why)
{
	(void)std::fprintf(stderr, "AscendC: block %lld: %s\n", static_cast<long long>(::block_idx), why);
	__builtin_trap();
}

constexpr size_t data_block = 32; /* bytes: what vector instructions and copies count in */

constexpr size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* Trivial, like line_printer: it goes with the block, or with the thread's next one if the block faulted. */
struct unified_buffer {
	static constexpr size_t size = 192 * 1024;

	unsigned char *base;
	size_t used;

	/* @bytes of it from an address of the core's. */
	unsigned char *place(size_t offset, size_t bytes)
	{
		if (!base)
			base = static_cast<unsigned char *>(std::aligned_alloc(512, size));
		if (!base)
			fail("out of host memory for the unified buffer");
		if (offset > size || bytes > size - offset)
			fail("a tensor is placed beyond the unified buffer of 192 KiB");
		return base + offset;
	}

	unsigned char *take(size_t bytes)
	{
		unsigned char *at;

		bytes = round_up(bytes, data_block);
		if (bytes > size - used)
			fail("InitBuffer: the unified buffer of 192 KiB is full");
		at = place(used, bytes);
		used += bytes;
		return at;
	}

	void check(const void *at, size_t bytes) const
	{
		size_t offset = static_cast<size_t>(static_cast<const unsigned char *>(at) - base);

		if (!base || offset > size || bytes > size - offset)
			fail("an operation reaches beyond the unified buffer");
	}

	void release()
	{
		if (!base)
			return;
		std::free(base);
		base = nullptr;
		used = 0;
	}
};

inline thread_local unified_buffer ub = {nullptr, 0};

} // namespace vinci_ascendc

#endif /* VINCI_ASCENDC_BUFFER_H */
