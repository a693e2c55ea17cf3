/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a trace as if work that some call sites put on the legacy default stream were on a stream of its own: are
   there hazards that this order prevented? */
#ifndef SW_DETECT_MOVED_WORK_H
#define SW_DETECT_MOVED_WORK_H

#include "detect/detect.h"

struct sw_model;

/* Judges the record there.  False: it stays where it is. */
bool sw_moved_work(struct sw_model *m, const struct sw_record *record);

#endif
