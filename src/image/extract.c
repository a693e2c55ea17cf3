/* SPDX-License-Identifier: Apache-2.0 */
/* Content of fatbin entries, decompressed by the libraries that made the formats. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/formats.h"
#include "image/image.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
static bool zstd(const struct sw_fatbin_entry *e, void *out)
{
	return ZSTD_decompress(out, e->bytes, e->payload, e->stored_bytes) == e->bytes;
}
#else
#define zstd NULL
#endif

#ifdef HAVE_LZ4
#include <limits.h>
#include <lz4.h>
static bool lz4(const struct sw_fatbin_entry *e, void *out)
{
	return e->bytes <= INT_MAX && e->stored_bytes <= INT_MAX &&
	       LZ4_decompress_safe(e->payload, out, (int)e->stored_bytes, (int)e->bytes) == (int)e->bytes;
}
#else
#define lz4 NULL
#endif

static const struct {
	uint64_t flag;
	const char *name;
	bool (*decompress)(const struct sw_fatbin_entry *e, void *out);
} methods[] = {
	{SW_FATBIN_ZSTD, "zstd", zstd},
	{SW_FATBIN_LZ4, "LZ4", lz4},
};

static int decompress(const struct sw_fatbin_entry *e, void *out, struct sw_error *error)
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
		rc = decompress(entry, content, error);
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
