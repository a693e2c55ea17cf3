/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay of the run says, in words. */
#ifndef SW_REPORT_WORDS_GAIN_TEXT_H
#define SW_REPORT_WORDS_GAIN_TEXT_H

#include "detect/detect.h"
#include "report/symbols/names.h"

/* "; 1.2 ms to 1.5 ms of recoverable time", "" when nothing is known.  Lives as long as the names. */
const char *sw_replay_gain(struct sw_names *names, const struct sw_cost *cost);
/* What the interval rests on, a sentence each; NULL ends. */
const char *sw_replay_assumption(const struct sw_cost *cost, size_t index);
/* "host", "kernel", ...: what makes up the critical path; `work` counts for SW_STRETCH_WORK only. */
const char *sw_replay_stretch(enum sw_stretch_kind kind, enum sw_work_kind work);
/* "replay of 1234 operations, residual 0.1 %": what the numbers of all findings rest on; NULL: nothing was replayed. */
const char *sw_replay_basis(struct sw_names *names, const struct sw_schedule_facts *facts);

#endif
