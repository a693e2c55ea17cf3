/* SPDX-License-Identifier: Apache-2.0 */
/* Launches by chance, the same for who records them and for who reads them. */
#ifndef SW_TESTS_LAUNCH_SEQUENCE_H
#define SW_TESTS_LAUNCH_SEQUENCE_H

#include <stdint.h>
#include <string.h>

#include "syncwatch/format.h"

#define KERNELS 150u /* more than are remembered at once */
#define LONGEST 6002u

struct made_launch {
	struct sw_rec_launch launch;
	uint32_t bytes;
	unsigned char block[LONGEST];
};

struct launch_sequence {
	uint64_t state; /* the seed */
	struct made_launch of[KERNELS];
};

static inline uint32_t any(struct launch_sequence *s, uint32_t below)
{
	s->state = s->state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(s->state >> 33) % below;
}

static inline uint32_t bytes_of(uint32_t kernel)
{
	static const uint16_t odd[] = {0, 4, 12, 7, 1025, 1024, LONGEST, 1400};
	return kernel < 8 ? odd[kernel] : kernel % 16 * (kernel % 3 ? 8 : 52) + 8;
}

/* Changes a part of the block, as what a program leaves uninitialised differs from launch to launch. */
static inline void change_part(struct launch_sequence *s, struct made_launch *e)
{
	const uint32_t first = any(s, e->bytes), bytes = any(s, e->bytes - first + 1), step = any(s, 12) + 1;
	for (uint32_t i = first; i < first + bytes; i += step)
		e->block[i] = (unsigned char)any(s, 256);
}

/* Mostly what this kernel had last time, with a little changed. */
static inline const struct made_launch *next_launch(struct launch_sequence *s)
{
	const uint32_t kernel = any(s, 4) ? any(s, 6) + 8 : any(s, KERNELS);
	struct made_launch *e = &s->of[kernel];
	e->bytes = bytes_of(kernel);
	if (!e->launch.function || !any(s, 6)) {
		e->launch.function = kernel + 1;
		e->launch.stream = any(s, 3) * 64;
		e->launch.grid[any(s, 3)] = any(s, 100) + 1;
		e->launch.block[any(s, 3)] = (uint16_t)(any(s, 32) + 1);
		e->launch.shared_bytes = any(s, 2) * 128;
		e->launch.flags = any(s, 2) ? SW_LAUNCH_COOPERATIVE : 0;
	}
	for (uint32_t n = any(s, 3) ? 0 : any(s, 9); n && e->bytes; n--)
		e->block[any(s, e->bytes)] = (unsigned char)any(s, 4);
	if (e->bytes && !any(s, 8))
		change_part(s, e);
	return e;
}

#endif
