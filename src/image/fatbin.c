/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "image/fatbin.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/bytes.h"
#include "image/formats.h"
#include "image/image.h"
#include "image/ptx.h"

/* Content of fatbin entries, decompressed by the libraries that made the formats. */

#ifdef HAVE_ZSTD
#include <zstd.h>
/* Decompresses the content of an entry to `out`.  False: it is damaged. */
static bool expand_zstd(const struct sw_fatbin_entry *e, void *out)
{
	return ZSTD_decompress(out, e->bytes, e->payload, e->stored_bytes) == e->bytes;
}
#else
#define expand_zstd NULL
#endif

#ifdef HAVE_LZ4
#include <limits.h>
#include <lz4.h>
/* Decompresses the content of an entry to `out`.  False: it is damaged. */
static bool expand_lz4(const struct sw_fatbin_entry *e, void *out)
{
	return e->bytes <= INT_MAX && e->stored_bytes <= INT_MAX &&
	       LZ4_decompress_safe(e->payload, out, (int)e->stored_bytes, (int)e->bytes) == (int)e->bytes;
}
#else
#define expand_lz4 NULL
#endif

static const struct {
	uint64_t flag;
	const char *name;
	bool (*decompress)(const struct sw_fatbin_entry *e, void *out);
} methods[] = {
	{SW_FATBIN_ZSTD, "zstd", expand_zstd},
	{SW_FATBIN_LZ4, "LZ4", expand_lz4},
};

/* Decompresses the content of an entry, by the method that its flags name, to `out`.  <0: that is not possible. */
static int expand_entry(const struct sw_fatbin_entry *e, void *out, struct sw_error *error)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		if ((e->flags & (SW_FATBIN_ZSTD | SW_FATBIN_LZ4)) != methods[i].flag)
			continue;
		if (!methods[i].decompress)
			return sw_fail(error, SW_E_UNSUPPORTED, "fatbin: offset %zu: syncwatch was built without %s",
				       e->offset, methods[i].name);
		if (methods[i].decompress(e, out))
			return 0;
		return sw_fail(error, SW_E_FORMAT, "fatbin: offset %zu: damaged %s data", e->offset, methods[i].name);
	}
	return sw_fail(error, SW_E_UNSUPPORTED, "fatbin: offset %zu: unknown compression (flags 0x%" PRIx64 ")",
		       e->offset, e->flags);
}

int sw_fatbin_extract_into(const struct sw_fatbin_entry *entry, void *out, size_t *bytes, struct sw_error *error)
{
	unsigned char *content = out;
	int rc = 0;
	if (entry->compressed)
		rc = expand_entry(entry, content, error);
	else
		memcpy(content, entry->payload, entry->bytes);
	if (rc)
		return rc;
	content[entry->bytes] = 0;
	*bytes = entry->kind == SW_IMAGE_PTX ? strlen((char *)content) : entry->bytes;
	return 0;
}

int sw_fatbin_check(const struct sw_fatbin_entry *entry, struct sw_error *error)
{
	if (entry->bytes <= SW_IMAGE_MAX_BYTES)
		return 0;
	return sw_fail(error, SW_E_FORMAT,
		       "fatbin: offset %zu: %zu bytes after decompression are more than syncwatch "
		       "accepts",
		       entry->offset, entry->bytes);
}

int sw_fatbin_extract(const struct sw_fatbin_entry *entry, void **out, size_t *bytes, struct sw_error *error)
{
	int rc = sw_fatbin_check(entry, error);
	if (rc)
		return rc;
	/* One more, zero: PTX is text. */
	unsigned char *content = malloc(entry->bytes + 1);
	if (!content)
		return sw_fail(error, -ENOMEM, "fatbin: offset %zu: no memory for %zu bytes", entry->offset,
			       entry->bytes);
	rc = sw_fatbin_extract_into(entry, content, bytes, error);
	if (rc) {
		free(content);
		return rc;
	}
	*out = content;
	return 0;
}

/* The kind of an image by its first bytes: fatbin, cubin, PTX. */

/* Is it an ELF file of the CUDA architecture? */
static bool is_cubin(struct sw_bytes b)
{
	return b.n >= sizeof(Elf64_Ehdr) && !memcmp(b.at, ELFMAG, SELFMAG) && b.at[EI_CLASS] == ELFCLASS64 &&
	       sw_u16(b, offsetof(Elf64_Ehdr, e_machine)) == SW_ELF_MACHINE_CUDA;
}

/* Does the text begin with .version, as a module does?  Only comments and blanks may come before that (PTX ISA, "PTX
   Module Directives"). */
static bool is_ptx(struct sw_bytes b)
{
	struct sw_ptx_lexer lexer = sw_ptx_lexer(b.at, b.n);
	return sw_ptx_next(&lexer) && sw_ptx_is(&lexer, ".version");
}

enum sw_image_kind sw_image_kind_of(const void *bytes, size_t size)
{
	struct sw_bytes b = {bytes, size};
	if (sw_u32(b, 0) == SW_FATBIN_MAGIC && size >= SW_FATBIN_HEADER_BYTES)
		return SW_IMAGE_FATBIN;
	if (sw_u32(b, 0) == SW_LTOIR_MAGIC)
		return SW_IMAGE_LTOIR;
	if (size >= sizeof SW_TILEIR_MAGIC && !memcmp(bytes, SW_TILEIR_MAGIC, sizeof SW_TILEIR_MAGIC))
		return SW_IMAGE_TILEIR;
	if (is_cubin(b))
		return SW_IMAGE_ELF;
	return is_ptx(b) ? SW_IMAGE_PTX : SW_IMAGE_UNKNOWN;
}

uint64_t sw_fatbin_wrapper_target(const void *wrapper)
{
	struct sw_bytes b = {wrapper, SW_WRAPPER_BYTES};
	uint32_t version = sw_u32(b, 4);
	return sw_u32(b, 0) == SW_WRAPPER_MAGIC && (version == 1 || version == 2) ? sw_u64(b, 8) : 0;
}

/* Bytes from the offset to the next multiple of 8, where blocks and entries begin. */
static size_t padding_after(uint64_t offset)
{
	return (size_t)(-offset & 7);
}

bool sw_fatbin_next_block(struct sw_bytes all, size_t *at, struct sw_fatbin_block *block)
{
	size_t offset = *at + padding_after(*at);
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

/* The kind of image for a fatbin's number of it. */
static enum sw_image_kind kind_of(uint16_t kind)
{
	return kind == SW_FATBIN_PTX	  ? SW_IMAGE_PTX
	       : kind == SW_FATBIN_ELF	  ? SW_IMAGE_ELF
	       : kind == SW_FATBIN_LTOIR  ? SW_IMAGE_LTOIR
	       : kind == SW_FATBIN_TILEIR ? SW_IMAGE_TILEIR
					  : SW_IMAGE_UNKNOWN;
}

/* Reads the entry at `offset` of `all`, which may go up to `end`.  Returns its bytes in all, 0 when it is damaged. */
static size_t read_entry(struct sw_bytes all, size_t offset, size_t end, struct sw_fatbin_entry *e)
{
	struct sw_bytes h = sw_bytes_of(all, offset, end - offset);
	uint32_t header = sw_u32(h, SW_ENTRY_HEADER), compressed = sw_u32(h, SW_ENTRY_COMPRESSED),
		 name = sw_u32(h, SW_ENTRY_NAME), name_bytes = sw_u32(h, SW_ENTRY_NAME_BYTES);
	uint64_t payload = sw_u64(h, SW_ENTRY_PAYLOAD);
	if (h.n < SW_FATBIN_ENTRY_BYTES || header < SW_FATBIN_ENTRY_BYTES || !sw_bytes_hold(h, header, payload) ||
	    compressed > payload)
		return 0;
	*e = (struct sw_fatbin_entry){
		.kind = kind_of(sw_u16(h, SW_ENTRY_KIND)),
		.arch = sw_u32(h, SW_ENTRY_ARCH),
		.flags = sw_u64(h, SW_ENTRY_FLAGS),
		.compressed = compressed != 0,
		.payload = h.at + header,
		.stored_bytes = compressed ? compressed : (size_t)payload,
		.bytes = compressed ? (size_t)sw_u64(h, SW_ENTRY_PLAIN) : (size_t)payload,
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
		at += padding_after(at) < end - at ? padding_after(at) : end - at;
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
