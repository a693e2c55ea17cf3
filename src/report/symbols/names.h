/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in a report: streams, kernels, functions of the API that the user called, buffers.
 *
 * Strings live as long as the struct; none is NULL.  Not thread-safe.
 */
#ifndef SW_REPORT_SYMBOLS_NAMES_H
#define SW_REPORT_SYMBOLS_NAMES_H

#include <stdbool.h>

#include "detect/detect.h"
#include "report/symbols/symbols.h"

struct sw_names {
	const struct sw_reader *reader;
	const struct sw_judgement *judgement;
	struct sw_symbols *symbols;
	struct sw_arena arena;
	size_t streams_seen; /* by sw_names_several_devices() */
	bool several_devices;
	const char *home; /* the source file that the finding in hand is about; NULL unknown */
	struct sw_source_files *sources;
	size_t variables_of;		     /* streams that were known when these were found */
	char **variables;		     /* of streams, see sw_name_stream_variable(); NULL: not asked for yet */
	struct sw_template_names *templates; /* NULL: not asked for yet */
};

/* Prepares to name what a judgement of this trace refers to. */
void sw_names_init(struct sw_names *names, const struct sw_reader *reader, const struct sw_judgement *judgement);
/* Frees all names. */
void sw_names_free(struct sw_names *names);

/* Strings that are made between the two end with it: a report says much of each finding, of which nothing is needed
   after the next one.  Pairs may be nested. */
struct sw_names_scope {
	struct sw_arena outer;
};
/* Names that are made from here on live until the end of the scope only. */
void sw_names_scope_begin(struct sw_names *names, struct sw_names_scope *scope);
/* Frees the names that were made since the scope began. */
void sw_names_scope_end(struct sw_names *names, struct sw_names_scope *scope);

#define SW_NVTX_TOLD 4u /* ranges of NVTX around a call that reports name */

/* Like sw_format(), in the arena. */
const char *sw_names_format(struct sw_names *names, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "demo"; of Python its script or module: "train.py". */
const char *sw_name_program(const struct sw_names *names);

/* "cudaMemcpyAsync": by the runtime's frame in the stack, else by the record, else the driver's name. */
const char *sw_name_api(struct sw_names *names, uint16_t api, uint16_t flags, uint32_t stack);

/* Demangled kernel name, whole ("scale(float*, int)") or without types ("scale"); "" when there is no kernel. */
const char *sw_name_kernel(struct sw_names *names, uint32_t function, bool whole);

/* Kernel name, whole unless its types would bury the line: "at::native::vectorized_elementwise_kernel<...>(...)". */
const char *sw_name_kernel_short(struct sw_names *names, uint32_t function);

/* "kernel scale", "cudaMemcpyAsync", "the host function enqueued by cudaLaunchHostFunc". */
const char *sw_name_operation(struct sw_names *names, const struct sw_access *access);
/* The name of an operation for sentences, "kernel gemm of cublasSgemm": the middle of a very long word is left out (the
   heading of the access has all of it), and kernels of one template are distinguished. */
const char *sw_name_operation_brief(struct sw_names *names, const struct sw_access *access);

/* The call of a library that the access was part of; NULL: none. */
const struct sw_library_call *sw_library_call_of(const struct sw_names *names, const struct sw_access *access);

/* The name of a frame's function, whole unless its types would bury the line: "at::native::copy(...)"; "" unknown. */
const char *sw_name_function(struct sw_names *names, const struct sw_frame *frame);

/* Does the program use more than one device?  Then they are named. */
bool sw_names_several_devices(struct sw_names *names);

/* The variable of the program that its creation fills, "copies"; "" where the source is not here, or one line makes
   several streams and it is not known which is which. */
const char *sw_name_stream_variable(struct sw_names *names, uint32_t stream);
/* "stream 3 'copy'", by NVTX or the program's variable; "the legacy default stream", "the per-thread default stream of
   thread 2", "the host". */
const char *sw_name_stream(struct sw_names *names, uint32_t stream);
/* Where it was created, by the first caller that differs from those of other streams: "main.cu:12", or "" when that is
   not known. */
const char *sw_name_stream_site(struct sw_names *names, uint32_t stream);
/* The place where a stream was created; NULL unknown. */
const struct sw_frame *sw_name_stream_made(struct sw_names *names, uint32_t stream);

/* "allocation 2 'weights'", "the buffer" when unknown.  Index as in struct sw_access: 0: none. */
const char *sw_name_allocation(struct sw_names *names, uint32_t allocation);
/* An allocation with its kind and origin: "allocation 2 'weights' (2.0 MiB, cudaMalloc at main.cu:16)". */
const char *sw_name_allocation_whole(struct sw_names *names, uint32_t allocation);
/* "device memory", "pinned host memory", ... */
const char *sw_name_memory(enum sw_memory memory);

/* True when the user calls the driver's API himself (cu..., not cuda...). */
bool sw_names_driver_api(struct sw_names *names, const struct sw_access *access);

/* The word for the severity, as in reports. */
const char *sw_name_severity(enum sw_severity severity);
/* The word for the confidence, as in reports. */
const char *sw_name_confidence(enum sw_confidence confidence);
/* The word for whether a document or a measurement is the basis. */
const char *sw_name_basis(enum sw_basis basis);
/* The word for how an access is known. */
const char *sw_name_evidence(enum sw_evidence evidence);
/* "read", "write", "read-write", "free", ... */
const char *sw_name_role(enum sw_role role);

/* "12.3 ms", "4.56 us", "789 ns". */
const char *sw_name_time(struct sw_names *names, uint64_t ns);
/* "4096 bytes", "12.0 MiB". */
const char *sw_name_bytes(struct sw_names *names, uint64_t bytes);

/* C++ names as people write them (demangle.c).  Thread-safe. */

/* The demangled name, or a copy of the name when it is not a mangled one (or the build has no demangler). malloc'ed. */
char *sw_demangle(const char *name);

/* "void ns::scale<float, 4>(float*, int)" -> "ns::scale": what a sentence or a suppression line calls it. malloc'ed. */
char *sw_demangled_base(const char *demangled);

#endif
