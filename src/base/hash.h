/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes: for tables and identities, not for security. */
#ifndef SW_BASE_HASH_H
#define SW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Mixes a 64-bit key (the finaliser of MurmurHash3). */
static inline uint64_t sw_hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

#define SW_FNV_START 0xcbf29ce484222325ull

/* FNV-1a, 64 bits; chain by passing the last result as `hash`. */
static inline uint64_t sw_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *p = data;
	while (bytes--)
		hash = (hash ^ *p++) * 0x100000001b3ull;
	return hash;
}

/* Hash over 8-byte words, for contents of some size: five times as fast as the above.  Never 0. */
uint64_t sw_hash_words(const void *data, size_t bytes);

/* For contents of hundreds of kilobytes: four times as fast as sw_hash_words().  Never 0. */
uint64_t sw_hash_content(const void *data, size_t bytes);

/* CRC-32C (Castagnoli) of a chunk's records: start with 0, chain by passing the last result. */
uint32_t sw_crc32c(uint32_t crc, const void *data, size_t bytes);
/* CRC without the processor's instruction, which sw_crc32c() uses where there is one. */
uint32_t sw_crc32c_portable(uint32_t crc, const void *data, size_t bytes);

#endif
