/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <string.h>

/* A hash of 8 bytes at a time: each word is multiplied and folded.  The length is part of it, so zeros at the end
   count. */
uint64_t sw_hash_words(const void *data, size_t bytes)
{
	const unsigned char *p = data;
	uint64_t hash = bytes * 0x9e3779b97f4a7c15ull, word;
	for (; bytes >= 8; bytes -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = (hash ^ word) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
	}
	if (bytes) {
		word = 0;
		memcpy(&word, p, bytes);
		hash = (hash ^ word) * 0xff51afd7ed558ccdull;
	}
	hash = sw_hash_u64(hash);
	return hash ? hash : 1;
}

/* One step of a chain: takes 8 bytes. */
static inline uint64_t next_in_chain(uint64_t chain, const unsigned char *at)
{
	uint64_t word;
	memcpy(&word, at, 8);
	chain = (chain ^ word) * 0xff51afd7ed558ccdull;
	return chain ^ chain >> 32;
}

/* Four chains, each as sw_hash_words() has one: a processor multiplies for all of them at a time.  In variables of
   their own: gcc makes vectors of an array, which multiply at a third of the speed. */
uint64_t sw_hash_content(const void *data, size_t bytes)
{
	enum { CHAINS = 4 };
	const unsigned char *p = data;
	uint64_t a = 1, b = 2, c = 3, d = 4;
	size_t left = bytes;
	for (; left >= 8 * CHAINS; left -= 8 * CHAINS, p += 8 * CHAINS) {
		a = next_in_chain(a, p);
		b = next_in_chain(b, p + 8);
		c = next_in_chain(c, p + 16);
		d = next_in_chain(d, p + 24);
	}
	const uint64_t chain[CHAINS + 2] = {a, b, c, d, sw_hash_words(p, left), bytes};
	return sw_hash_words(chain, sizeof chain);
}
