/* SPDX-License-Identifier: Apache-2.0 */
/* What buffers and the parameter block hold at a launch. */
#include <string.h>

#include "table.h"

/* Numerical Recipes' generator: the same numbers on every machine. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void put_words(const struct corpus_words *words, uint8_t *out, size_t bytes,
		      uint64_t (*address)(void *arg, int buffer), void *arg)
{
	for (size_t i = 0; i < words->n; i++) {
		const struct corpus_word *word = &words->at[i];
		uint64_t value = address(arg, word->buffer) + (uint64_t)word->addend;

		if (word->high)
			value >>= 32;
		if (word->at + word->bytes <= bytes)
			memcpy(out + word->at, &value, word->bytes);
	}
}

void corpus_fill(const struct corpus_launch *launch, int buffer, void *out, size_t bytes,
		 uint64_t (*address)(void *arg, int buffer), void *arg)
{
	const struct corpus_buffer *b = &launch->buffers.at[buffer];
	const float one = 1;
	uint32_t random = 1;

	memset(out, 0, bytes);
	if (b->content == CORPUS_POINTERS)
		put_words(&b->pointers, out, bytes, address, arg);
	for (size_t i = 0; i + 4 <= bytes && b->content != CORPUS_POINTERS; i += 4) {
		uint32_t value = 0;

		switch (b->content) {
		case CORPUS_IOTA:
			value = (uint32_t)(i / 4);
			break;
		case CORPUS_BELOW:
			value = next_random(&random) % b->below;
			break;
		case CORPUS_BYTES:
			value = next_random(&random) << 8 ^ next_random(&random);
			break;
		case CORPUS_ONES:
			memcpy(&value, &one, 4);
			break;
		case CORPUS_ZERO:
		case CORPUS_POINTERS:
			break;
		}
		memcpy((char *)out + i, &value, 4);
	}
}

void corpus_params(const struct corpus_launch *launch, void *out, uint64_t (*address)(void *arg, int buffer), void *arg)
{
	memcpy(out, launch->params, launch->param_bytes);
	put_words(&launch->words, out, launch->param_bytes, address, arg);
}
