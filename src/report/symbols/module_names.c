/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/module_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint64_t key_of(const struct sw_trace_module *module)
{
	uint64_t hash = sw_hash_bytes(SW_FNV_START, module->path, strlen(module->path) + 1);
	return sw_hash_bytes(hash, module->build_id, module->build_id_bytes);
}

static bool is_of(const struct sw_named_file *file, const struct sw_trace_module *module)
{
	uint32_t bytes = module->build_id_bytes;
	return !strcmp(file->path, module->path) && file->build_id_bytes == bytes &&
	       (!bytes || !memcmp(file->build_id, module->build_id, bytes));
}

static enum sw_object_state state_of(uint32_t packed)
{
	return packed == SW_PACKED_WHOLE     ? SW_OBJECT_USABLE
	       : packed == SW_PACKED_CHANGED ? SW_OBJECT_CHANGED
					     : SW_OBJECT_MISSING;
}

/* What was packed counts before this machine's file, so that a report is the same everywhere. */
static void open_file(struct sw_module_names *names, struct sw_named_file *file, const struct sw_trace_module *module)
{
	file->packed = sw_reader_names(names->reader, module);
	file->state = file->packed ? state_of(file->packed->state) : SW_OBJECT_MISSING;
	if (file->packed && file->state == SW_OBJECT_USABLE)
		return;
	enum sw_object_state here;
	file->object = sw_object_open(module, &here);
	file->base = module->base;
	if (!file->packed || here == SW_OBJECT_USABLE) {
		file->state = here;
		file->packed = NULL;
	}
}

const struct sw_named_file *sw_module_names_file(struct sw_module_names *names, const struct sw_trace_module *module)
{
	struct sw_named_file *file = sw_map_ptr(&names->modules, (uint64_t)(uintptr_t)module);
	if (file)
		return file;
	uint64_t key = key_of(module);
	/* Different files with one hash take the keys that follow. */
	while ((file = sw_map_ptr(&names->files, key)) && !is_of(file, module))
		key++;
	if (!file) {
		file = sw_calloc(1, sizeof *file);
		*file = (struct sw_named_file){
			.path = module->path, .build_id = module->build_id, .build_id_bytes = module->build_id_bytes};
		open_file(names, file, module);
		*sw_vec_push(&names->all) = file;
		sw_map_put_ptr(&names->files, key, file);
	}
	sw_map_put_ptr(&names->modules, (uint64_t)(uintptr_t)module, file);
	return file;
}

void sw_module_names_at(struct sw_module_names *names, const struct sw_trace_module *module, uint64_t ip,
			void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	const struct sw_named_file *file = sw_module_names_file(names, module);
	uint64_t offset = ip - module->base;
	/* A return address may be the first byte of the next line, or even of the next function: look one byte before.
	 */
	if (file->object) {
		sw_object_places(file->object, file->base + offset - 1, each, arg);
		return;
	}
	const struct sw_trace_frame *frame = sw_trace_names_at(file->packed, offset);
	for (; frame; frame = frame->next)
		each(arg, &(struct sw_object_place){.symbol = frame->symbol,
						    .file = frame->file,
						    .line = (int)frame->line,
						    .inlined = frame->inlined});
}

void sw_module_names_free(struct sw_module_names *names)
{
	for (size_t i = 0; i < names->all.n; i++) {
		if (names->all.at[i]->object)
			sw_object_close(names->all.at[i]->object);
		free(names->all.at[i]);
	}
	free(names->all.at);
	sw_map_free(&names->modules);
	sw_map_free(&names->files);
}
