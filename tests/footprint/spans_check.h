/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the tests of spans share. */
#ifndef TESTS_FOOTPRINT_SPANS_CHECK_H
#define TESTS_FOOTPRINT_SPANS_CHECK_H

#include <stdio.h>

#include "footprint/launch_spans.h"
#include "terms.h"

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			spans_failed++;                                                                                \
		}                                                                                                      \
	} while (0)

/* CHECKs that failed. */
extern unsigned spans_failed;

/* Does a launch after others have the spans that it has alone? */
bool spans_serve(struct sw_spans *spans, const struct terms *t);
/* Compares launches that differ in one parameter: pointers elsewhere, other numbers. */
bool spans_serve_moved(struct sw_spans *spans, struct terms *t);

/* An access of 4 bytes at the term. */
void spans_add_site(struct terms *t, uint32_t address);
uint32_t spans_number(struct terms *t, unsigned width, int64_t value);
/* Parameter 0 + 4 * index, which has 32 bits. */
uint32_t spans_element_at(struct terms *t, uint32_t index);
uint32_t spans_thread(struct terms *t);

#endif
