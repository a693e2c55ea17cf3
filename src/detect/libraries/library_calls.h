/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of cuBLAS, cuFFT and others: which of them a CUDA call is part of, and the state of their handles.
 */
#ifndef SW_DETECT_LIBRARIES_LIBRARY_CALLS_H
#define SW_DETECT_LIBRARIES_LIBRARY_CALLS_H

#include "detect/detect.h"
#include "detect/memory/access.h"
#include "reader/reader.h"

struct sw_library_state;
struct sw_model;
struct sw_operand_set;

/* The meaning of the arguments of libraries' functions (library_arguments.def).  Pure functions; names are not
 * terminated.
 */

struct sw_library_setting {
	uint64_t workspace, bytes; /* bytes 0: none, SW_LIBRARY_UNKNOWN: unknown */
};
#define SW_LIBRARY_UNKNOWN UINT64_MAX

#define SW_LIBRARY_MAX_WORDS 40u
#define SW_LIBRARY_MADE	     8u

/* The basic layout of a plan of cuFFT. */
struct sw_library_plan {
	uint32_t rank; /* 0: not known */
	uint64_t n[3], batch;
};

/* A call that a thread is in. */
struct sw_library_open {
	uint32_t index; /* in judgement.library_calls, + 1 */
	uint32_t call;	/* number of this call */
	uint64_t begin; /* its record */
	uint32_t words;
	uint64_t word[SW_LIBRARY_MAX_WORDS]; /* arguments, vector registers left out */
	bool device_scalars;		     /* its handle's pointer mode */
	struct sw_library_plan plan;	     /* of its handle */
	uint32_t operands;		     /* its operands: number of the set, 0 not known */
	uint32_t allocations;		     /* in it so far, the last ones below */
	struct sw_library_setting made[SW_LIBRARY_MADE];
};

/* A LIBRARY record. */
void sw_library_take(struct sw_model *m, const struct sw_record *r);
/* Records were lost. */
void sw_library_lost(struct sw_model *m);
/* The call that the thread is in; NULL: none.  Valid until the next record. */
const struct sw_library_open *sw_library_open_of(const struct sw_model *m, uint32_t thread);
/* The set with this number. */
const struct sw_operand_set *sw_library_operand_set(const struct sw_model *m, uint32_t number);
/* The thread allocated memory. */
void sw_library_allocated(struct sw_model *m, uint32_t thread, uint64_t address, uint64_t bytes);
struct sw_library_state *sw_library_new(void);
void sw_library_free(struct sw_library_state *library);

/* The bytes that a call of cuBLAS or cuFFT reads and writes by its arguments.  Pure functions. */

#define SW_LIBRARY_OPERANDS 8u

struct sw_operands {
	uint32_t n; /* 0: not known from the arguments */
	struct sw_range at[SW_LIBRARY_OPERANDS];
};
/* Operands as the judge keeps them: each set once. */
struct sw_operand_set {
	uint32_t n;
	const struct sw_range *at;
};

/* All that the call may touch of the program's memory, apart from its workspace. */
struct sw_operands sw_library_operands(const struct sw_library_open *open, const char *function);

#endif
