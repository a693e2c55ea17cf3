/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-libraries.so: records calls of cuBLAS, cuBLASLt, cuDNN, cuFFT, cuSPARSE and cuSOLVER.
 *
 * It defines their functions (functions.def), so that objects that link these libraries reach it first, and calls those
 * of the library that is loaded.  Each definition is a stub of three instructions that jumps to one trampoline
 * (entry_*.S): a function that is never called costs an entry of the symbol table.  A look-up by dlsym() (JAX, parts of
 * CuPy, ctypes) gets the stub as well (preload/platform/named_function.h).
 */
#ifndef SW_PRELOAD_LIBRARIES_LIBRARIES_H
#define SW_PRELOAD_LIBRARIES_LIBRARIES_H

#include <stdint.h>

/* ---- the table (calls.c) ---------------------------------------------------------------------------------------- */

enum sw_wrapped_library {
	SW_LIBRARY_cublas,
	SW_LIBRARY_cublasLt,
	SW_LIBRARY_cufft,
	SW_LIBRARY_cusparse,
	SW_LIBRARY_cusolver,
	SW_LIBRARY_cudnn,
	SW_LIBRARIES
};

enum sw_function_kind { SW_KIND_WORK, SW_KIND_MAKES, SW_KIND_BUILDS, SW_KIND_STATE, SW_KIND_ENDS };

/* Without pointers: nothing of the table is written to when the object is loaded. */
struct sw_library_function {
	uint16_t name, arguments; /* offsets in library_text */
	uint8_t library, kind;
	uint8_t stack; /* words that the caller may have put on the stack */
	uint8_t words; /* integer and pointer arguments */
};

extern const struct sw_library_function sw_library_functions[];
extern const uint32_t sw_library_n;

/* The functions as programs see them (entry_*.S), in the order of the table. */
#define SW_LIBRARY_STUB 16u
extern const char sw_library_stubs[] __attribute__((visibility("hidden")));

/* Most arguments of a function, vector registers left out. */
#define SW_LIBRARY_WORDS 40u

/* ---- calls (calls.c), called by the entries -------------------------------------------------------------------------
 */

struct sw_library_target {
	void *real;
	int64_t stack; /* words of the stack to pass on; < 0: jumps to it as if we were not there */
};

/* `registers`: the six of a call's integer arguments; `stack`: what follows them; `caller`: where the call returns to.
 */
struct sw_library_target sw_library_enter(uint32_t function, const uint64_t *registers, const uint64_t *stack,
					  const void *caller) __attribute__((visibility("hidden")));
void sw_library_leave(uint32_t result, const uint64_t *registers, const uint64_t *stack)
	__attribute__((visibility("hidden")));

#endif
