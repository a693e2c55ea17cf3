/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels and what they touch when they are executed thread by thread.  Not thread-safe. */
#ifndef TESTS_FOOTPRINT_ORACLE_H
#define TESTS_FOOTPRINT_ORACLE_H

#include "terms.h"

#define ORACLE_BASE  UINT64_C(0x7f0000100000) /* parameter 0 */
#define ORACLE_BYTES (1u << 20)		      /* a kernel that touches more is left out */

/* Below n, from the state that oracle_make() has set. */
uint64_t oracle_random(uint64_t n);

struct oracle_kernel {
	struct terms *t;
	uint32_t pool[4][64]; /* terms of 8, 16, 32, 64 bits */
	uint32_t n[4];
	uint32_t loops;			   /* 0 to 2, the second in the first */
	bool data;			   /* something is loaded */
	bool plain;			   /* only what compilers make of ordinary index arithmetic */
	bool extreme;			   /* numbers next to the ends of types */
	uint32_t outer[3], outers, truths; /* guards around all sites; a bit each: which way */
};

/* The kernel of a seed; k->t is the caller's to free. */
void oracle_make(struct oracle_kernel *k, uint64_t seed);
/* One with many numbers next to the ends of types. */
void oracle_make_extreme(struct oracle_kernel *k, uint64_t seed);
/* One of many sites that have their outer guards in common, as those of unrolled loops do. */
void oracle_make_guarded(struct oracle_kernel *k, uint64_t seed);
/* One whose addresses are made from the digits of an index, in another way each. */
void oracle_make_digits(struct oracle_kernel *k, uint64_t seed);

struct oracle_touch {
	uint64_t address;
	uint32_t role;
};

struct oracle_touched {
	struct oracle_touch *at;
	size_t n;
};

/* Fills *out, whose array has room for ORACLE_BYTES.  false: too long, or undefined on the machine; *out is incomplete.
 */
bool oracle_run(const struct oracle_kernel *k, struct oracle_touched *out);

#endif
