/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "image/fatbin.h"
#include "image/formats.h"

static size_t padding(uint64_t offset)
{
	return (size_t)(-offset & 7);
}

bool sw_fatbin_next_block(struct sw_bytes all, size_t *at, struct sw_fatbin_block *block)
{
	size_t offset = *at + padding(*at);
	if (!sw_bytes_hold(all, offset, SW_FATBIN_HEADER_BYTES) || sw_u32(all, offset) != SW_FATBIN_MAGIC)
		return false;
	uint16_t header = sw_u16(all, offset + 6);
	uint64_t claimed = sw_u64(all, offset + 8);
	size_t room = all.n - offset;
	block->offset = offset;
	block->first = header < SW_FATBIN_HEADER_BYTES || header > room ? room : header;
	block->bytes = claimed > room - block->first ? room : block->first + (size_t)claimed;
	block->whole = header >= SW_FATBIN_HEADER_BYTES && header <= room && claimed <= room - header;
	*at = offset + block->bytes;
	return true;
}

size_t sw_fatbin_bytes(const void *fatbin, size_t size)
{
	struct sw_bytes all = {fatbin, size};
	struct sw_fatbin_block block;
	size_t at = 0, end = 0;
	while (sw_fatbin_next_block(all, &at, &block))
		end = at;
	return end;
}

static enum sw_image_kind kind_of(uint16_t kind)
{
	return kind == SW_FATBIN_PTX	 ? SW_IMAGE_PTX
	       : kind == SW_FATBIN_ELF	 ? SW_IMAGE_ELF
	       : kind == SW_FATBIN_LTOIR ? SW_IMAGE_LTOIR
					 : SW_IMAGE_UNKNOWN;
}

/* Reads the entry at `offset` of `all`, which may go up to `end`.  Returns its bytes in all, 0 when it is damaged. */
static size_t read_entry(struct sw_bytes all, size_t offset, size_t end, struct sw_fatbin_entry *e)
{
	struct sw_bytes h = sw_bytes_of(all, offset, end - offset);
	uint32_t header = sw_u32(h, 4), compressed = sw_u32(h, 16), name = sw_u32(h, 32), name_bytes = sw_u32(h, 36);
	uint64_t payload = sw_u64(h, 8);
	if (h.n < SW_FATBIN_ENTRY_BYTES || header < SW_FATBIN_ENTRY_BYTES || !sw_bytes_hold(h, header, payload) ||
	    compressed > payload)
		return 0;
	*e = (struct sw_fatbin_entry){
		.kind = kind_of(sw_u16(h, 0)),
		.arch = sw_u32(h, 28),
		.flags = sw_u64(h, 40),
		.compressed = compressed != 0,
		.payload = h.at + header,
		.stored_bytes = compressed ? compressed : (size_t)payload,
		.bytes = compressed ? (size_t)sw_u64(h, 56) : (size_t)payload,
		.offset = offset,
	};
	if (name && name_bytes && sw_bytes_hold(h, name, name_bytes)) {
		e->name = (const char *)h.at + name;
		e->name_bytes = name_bytes;
	}
	return header + (size_t)payload;
}

int sw_fatbin_walk_block(struct sw_bytes all, const struct sw_fatbin_block *block,
			 int (*each)(void *arg, const struct sw_fatbin_entry *entry), void *arg, struct sw_error *error)
{
	size_t end = block->offset + block->bytes;
	for (size_t at = block->offset + block->first; end - at >= 8;) {
		struct sw_fatbin_entry entry;
		size_t bytes = read_entry(all, at, end, &entry);
		if (!bytes)
			return sw_fail(error, SW_E_FORMAT,
				       "fatbin: offset %zu: the entry does not fit into the %zu bytes "
				       "that are left",
				       at, end - at);
		int rc = each(arg, &entry);
		if (rc)
			return rc;
		at += bytes;
		at += padding(at) < end - at ? padding(at) : end - at;
	}
	if (!block->whole)
		return sw_fail(error, SW_E_FORMAT,
			       "fatbin: offset %zu: %" PRIu64 " bytes of entries claimed, %zu there", block->offset,
			       sw_u64(all, block->offset + 8), block->bytes - block->first);
	return 0;
}

int sw_fatbin_walk(const void *fatbin, size_t size, int (*each)(void *arg, const struct sw_fatbin_entry *entry),
		   void *arg, struct sw_error *error)
{
	struct sw_bytes all = {fatbin, size};
	struct sw_fatbin_block block;
	size_t at = 0;
	int rc = 0;
	if (!sw_fatbin_next_block(all, &at, &block))
		return sw_fail(error, SW_E_FORMAT, "fatbin: offset 0: no fatbin header");
	do
		rc = sw_fatbin_walk_block(all, &block, each, arg, error);
	while (!rc && sw_fatbin_next_block(all, &at, &block));
	return rc;
}
