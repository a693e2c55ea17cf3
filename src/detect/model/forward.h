/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call of a forward pass a backward pass belongs to, where PyTorch records it: emit_nvtx() names ranges
 * "aten::addmm, seq = 12" in the forward pass and "AddmmBackward0, seq = 12" in the backward pass
 * (torch/csrc/profiler/util.cpp, getNvtxStr).  Each thread that runs forward passes counts on its own.
 */
#ifndef SW_DETECT_MODEL_FORWARD_H
#define SW_DETECT_MODEL_FORWARD_H

#include "reader/reader.h"

struct sw_model;

/* How many sequence numbers are remembered, the last ones. */
#define SW_FORWARD_CALLS 65536u

struct sw_forward {
	struct sw_forward_call {
		uint64_t sequence; /* 0 free */
		uint32_t stack;	   /* of the last call in the range; 0: several threads have this number */
		uint32_t thread;
	} * call; /* by sequence; NULL: none yet */
};

/* What a range's name says. */
struct sw_forward_name {
	uint64_t sequence; /* number + 1; 0: none */
	bool backward;
};
struct sw_forward_name sw_forward_name(const char *name);

/* A call was made in such a range: remembers its stack, or returns the stack of the forward call; 0 unknown. */
uint32_t sw_forward_take(struct sw_model *m, struct sw_forward *forward, struct sw_forward_name name,
			 const struct sw_record *r);

#endif
