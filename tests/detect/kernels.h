/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the tests of footprints, as PTX for the architecture of the traces' device, and launches of them. */
#ifndef TESTS_DETECT_KERNELS_H
#define TESTS_DETECT_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/trace_builder.h"

/* The module, NUL-terminated; *bytes without the NUL. */
const char *test_kernels(size_t *bytes);
/* Code for another architecture: not the code that ran. */
const char *test_kernels_elsewhere(size_t *bytes);

/* One block of 256 threads unless the test says otherwise: elements are of 4 bytes. */
struct test_call {
	const char *kernel;
	uint32_t words;
	uint64_t word[3];
};
/* clang-format off */
#define CALL(kernel, words, ...) {kernel, words, {__VA_ARGS__}}
/* clang-format on */
#define FILL(p, first, n)	   CALL("fill", 2, p, (uint32_t)(first) | (uint64_t)(n) << 32)
#define COPY(out, in, n)	   CALL("copy", 3, out, in, n)
#define SCATTER(p, index, n)	   CALL("scatter", 3, p, index, n)
#define MASKED(p, index, n)	   CALL("masked", 3, p, index, n)
#define COUNT(p, n)		   CALL("count", 2, p, n)
#define SIGNAL(p, n)		   CALL("signal", 2, p, n)
#define MEMBERS(stale, used, n)	   CALL("members", 3, stale, used, n)
#define CHASE(table)		   CALL("chase", 1, table)
#define EITHER(table, plain, mode) CALL("either", 3, table, plain, mode)
#define FORTH(p)		   CALL("forth", 1, p)
#define BACK(p)			   CALL("back", 1, p)
#define VARIABLE		   CALL("variable", 0, 0)
#define LOOK_UP(p)		   CALL("look_up", 1, p)
#define FETCH(p, texture)	   CALL("fetch", 2, p, texture)
#define DRAW(surface, first)	   CALL("draw", 2, surface, (uint32_t)(first))
#define DRAW_ANY(surface, layer)   CALL("draw_any", 2, surface, layer)
#define WILD(p)			   CALL("wild", 1, p)
#define WAITS(p, flags, n)	   CALL("waits", 3, p, flags, n)

/* out[i] = in[i] by programmatic dependent launch: "early" triggers before, "late" after it, "first" triggers, then
   waits, before it, "middle" the other way round, "behind" waits before it, "between" waits between load and store,
   "perhaps" waits where `waits` is not 0. */
#define OVERLAPPING(kernel, out, in, n) CALL(kernel, 3, out, in, n)
#define PERHAPS(out, in, waits)		CALL("perhaps", 3, out, in, waits)

/* Functions described from now on are of that module.  Returns tb. */
struct tb *with_code(struct tb *tb);
/* Describes one of the kernels. */
uint32_t test_function(struct tb *tb, const char *name);
struct sw_rec_launch *test_launch(struct tb *tb, const struct test_call *call, uint64_t stream);

/* A kernel that writes or reads the tensor of a map, as cuBLAS makes them, and p[i].  By random a row of 4-byte
   elements of some length; now and then it is a long one, or the map is none. */
uint32_t test_tensor_function(struct tb *tb);
void test_launch_tensor(struct tb *tb, uint32_t function, uint64_t address, uint64_t p, uint64_t random,
			uint64_t stream);

#endif
