/* SPDX-License-Identifier: Apache-2.0 */
/* Knowledge of a kernel from its name and its code. Not thread-safe. */
#ifndef SW_DETECT_KERNELS_KERNELS_H
#define SW_DETECT_KERNELS_KERNELS_H

#include "base/map.h"
#include "detect/detect.h"
#include "image/image.h"

struct sw_model;
struct sw_kernels;

/* A kernel, as far as it is known from its name and its code. */
struct sw_kernel {
	bool ready, signed_;
	enum sw_signature *signature;
	uint32_t arch;			      /* that the code was looked for, 0 not yet */
	const struct sw_footprint *footprint; /* NULL: none that can be used */
	bool ran;			      /* of the code that ran */
	bool moved;			      /* its parameter layout differs from the driver's */
	bool wild;			      /* some of what it does is not known */
	bool follows;			      /* pointers that lie in memory */
	bool signals;			      /* it writes in a way that may signal, somewhere */
	bool unreadable;		      /* there is code, but no footprint of it */
	const char *unread;		      /* why not, or why not all */
	struct sw_map evidence_details;	      /* basis of a reach -> struct sw_evidence_detail */
	struct sw_deferrable *deferrable;     /* NULL: not examined yet (deferrable.h) */
};

/* The kernel with this description, with its code as for the device of the current call; NULL: more of them than a
   program has.  Valid until the next call. */
struct sw_kernel *sw_kernel_of(struct sw_model *m, const struct sw_trace_function *function);
/* The spans of a footprint: libraries load the same code again and again, each time as other kernels. */
struct sw_spans *sw_kernels_spans(struct sw_kernels *kernels, const struct sw_footprint *footprint);
/* The evidence of an access of the kernel; lives as long as the judgement. */
const struct sw_evidence_detail *sw_kernel_evidence(struct sw_model *m, struct sw_kernel *kernel,
						    const struct sw_reach *reach, enum sw_via via);
/* Detail for accesses that the code does not show: why it could not be read, or not all of it.  NULL: it was read. */
const struct sw_evidence_detail *sw_kernel_no_evidence(struct sw_model *m, struct sw_kernel *kernel);
/* Does the footprint have an access through the word at this offset of the parameter block? */
bool sw_kernel_mentions(const struct sw_kernel *kernel, const struct sw_trace_function *function, uint32_t offset);
/* The grid and the parameters of a recorded launch, which the record holds. */
struct sw_geometry sw_launch_geometry(const struct sw_record *launch);
struct sw_kernels *sw_kernels_new(struct sw_reader *reader);
/* At the end: files whose code could not be used, for the judgement. */
void sw_kernels_list_unusable(struct sw_model *m);
/* Frees the kernels and their code.  Close the library of footprints first: it looks at that code. */
void sw_kernels_free(struct sw_kernels *kernels);

#endif
