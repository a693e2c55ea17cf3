/* SPDX-License-Identifier: Apache-2.0 */
/* The records of `syncwatch pack`, for trace_builder. */
#ifndef TESTS_READER_PACK_BUILDER_H
#define TESTS_READER_PACK_BUILDER_H

#include "reader/trace_builder.h"

/* Switches to the writer of the packing: tb_thread(tb, 1) goes back. */
struct sw_rec_pack *tb_pack(struct tb *tb, const char *version);
/* `code` NULL: described by state and `why`. */
struct sw_rec_pack_code *tb_pack_code(struct tb *tb, uint32_t image, const void *code, size_t bytes,
				      enum sw_pack_state state, const char *why);
struct sw_rec_image_data *tb_pack_data(struct tb *tb, uint32_t image, uint64_t offset, const void *data, size_t bytes);
struct sw_rec_image_data *tb_pack_left_out(struct tb *tb, uint32_t image, uint64_t offset, size_t bytes);
struct sw_rec_pack_module *tb_pack_module(struct tb *tb, uint32_t module, enum sw_pack_state state, const char *path);
struct sw_rec_pack_frame *tb_pack_frame(struct tb *tb, uint32_t module, uint64_t offset, const char *symbol,
					const char *file, uint32_t line);

struct sw_rec_pack_table *tb_pack_table(struct tb *tb, const char *gpu, const char *path, const char *text);

#endif
