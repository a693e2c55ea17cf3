/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that `syncwatch pack` added to the trace: code of launched kernels, functions and lines. */
#ifndef SW_READER_PACKED_H
#define SW_READER_PACKED_H

#include <stdbool.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "reader/reader.h"

struct sw_packed_code;

struct sw_packed {
	struct sw_map codes;   /* image's id -> struct sw_packed_code */
	struct sw_map hashes;  /* content -> the first struct sw_packed_code with it */
	struct sw_map modules; /* number -> struct sw_trace_names */
	struct sw_map files;   /* hash of path and build id -> struct sw_trace_names */
	SW_VEC(struct sw_trace_table *) tables;
	const char *version; /* NULL: not packed */
};

/* Fills in what was packed of the code of an image that was described, and whose content is complete or lies in a
   file. */
void sw_packed_find(const struct sw_packed *packed, struct sw_trace_image *image);
const struct sw_trace_names *sw_packed_names(const struct sw_packed *packed, const struct sw_trace_module *module);
const struct sw_trace_table *sw_packed_table(const struct sw_packed *packed, const char *gpu);
void sw_packed_free(struct sw_packed *packed);

/*
 * Traces compressed with zstd(1): expanded once into a file without a name, because a trace is read at offsets (the
 * chunks of its writers lie interleaved).
 */

/* Do the first bytes of this file make it a zstd frame? */
bool sw_expand_wanted(int fd);

/* Expands `fd` into a temporary file ($TMPDIR, else /tmp) and returns its descriptor, the caller's to close; <0 with
   error filled.  `path` is for messages. */
int sw_expand(int fd, const char *path, struct sw_error *error);

#endif
