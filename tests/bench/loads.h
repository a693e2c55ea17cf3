/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose launches are all different, as synthetic traces: four ordinary kernels (ordinary.cu) with sizes and
 * addresses that change from launch to launch, as when text is generated token by token.
 */
#ifndef TESTS_BENCH_LOADS_H
#define TESTS_BENCH_LOADS_H

#include "reader/trace_builder.h"

/* One stream, tensors in the segments of a caching allocator, a result fetched every 300 launches. */
void load_generation(struct tb *tb, uint64_t launches);
/* Four streams, each with slices of one allocation; all wait for each other every 4000 launches. */
void load_slices(struct tb *tb, uint64_t launches);
/* Four streams whose tensors lie between each other's in one allocation: whatever one touches has neighbours that
   others touch meanwhile, and only the bytes show that nothing is shared.  Sizes change with each launch, too. */
void load_rivals(struct tb *tb, uint64_t launches);
/* Rivals with new offsets each launch, and 256 kinds of launches: a kernel and its sizes. */
void load_moved_rivals(struct tb *tb, uint64_t launches);

/* Two streams that set the same bytes without any order, from so many call sites that there are at least so many
   findings. */
void load_hazards(struct tb *tb, uint64_t findings);

/* Calls from inside of libraries, forty frames deep, from 64 places that wait, with 50 MB of code recorded. */
void load_libraries(struct tb *tb, uint64_t launches, char **paths, unsigned n);
/* One stream, every twentieth kernel of libraries that hold device code, with made-up arguments. */
void load_kernels(struct tb *tb, uint64_t launches, char **paths, unsigned n);

#endif
