/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that the program excludes from judging (syncwatch_ignore(), syncwatch.h).  Not thread-safe. */
#ifndef SW_DETECT_HAZARDS_IGNORED_RANGES_H
#define SW_DETECT_HAZARDS_IGNORED_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct sw_model;
struct sw_intervals;
struct sw_range;

/* Accesses to [lo, hi) are not judged from here on, until sw_judge_range_again(). */
void sw_ignore_range(struct sw_model *m, uint64_t lo, uint64_t hi);
void sw_judge_range_again(struct sw_model *m, uint64_t lo, uint64_t hi);
/* Does the whole range lie in ignored memory?  Of an unbounded one the start decides. */
bool sw_note_ignored(const struct sw_model *m, const struct sw_range *range);
struct sw_intervals *sw_ignored_new(void);
void sw_ignored_free(struct sw_model *m);

#endif
