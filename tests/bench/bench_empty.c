/* SPDX-License-Identifier: MIT */
/*
 * bench_empty - the program that bench_share compares starts and resident sizes with: nothing but the C library. With an
 * argument it says on stdout that it is there and stays until stdin answers.
 */
#include <unistd.h>

int main(int argc, char **argv)
{
	char c = 0;

	(void)argv;
	if (argc == 1)
		return 0;
	return write(STDOUT_FILENO, &c, 1) != 1 || read(STDIN_FILENO, &c, 1) != 1;
}
