/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of NVTX: which ones a call was in.  A range that was pushed belongs to its thread; one that was started
 * belongs to the thread that started it, whichever thread ends it: which other threads work for it is unknown.
 */
#ifndef SW_DETECT_MODEL_NVTX_H
#define SW_DETECT_MODEL_NVTX_H

#include "reader/reader.h"

struct sw_model;
struct sw_nvtx_state;

void sw_nvtx_take(struct sw_model *m, const struct sw_record *r);
/* The innermost range that the thread is in: index in judgement.nvtx + 1, 0: none. */
uint32_t sw_nvtx_of(struct sw_model *m, uint32_t thread);
/* The stack of the forward call whose backward pass this call is part of; 0 unknown. */
uint32_t sw_nvtx_forward(struct sw_model *m, const struct sw_record *r);
/* Reports ranges that have not ended. */
void sw_nvtx_finish(struct sw_model *m);
struct sw_nvtx_state *sw_nvtx_new(void);
void sw_nvtx_free(struct sw_nvtx_state *nvtx);

#endif
