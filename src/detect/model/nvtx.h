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
/* The rules (one bit each) that forbid calls in an NVTX range which the thread is in (model/forbidden.h). */
uint64_t sw_nvtx_rules(struct sw_model *m, uint32_t thread);
/* How often the thread has entered the scope of a rule. */
uint64_t sw_nvtx_entries(struct sw_model *m, uint32_t thread, uint32_t rule);
/* Where the recorder pauses or goes on: closes all ranges, since their ends may be missing. */
void sw_nvtx_forget(struct sw_model *m);
/* At the end: reports the ranges that have not ended. */
void sw_nvtx_finish(struct sw_model *m);
struct sw_nvtx_state *sw_nvtx_new(void);
void sw_nvtx_free(struct sw_nvtx_state *nvtx);

/*
 * Which call of a forward pass a backward pass belongs to, where PyTorch records it: emit_nvtx() names ranges
 * "aten::addmm, seq = 12" in the forward pass and "AddmmBackward0, seq = 12" in the backward pass
 * (torch/csrc/profiler/util.cpp, getNvtxStr).  Each thread that runs forward passes counts on its own.
 */

/* How many sequence numbers are remembered, the last ones. */
#define SW_FORWARD_CALLS 65536u

struct sw_forward {
	struct sw_forward_call {
		uint64_t sequence; /* 0 free */
		uint32_t stack;	   /* of the last call in the range; 0: several threads have this number */
		uint32_t thread;
		bool several;
	} * call; /* by sequence; NULL: none yet */
};

/* The meaning of a range's name. */
struct sw_forward_name {
	uint64_t sequence; /* number + 1; 0: none */
	bool backward;
};

#endif
