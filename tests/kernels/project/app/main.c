/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>

#ifdef WITH_STUB
#define run_twice run_twice_by_stub
#endif
uint32_t run_twice(int *data);

int main(void)
{
	int data[3] = { 1, 10, 100 };
	uint32_t error = run_twice(data);

	printf("%u %d %d %d\n", error, data[0], data[1], data[2]);
	return 0;
}
