/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a trace as if waits of some call sites were replaced by edges between streams, and waits for some of them: are
   there hazards that only the rest of the wait prevented? */
#ifndef SW_DETECT_NARROWED_WAITS_H
#define SW_DETECT_NARROWED_WAITS_H

#include "detect/detect.h"

struct sw_model;

/* Judges what is left of the wait.  False: the record is none of them. */
bool sw_narrowed_wait(struct sw_model *m, const struct sw_record *record);

#endif
