/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reads of little-endian integers that need not be aligned. */
#ifndef SW_IMAGE_BYTES_H
#define SW_IMAGE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sw_bytes {
	const unsigned char *at;
	size_t n;
};

/* Are there n bytes from the offset on? */
static inline bool sw_bytes_hold(struct sw_bytes b, uint64_t offset, uint64_t n)
{
	return offset <= b.n && n <= b.n - offset;
}

/* The n bytes from the offset on; none if there are not so many. */
static inline struct sw_bytes sw_bytes_of(struct sw_bytes b, uint64_t offset, uint64_t n)
{
	return sw_bytes_hold(b, offset, n) ? (struct sw_bytes){b.at + offset, (size_t)n} : (struct sw_bytes){0};
}

/* 0 beyond the end. */
#define SW_BYTES_GET(bits)                                                                                             \
	static inline uint##bits##_t sw_u##bits(struct sw_bytes b, uint64_t offset)                                    \
	{                                                                                                              \
		uint##bits##_t v = 0;                                                                                  \
		if (sw_bytes_hold(b, offset, sizeof v))                                                                \
			memcpy(&v, b.at + offset, sizeof v);                                                           \
		return v;                                                                                              \
	}
SW_BYTES_GET(8)
SW_BYTES_GET(16)
SW_BYTES_GET(32)
SW_BYTES_GET(64)
#undef SW_BYTES_GET

/* A NUL-terminated string that ends within the bytes; NULL if there is none.  The bytes of a table of strings end with
   a NUL, so that its strings need not be read for that. */
static inline const char *sw_bytes_string(struct sw_bytes b, uint64_t offset)
{
	if (offset >= b.n || (b.at[b.n - 1] && !memchr(b.at + offset, 0, b.n - offset)))
		return NULL;
	return (const char *)b.at + offset;
}

#endif
