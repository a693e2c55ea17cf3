/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <string.h>

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

/* Four chains, each as sw_hash_words() has one: a processor multiplies for all of them at a time. */
uint64_t sw_hash_content(const void *data, size_t bytes)
{
	enum { CHAINS = 4 };
	const unsigned char *p = data;
	uint64_t chain[CHAINS + 2] = {1, 2, 3, 4, 0, bytes}, word;
	size_t left = bytes;
	for (; left >= 8 * CHAINS; left -= 8 * CHAINS, p += 8 * CHAINS)
		for (unsigned i = 0; i < CHAINS; i++) {
			memcpy(&word, p + 8 * i, 8);
			chain[i] = (chain[i] ^ word) * 0xff51afd7ed558ccdull;
			chain[i] ^= chain[i] >> 32;
		}
	chain[CHAINS] = sw_hash_words(p, left);
	return sw_hash_words(chain, sizeof chain);
}
