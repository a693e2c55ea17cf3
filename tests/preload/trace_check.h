/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second reader of traces, as small as can be and independent of src/reader: it reads a file while or after it is
 * written and says whether everything below `committed` is whole.
 */
#ifndef SW_TESTS_TRACE_CHECK_H
#define SW_TESTS_TRACE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syncwatch/format.h"

struct trace {
	const uint8_t *data;
	size_t bytes;
	const struct sw_file_header *header;
	const char *wrong; /* NULL: the file is whole */
	uint32_t chunks, writers, closed_chunks;
	uint64_t records, kinds[256], pending, last_seq, lost;
};

/* Maps and checks. False: no such file. */
bool trace_read(struct trace *t, const char *path);
void trace_free(struct trace *t);

/* Calls visit for every record, chunk by chunk in the order of the file; stops when it returns false. */
void trace_each(const struct trace *t, bool (*visit)(const struct sw_rec *r, uint32_t writer, void *data), void *data);

/* The n-th record of a kind, NULL: there are fewer. */
const void *trace_find(const struct trace *t, enum sw_rec_kind kind, unsigned n);

#endif
