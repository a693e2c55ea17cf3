/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/pack_builder.h"

#include <string.h>

#include "base/hash.h"

#define PACK_WRITER 1000u

struct sw_rec_pack *tb_pack(struct tb *tb, const char *version)
{
	tb_writer(tb, PACK_WRITER);
	struct sw_rec_pack *r = tb_add(tb, SW_REC_PACK, sizeof *r + strlen(version), false);
	r->version_bytes = (uint32_t)strlen(version);
	memcpy(r + 1, version, strlen(version));
	return r;
}

static struct sw_rec_image_data *add_data(struct tb *tb, enum sw_rec_kind kind, uint32_t image, uint64_t offset,
					  const void *data, size_t bytes)
{
	struct sw_rec_image_data *r = tb_add(tb, kind, sizeof *r + bytes, false);
	r->id = image;
	r->bytes = (uint32_t)bytes;
	r->offset = offset;
	if (data)
		memcpy(r + 1, data, bytes);
	return r;
}

struct sw_rec_image_data *tb_pack_data(struct tb *tb, uint32_t image, uint64_t offset, const void *data, size_t bytes)
{
	return add_data(tb, SW_REC_PACK_DATA, image, offset, data, bytes);
}

struct sw_rec_image_data *tb_pack_left_out(struct tb *tb, uint32_t image, uint64_t offset, size_t bytes)
{
	return add_data(tb, SW_REC_PACK_LEFT_OUT, image, offset, NULL, bytes);
}

struct sw_rec_pack_code *tb_pack_code(struct tb *tb, uint32_t image, const void *code, size_t bytes,
				      enum sw_pack_state state, const char *why)
{
	struct sw_rec_pack_code *r = tb_add(tb, SW_REC_PACK_CODE, sizeof *r + strlen(why), false);
	r->image = image;
	r->state = state;
	r->bytes = bytes;
	r->hash = code ? sw_hash_words(code, bytes) : 0;
	r->data = code != NULL;
	r->why_bytes = (uint32_t)strlen(why);
	memcpy(r + 1, why, strlen(why));
	return r;
}

struct sw_rec_pack_module *tb_pack_module(struct tb *tb, uint32_t module, enum sw_pack_state state, const char *path)
{
	struct sw_rec_pack_module *r = tb_add(tb, SW_REC_PACK_MODULE, sizeof *r + strlen(path), false);
	r->module = module;
	r->state = state;
	r->path_bytes = (uint32_t)strlen(path);
	memcpy(r + 1, path, strlen(path));
	return r;
}

struct sw_rec_pack_frame *tb_pack_frame(struct tb *tb, uint32_t module, uint64_t offset, const char *symbol,
					const char *file, uint32_t line)
{
	struct sw_rec_pack_frame *r = tb_add(tb, SW_REC_PACK_FRAME, sizeof *r + strlen(symbol) + strlen(file), false);
	r->module = module;
	r->offset = offset;
	r->line = line;
	r->symbol_bytes = (uint32_t)strlen(symbol);
	r->file_bytes = (uint32_t)strlen(file);
	memcpy(r + 1, symbol, strlen(symbol));
	memcpy((char *)(r + 1) + strlen(symbol), file, strlen(file));
	return r;
}

struct sw_rec_pack_table *tb_pack_table(struct tb *tb, const char *gpu, const char *path, const char *text)
{
	size_t n = strlen(gpu) + strlen(path) + strlen(text);
	struct sw_rec_pack_table *r = tb_add(tb, SW_REC_PACK_TABLE, sizeof *r + n, false);
	r->gpu_bytes = (uint32_t)strlen(gpu);
	r->path_bytes = (uint32_t)strlen(path);
	r->text_bytes = (uint32_t)strlen(text);
	memcpy(r + 1, gpu, strlen(gpu));
	memcpy((char *)(r + 1) + strlen(gpu), path, strlen(path));
	memcpy((char *)(r + 1) + strlen(gpu) + strlen(path), text, strlen(text));
	return r;
}
