/* SPDX-License-Identifier: Apache-2.0 */
/* A trace built by hand, judged: what the tests of detect share. */
#ifndef TESTS_DETECT_JUDGE_H
#define TESTS_DETECT_JUDGE_H

#include <check.h>

#include "detect/detect.h"
#include "reader/trace_builder.h"

/* Device memory, pinned memory, pageable memory, streams and events of the tests. */
#define DEV	    0x7f0000000000ull
#define DEV2	    0x7f1000000000ull
#define PIN	    0x7e0000000000ull
#define HOST	    0x600000ull
#define S1	    0xa0ull
#define S2	    0xb0ull
#define S3	    0xc0ull
#define E1	    0xe10ull
#define E2	    0xe20ull
#define NONBLOCKING 1u

/* A trace with two non-blocking streams, two device allocations of 1 MiB and one pinned one. */
struct tb *two_streams(void);
/* An empty trace. */
struct tb *empty(void);
/* Closes the trace and judges it. */
struct sw_judgement *judged(struct tb *tb);
struct sw_judgement *judged_with(struct tb *tb, const struct sw_judge_options *options);
/* Closes the trace as after SIGKILL (no checksums), overwrites `bytes` random bytes of its records, and judges what is
   left; NULL when the reader refuses it. */
struct sw_judgement *judged_damaged(struct tb *tb, const struct sw_judge_options *options, uint64_t seed,
				    unsigned bytes);
/* The only finding with this id; the test fails when there is none or more than one. */
const struct sw_finding *only(const struct sw_judgement *j, int id);
size_t count_of(const struct sw_judgement *j, int id);
/* No hazards at all (SW1xx). */
void no_hazards(const struct sw_judgement *j);

void h2d(struct tb *tb, uint64_t dst, uint64_t src, uint64_t bytes, uint64_t stream);
void d2h(struct tb *tb, uint64_t dst, uint64_t src, uint64_t bytes, uint64_t stream);
void d2d(struct tb *tb, uint64_t dst, uint64_t src, uint64_t bytes, uint64_t stream);

/* Record on one stream, wait on the other. */
void order(struct tb *tb, uint64_t from, uint64_t to);
/* Less than n; the same numbers in each run. */
uint64_t random_below(uint64_t n);
/* Runs one test case and returns what main() returns. */
int run_cases(const char *name, void (*add)(TCase *tc));

#endif
