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
#include "pack/stream.h"
#include "pack/reduce.h"
#include "report/symbols/module_names.h"

struct sw_codes;
struct sw_footprint_image;

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
/* Adds the code of launched kernels that lies in the store of images (image_store.h) to the trace, which the reader has
   read to its end.  0, or <0 with error filled: not all of it. */
int sw_pack_append_stored(struct sw_reader *reader, const char *trace, struct sw_error *error);
/* Frees what the sums hold. */
void sw_pack_sums_free(struct sw_pack_sums *sums);
/* Was this syncwatch built with zstd? */
bool sw_pack_can_compress(void);

/* Collects from other files what judging a trace needs: code of the launched kernels, names of the frames of its
   stacks. */

/* The code that one or more images have. */
struct sw_gathered_code {
	const struct sw_footprint_image *image;
	struct sw_map launched; /* as in struct sw_reduce */
	void *bytes;		/* owned; NULL: `why` has the reason */
	size_t n;
	uint64_t hash;
	enum sw_pack_state state;
	char *why;
	bool written; /* set by the file that writes it */
};

struct sw_gathered_image {
	uint32_t id;
	uint64_t t_ns;		       /* when a kernel of it was described first */
	struct sw_gathered_code *code; /* NULL: the trace does not know where it was */
};

/* A return address whose names are to be looked up. */
struct sw_gathered_frame {
	const struct sw_trace_module *module;
	const struct sw_named_file *file;
	uint64_t offset;
};

struct sw_gather {
	struct sw_reader *reader; /* read to its end */
	struct sw_codes *codes;
	struct sw_module_names names;
	SW_VEC(struct sw_gathered_image) images; /* in the order of the trace */
	SW_VEC(struct sw_gathered_frame) frames; /* each file and offset once, in the order of the stacks */
	SW_VEC(struct sw_gathered_code *) all;
	SW_VEC(uint32_t) archs;
	uint64_t kernels;
	bool wrap; /* as in struct sw_reduce */
};

/* Reads a trace and lists which images, kernels and devices it has; 0 or <0 with error filled.  A damaged trace is
   gathered from as far as it goes.  Free it in any case. */
int sw_gather_open(struct sw_gather *gather, const char *trace, struct sw_error *error);
/* Makes the reduced code of all images.  no_ptx: of machine code alone; level: of zstd. */
void sw_gather_code(struct sw_gather *gather, bool no_ptx, int level);
void sw_gather_close(struct sw_gather *gather);

#endif
