/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to a file, compressed with zstd or as they are. */
#ifndef SW_PACK_STREAM_H
#define SW_PACK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

struct sw_pack_stream {
	FILE *out;
	struct sw_pack_zstd *zstd; /* NULL: as they are */
};

int sw_pack_stream_open(struct sw_pack_stream *stream, FILE *out, bool compress, struct sw_error *error);
/* Errors of the file are left in it (ferror). */
int sw_pack_stream_put(struct sw_pack_stream *stream, const void *data, size_t bytes, struct sw_error *error);
int sw_pack_stream_end(struct sw_pack_stream *stream, struct sw_error *error);
void sw_pack_stream_free(struct sw_pack_stream *stream);

#endif
