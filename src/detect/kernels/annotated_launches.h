/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of the program about the next launch on a stream (syncwatch.h). */
#ifndef SW_DETECT_KERNELS_ANNOTATED_LAUNCHES_H
#define SW_DETECT_KERNELS_ANNOTATED_LAUNCHES_H

#include <stdbool.h>

struct sw_model;
struct sw_annotated;
struct sw_record;
struct sw_wait;
struct sw_rec_annotation;

/* Keeps a range that the next launch on its stream reads or writes, as an annotation of the program says, for
   sw_note_launch(). */
void sw_note_range(struct sw_model *m, const struct sw_record *r, const struct sw_rec_annotation *a);
/* Enters the accesses that the program declared for the current launch; false: it declared none. */
bool sw_note_launch(struct sw_model *m, struct sw_wait *w);
struct sw_annotated *sw_annotated_new(void);
void sw_annotated_free(struct sw_annotated *annotated);

#endif
