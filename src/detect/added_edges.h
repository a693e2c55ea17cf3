/* SPDX-License-Identifier: Apache-2.0 */
/* Order that the run had and the trace does not show: edges that `syncwatch confirm` added to the program's calls.
 */
#ifndef SW_DETECT_ADDED_EDGES_H
#define SW_DETECT_ADDED_EDGES_H

#include "detect/detect.h"

struct sw_model;

/* Before and after each record is judged: the edges that end, or begin, at its call. */
void sw_added_edges_before(struct sw_model *m, const struct sw_record *record);
void sw_added_edges_after(struct sw_model *m, const struct sw_record *record);

#endif
