/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that never stops making and ending things: streams, events, allocations of every kind, captures, graphs and
 * executable graphs.  Judged piece by piece, so that its trace can be longer than any disk.
 */
#ifndef TESTS_DETECT_CHURN_H
#define TESTS_DETECT_CHURN_H

#include <stdint.h>

#include "detect/dispatch.h"
#include "detect/model/model.h"
#include "detect/waits/device_times.h"

struct churn {
	struct sw_model *model;
	struct sw_judgement judgement;
	struct sw_arena arena;
	struct sw_times times;	 /* none: no device had any */
	struct sw_reader *first; /* of the first piece: what it described lives on */
	uint64_t rounds, seq, now;
	uint64_t operations; /* so far */
	double seconds;	     /* of processor time, spent on reading and judging them */
};

void churn_start(struct churn *churn);
/* Writes, reads and judges as many rounds. */
void churn_go_on(struct churn *churn, uint64_t rounds);
void churn_end(struct churn *churn);

/* Bytes that the process holds on the heap; 0 where malloc does not say. */
uint64_t churn_heap(void);

#endif
