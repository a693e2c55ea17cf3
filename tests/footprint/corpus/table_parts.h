/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of the table consists of. */
#ifndef SW_CORPUS_TABLE_PARTS_H
#define SW_CORPUS_TABLE_PARTS_H

#include "table.h"
#include "table_text.h"

/* -1: none of that name. */
int corpus_find_buffer(const struct corpus_launch *launch, const char *name);
/* The rest of NAME[BYTES]=CONTENT, after the name. */
void corpus_read_buffer(struct corpus_text *text, struct corpus_launch *launch, const char *name);
void corpus_read_content(struct corpus_text *text, struct corpus_buffer *buffer);
/* NAME or NAME+N or NAME-N, 8 bytes or half of them. */
void corpus_read_pointer(struct corpus_text *text, struct corpus_words *words, size_t at, uint32_t bytes, bool high);
/* (A, B, ...) */
void corpus_read_arguments(struct corpus_text *text, struct corpus_launch *launch);

#endif
