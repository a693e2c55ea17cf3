/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/store/sparse_copy.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

/* Bytes that are looked at and copied at once: a page of most machines.  Larger pages cost memory, nothing else. */
#define PIECE 4096u

static bool is_zero(const unsigned char *at, size_t n)
{
	uint64_t any = 0;
	while (n >= 64 && !any) {
		uint64_t word[8];
		memcpy(word, at, sizeof word);
		any = word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7];
		at += sizeof word;
		n -= sizeof word;
	}
	for (; n && !any; n--)
		any = *at++;
	return !any;
}

void *sw_sparse_copy(const void *bytes, size_t n, size_t *mapped, size_t *filled)
{
	const unsigned char *from = bytes;
	size_t room = n / PIECE * PIECE + PIECE;
	unsigned char *copy = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		sw_out_of_memory(room);
	*mapped = room;
	*filled = 0;
	for (size_t at = 0; at < n; at += PIECE) {
		size_t piece = n - at < PIECE ? n - at : PIECE;
		if (is_zero(from + at, piece))
			continue;
		memcpy(copy + at, from + at, piece);
		*filled += PIECE;
	}
	return copy;
}

void sw_sparse_free(void *copy, size_t mapped)
{
	munmap(copy, mapped);
}
