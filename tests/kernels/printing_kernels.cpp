/* SPDX-License-Identifier: MIT */
#include "kernel_operator.h"
#include "printing_kernels.h"

/* Lines in pieces: whoever writes the pieces as they come mixes the blocks. */
extern "C" __global__ __aicore__ void Lines(int count)
{
	for (int i = 0; i < count; i++) {
		AscendC::printf("block %d", block_idx);
		AscendC::PRINTF(" of %u", AscendC::GetBlockNum());
		AscendC::printf(" line %d\n", i);
	}
	AscendC::printf("end of %d", block_idx);
}

extern "C" __global__ __aicore__ void Formats(__gm__ void *address)
{
	enum color { red = 3 };
	int64_t big = -5000000000;

	AscendC::printf("plain 100%%\n");
	AscendC::printf("%d %i %u %x %X %o\n", -1, 2, -1, 255, 0xABCu, 8);
	AscendC::printf("%d %lld %u %llx\n", big, big, static_cast<uint64_t>(1) << 40, static_cast<uint64_t>(1) << 40);
	AscendC::printf("%hhx %hd %c|%5d|%-5d|%05d|%+d\n", 0x1ff, 0x18000, 'z', 42, 42, 42, 42);
	AscendC::printf("%*d|%-*d|%*d|%.*f\n", 4, 1, 4, 2, -4, 3, 2, 3.14159);
	AscendC::printf("%f %.1f %e %g %5.2f\n", 1.5f, 2.25, 1000.0, 0.5, 9.999);
	AscendC::printf("%s %.2s %s %d %d\n", "text", "text", static_cast<const char *>(nullptr), red, true);
	AscendC::printf("%p\n", address);
	/* what does not fit is shown as it stands */
	AscendC::printf("%d %s %f %n %q %5", 1.0, 5, 7, address);
	AscendC::printf("\n%d %d\n", 1);
	AscendC::printf("%99999d|\n", 1);
}

/* Twice the stdio buffer in one line. */
extern "C" __global__ __aicore__ void Long(int pieces)
{
	for (int i = 0; i < pieces; i++)
		AscendC::printf("%s", "0123456789abcdef");
	AscendC::printf("\n");
}


uint32_t launch_lines(uint32_t blocks, int count)
{
	return Lines<<<blocks, nullptr, nullptr>>>(count);
}

uint32_t launch_formats(void *address)
{
	return Formats<<<1, nullptr, nullptr>>>(address);
}

uint32_t launch_long(uint32_t blocks, int pieces)
{
	return Long<<<blocks, nullptr, nullptr>>>(pieces);
}
