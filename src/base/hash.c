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
