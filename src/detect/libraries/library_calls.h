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

/* Memory that a library works in, or allocated. */
struct sw_library_memory {
	uint64_t address, bytes; /* bytes 0: none, SW_LIBRARY_UNKNOWN: unknown */
};
#define SW_LIBRARY_UNKNOWN UINT64_MAX

#define SW_LIBRARY_MAX_WORDS 40u
#define SW_LIBRARY_ALLOCATED 8u

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
	uint32_t allocations;		     /* in it so far; allocated[]: a ring of the last ones */
	struct sw_library_memory allocated[SW_LIBRARY_ALLOCATED];
};

/* Follows a LIBRARY record: the call that its thread is in begins, returns or is done, or a handle is gone. */
void sw_library_take(struct sw_model *m, const struct sw_record *r);
/* Records were lost: no thread is in a call any more, and of handles nothing but their numbers is known. */
void sw_library_lost(struct sw_model *m);
/* The call that the thread is in; NULL: none.  Valid until the next record. */
const struct sw_library_open *sw_library_open_of(const struct sw_model *m, uint32_t thread);
/* The operands with this number (of sw_library_open or sw_access).  0, or a number that is not known: an empty set, the
   operands are not known from the arguments. */
const struct sw_operand_set *sw_library_operand_set(const struct sw_model *m, uint32_t number);
/* After each allocation: notes it if the thread is in a call of a library, since a plan of cuFFT that ends finds its
   own work area among them, by its size. */
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
