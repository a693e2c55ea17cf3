/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of the kernels of ordinary.cu with arguments that are new each time: other tensors, sizes and strides. */
#ifndef TESTS_BENCH_ORDINARY_H
#define TESTS_BENCH_ORDINARY_H

#include <stddef.h>
#include <stdint.h>

#define ORDINARY_BLOCK 4096 /* bytes of a parameter block, at most */

struct ordinary_launch {
	uint32_t grid[3], block[3];
	_Alignas(16) unsigned char params[ORDINARY_BLOCK];
	uint32_t at; /* bytes used */
};

struct ordinary_kernel {
	const char *name;
	void (*make)(struct ordinary_launch *launch);
	uint32_t params;
	uint16_t bytes[12]; /* of each parameter; aligned to 8 if it has 8 or more, as all structures here */
};
extern const struct ordinary_kernel ordinary_kernels[];
extern const size_t n_ordinary_kernels;

void ordinary_seed(uint64_t seed);
uint64_t ordinary_random(uint64_t below);
/* Only addresses are new from here on: everything else repeats what `seed` gives. */
void ordinary_launch(const struct ordinary_kernel *kernel, uint64_t shapes, uint64_t addresses,
		     struct ordinary_launch *out);

#endif
