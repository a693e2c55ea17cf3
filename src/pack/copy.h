/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of the trace that is packed: copied one by one, whatever their number. */
#ifndef SW_PACK_COPY_H
#define SW_PACK_COPY_H

#include "base/map.h"
#include "pack/stream.h"
#include "reader/source.h"

struct sw_pack_copy {
	const struct sw_source *source;
	uint64_t numbers;  /* chunks that the file has room for, the last one cut short perhaps */
	uint64_t chunks;   /* that are copied: no unused ones, none of an earlier packing */
	uint32_t writer;   /* number that no writer of these has */
	struct sw_map old; /* writers of earlier packings, which hold nothing else */
};

/* Reads the headers of all chunks; free it in any case. */
int sw_pack_copy_open(struct sw_pack_copy *copy, const struct sw_source *source, struct sw_error *error);
/* The bytes of images are left out, and nothing else: the code that is needed of them was packed. */
int sw_pack_copy_run(struct sw_pack_copy *copy, struct sw_pack_stream *out, struct sw_error *error);
void sw_pack_copy_free(struct sw_pack_copy *copy);

#endif
