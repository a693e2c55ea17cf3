/* SPDX-License-Identifier: Apache-2.0 */
/* What a record costs here: measured at start-up, so that a report can say how much the recorder itself took. */
#ifndef SW_PRELOAD_RECORDER_RECORD_COST_H
#define SW_PRELOAD_RECORDER_RECORD_COST_H

#include "preload/recorder/recorder.h"

/* Fills the header's cost field; about a tenth of a millisecond. Before the state is ON: uses the calling thread. */
void sw_cost_measure(void);

/* The same with a stack that is remembered, for the other field; when stacks are on and the module map is fresh. */
void sw_cost_measure_stack(void);

#endif
