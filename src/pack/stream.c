/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "pack/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "pack/pack.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

/* zstd's own default: higher levels take several times as long for a tenth of the bytes. */
#define LEVEL 3

struct sw_pack_zstd {
	ZSTD_CCtx *context;
	void *room;
	size_t bytes;
};

bool sw_pack_can_compress(void)
{
	return true;
}

static int begin(struct sw_pack_stream *s, struct sw_error *error)
{
	s->zstd = sw_calloc(1, sizeof *s->zstd);
	s->zstd->context = ZSTD_createCCtx();
	if (!s->zstd->context)
		return sw_fail(error, -ENOMEM, "no memory to compress");
	s->zstd->bytes = ZSTD_CStreamOutSize();
	s->zstd->room = sw_alloc(s->zstd->bytes);
	ZSTD_CCtx_setParameter(s->zstd->context, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(s->zstd->context, ZSTD_c_checksumFlag, 1);
	return 0;
}

static int compress(struct sw_pack_stream *s, const void *data, size_t bytes, ZSTD_EndDirective what,
		    struct sw_error *error)
{
	ZSTD_inBuffer in = {data, bytes, 0};
	size_t left;
	do {
		ZSTD_outBuffer out = {s->zstd->room, s->zstd->bytes, 0};
		left = ZSTD_compressStream2(s->zstd->context, &out, &in, what);
		if (ZSTD_isError(left))
			return sw_fail(error, SW_E_FORMAT, "cannot compress: %s", ZSTD_getErrorName(left));
		fwrite(s->zstd->room, 1, out.pos, s->out);
	} while (what == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

static int end(struct sw_pack_stream *s, struct sw_error *error)
{
	return compress(s, NULL, 0, ZSTD_e_end, error);
}

static int put(struct sw_pack_stream *s, const void *data, size_t bytes, struct sw_error *error)
{
	return compress(s, data, bytes, ZSTD_e_continue, error);
}

void sw_pack_stream_free(struct sw_pack_stream *s)
{
	if (!s->zstd)
		return;
	ZSTD_freeCCtx(s->zstd->context);
	free(s->zstd->room);
	free(s->zstd);
}

#else

struct sw_pack_zstd {
	char nothing;
};

bool sw_pack_can_compress(void)
{
	return false;
}

static int begin(struct sw_pack_stream *s, struct sw_error *error)
{
	(void)s;
	return sw_fail(error, SW_E_UNSUPPORTED, "this syncwatch was built without zstd and cannot compress");
}

static int end(struct sw_pack_stream *s, struct sw_error *error)
{
	(void)s, (void)error;
	return 0;
}

static int put(struct sw_pack_stream *s, const void *data, size_t bytes, struct sw_error *error)
{
	(void)s, (void)data, (void)bytes, (void)error;
	return 0;
}

void sw_pack_stream_free(struct sw_pack_stream *s)
{
	(void)s;
}
#endif

int sw_pack_stream_open(struct sw_pack_stream *s, FILE *out, bool compressed, struct sw_error *error)
{
	*s = (struct sw_pack_stream){.out = out};
	return compressed ? begin(s, error) : 0;
}

int sw_pack_stream_put(struct sw_pack_stream *s, const void *data, size_t bytes, struct sw_error *error)
{
	if (s->zstd)
		return put(s, data, bytes, error);
	fwrite(data, 1, bytes, s->out);
	return 0;
}

int sw_pack_stream_end(struct sw_pack_stream *s, struct sw_error *error)
{
	return s->zstd ? end(s, error) : 0;
}
