/* SPDX-License-Identifier: Apache-2.0 */
/* The code that a trace needs to be judged where the programs are not: as little of each image as will do. */
#ifndef SW_GOLDEN_CODE_H
#define SW_GOLDEN_CODE_H

#include "base/map.h"
#include "base/memory.h"
#include "reader/reader.h"
#include "truth/contents.h"

struct code_image {
	enum sw_image_kind kind;
	void *bytes; /* owned */
	size_t size;
};

struct code {
	struct sw_reader *reader;
	struct contents contents;
	struct sw_map launched; /* image's id and kernel's name, hashed */
	struct sw_map images;	/* id -> struct code_image */
	SW_VEC(struct code_image *) all;
	bool ptx;      /* PTX as well as machine code */
	uint32_t arch; /* of the GPU, 90 for sm_90 */
};

/* Reads what the trace launched and the images that hold it: from the trace, or from the files that it names, if they
   are still there.  0, or -1 with the reason printed. */
int code_open(struct code *code, const char *trace, bool ptx);
/* NULL: none of its kernels was launched, or its content is not to be had. */
const struct code_image *code_of(const struct code *code, uint32_t image);
void code_close(struct code *code);

#endif
