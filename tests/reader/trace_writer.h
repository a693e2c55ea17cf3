/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the files of the trace builder share. */
#ifndef TESTS_READER_TRACE_WRITER_H
#define TESTS_READER_TRACE_WRITER_H

#include "base/map.h"
#include "reader/trace_builder.h"

struct tb_writer {
	unsigned char *chunk; /* chunk_bytes, header first; NULL: no chunk yet */
	uint64_t number;      /* of the chunk in the file */
	uint32_t index, used;
	struct sw_map stacks, blocks; /* content hash -> id */
	uint32_t n_stacks, n_blocks, stack;
	bool announced;
};

#endif
