/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, what they hold, and pointers into them. */
#include "table_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void corpus_read_pointer(struct corpus_text *text, struct corpus_words *words, size_t at, uint32_t bytes, bool high)
{
	struct corpus_word word = {.at = at, .bytes = bytes, .high = high, .buffer = -1};

	corpus_text_name(text, word.name);
	if (corpus_text_is(text, "+"))
		word.addend = corpus_text_number(text);
	else if (corpus_text_peek(text) == '-')
		word.addend = corpus_text_number(text);
	*sw_vec_push(words) = word;
}

void corpus_read_content(struct corpus_text *text, struct corpus_buffer *buffer)
{
	if (corpus_text_is(text, "iota")) {
		buffer->content = CORPUS_IOTA;
	} else if (corpus_text_is(text, "below:")) {
		buffer->content = CORPUS_BELOW;
		buffer->below = (uint32_t)corpus_text_number(text);
	} else if (corpus_text_is(text, "bytes")) {
		buffer->content = CORPUS_BYTES;
	} else if (corpus_text_is(text, "ones")) {
		buffer->content = CORPUS_ONES;
	} else if (corpus_text_peek(text) == '&') {
		buffer->content = CORPUS_POINTERS;
		while (corpus_text_is(text, "&")) {
			corpus_read_pointer(text, &buffer->pointers, 8 * buffer->pointers.n, 8, false);
			if (!corpus_text_is(text, ",&"))
				break;
			text->at--;
		}
	} else {
		corpus_text_fail(text, "unknown content");
	}
}

int corpus_find_buffer(const struct corpus_launch *launch, const char *name)
{
	for (size_t i = 0; i < launch->buffers.n; i++)
		if (!strcmp(launch->buffers.at[i].name, name))
			return (int)i;
	return -1;
}

void corpus_read_buffer(struct corpus_text *text, struct corpus_launch *launch, const char *name)
{
	struct corpus_buffer buffer = {0};

	if (corpus_find_buffer(launch, name) >= 0)
		corpus_text_fail(text, "a second buffer of that name");
	snprintf(buffer.name, sizeof buffer.name, "%s", name);
	corpus_text_want(text, "[");
	buffer.bytes = (size_t)corpus_text_number(text);
	corpus_text_want(text, "]");
	if (corpus_text_is(text, "="))
		corpus_read_content(text, &buffer);
	*sw_vec_push(&launch->buffers) = buffer;
}
