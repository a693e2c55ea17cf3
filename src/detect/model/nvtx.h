/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of NVTX: which ones a call was in.  A range that was pushed belongs to its thread; one that was started is
 * that of the thread which started it, whoever ends it: that other threads work for it is not known.
 */
#ifndef SW_DETECT_MODEL_NVTX_H
#define SW_DETECT_MODEL_NVTX_H

#include "base/map.h"
#include "reader/reader.h"

struct sw_model;
struct sw_nvtx_stack;

struct sw_nvtx_state {
	struct sw_map threads; /* thread, or the kernel's id of one that has made no call -> struct sw_nvtx_stack */
	struct sw_map started; /* id -> struct sw_nvtx_stack */
	struct sw_map alike;   /* name, domain and range around -> index in judgement.nvtx + 1 */
};

void sw_nvtx_take(struct sw_model *m, const struct sw_record *r);
/* The innermost range that the thread is in: index in judgement.nvtx + 1, 0 none. */
uint32_t sw_nvtx_of(struct sw_model *m, uint32_t thread);
/* Tells of those that have not ended. */
void sw_nvtx_finish(struct sw_model *m);
void sw_nvtx_free(struct sw_model *m);

#endif
