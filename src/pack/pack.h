/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs a trace: one file that is judged alike wherever it is, as it holds the code of the kernels that were launched
 * and the functions, files and lines of all call stacks.  Records stay as they are, and where they are in their chunks.
 */
#ifndef SW_PACK_PACK_H
#define SW_PACK_PACK_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"

struct sw_pack_options {
	const char *version; /* of this syncwatch */
	bool compress;	     /* with zstd; SW_E_UNSUPPORTED in a build without */
};

struct sw_pack_sums {
	uint64_t kernels, code_bytes; /* launched; of their code */
	uint64_t frames, modules;     /* distinct return addresses, objects that they are in */
	SW_VEC(char *) unusable;      /* what is missing from the pack, one line each */
};

/* Writes the packed trace to `out`, whose errors are the caller's to look for (ferror).  0, or <0 with error filled:
   nothing of use was written then.  *sums is to be freed in any case. */
int sw_pack(const char *trace, const struct sw_pack_options *options, FILE *out, struct sw_pack_sums *sums,
	    struct sw_error *error);
void sw_pack_sums_free(struct sw_pack_sums *sums);
bool sw_pack_can_compress(void);

#endif
