/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: records of calls of libraries, around those of what the calls did. */
#ifndef SYNCWATCH_FORMAT_LIBRARIES_H
#define SYNCWATCH_FORMAT_LIBRARIES_H

#include "format_file.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sw_collective_op {
	SW_COLLECTIVE_ALL_REDUCE = 1,
	SW_COLLECTIVE_BROADCAST,
	SW_COLLECTIVE_REDUCE,
	SW_COLLECTIVE_ALL_GATHER,
	SW_COLLECTIVE_REDUCE_SCATTER,
	SW_COLLECTIVE_ALL_TO_ALL,
	SW_COLLECTIVE_GATHER,
	SW_COLLECTIVE_SCATTER,
	SW_COLLECTIVE_SEND,
	SW_COLLECTIVE_RECEIVE,
	SW_COLLECTIVE_GROUP_END = 64, /* the outermost: the calls of the group are launched here */
	SW_COLLECTIVE_COMMUNICATOR    /* a communicator is made, which may wait for other ranks */
};
enum {
	SW_COLLECTIVE_IN_GROUP = 1, /* launched by the GROUP_END of the thread that follows */
	SW_COLLECTIVE_SIMULATED = 2 /* ncclGroupSimulateEnd: nothing is launched */
};
/*
 * Written by libsyncwatch-nccl.so with BEGIN and END (struct sw_rec_end, status: ncclResult_t).  What the call itself
 * does with CUDA is between the two, on the same thread.
 */
struct sw_rec_collective {
	struct sw_rec h;
	uint64_t communicator; /* the same number in all its processes; 0 unknown */
	uint64_t number;       /* of the collective in the communicator, from 1; SEND, RECEIVE: 0 */
	uint64_t send, receive;
	uint64_t count; /* elements, as NCCL counts them for this operation */
	uint64_t stream;
	uint64_t handle; /* ncclComm_t */
	uint32_t op;	 /* enum sw_collective_op */
	uint32_t type;	 /* ncclDataType_t */
	uint32_t reduction;
	int32_t root;	     /* SEND, RECEIVE: the other rank; -1 none */
	uint32_t rank, size; /* in the communicator; size 0 unknown */
	uint32_t flags;	     /* SW_COLLECTIVE_* */
	uint32_t reserved;
};
static_assert(sizeof(struct sw_rec_collective) == 120, "packed");
enum sw_library_op {
	SW_LIBRARY_BEGIN = 1, /* a call that may put work on a stream begins */
	SW_LIBRARY_RETURN,    /* and returns: what its thread did with CUDA between the two is part of it */
	SW_LIBRARY_DONE,      /* a call succeeded that made `handle`, or changed what later calls of it do */
	SW_LIBRARY_GONE	      /* the handle is about to be destroyed */
};
/*
 * Written by libsyncwatch-libraries.so for calls of cuBLAS, cuFFT and others, the outermost ones.  Then `words` x u64,
 * the integer and pointer arguments as they were passed (32-bit ones extended), and the name of the function.  DONE of
 * a function of cuFFT that makes or plans has the bytes of the plan's work area (cufftGetSize()) after the arguments.
 */
struct sw_rec_library {
	struct sw_rec h;
	uint64_t handle;	    /* or plan; 0: none, or not made yet */
	uint32_t op;		    /* enum sw_library_op */
	int32_t result;		    /* RETURN: what the function returned */
	uint32_t words, name_bytes; /* 0 in RETURN */
};
static_assert(sizeof(struct sw_rec_library) == 56, "packed");

#ifdef __cplusplus
}
#endif

#endif
