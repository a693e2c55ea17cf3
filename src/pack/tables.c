/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls wait may have been measured on the machine that recorded: a report elsewhere must not lack that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trusted_file.h"
#include "detect/behaviour/behaviour.h"
#include "pack/records.h"

static void put(struct sw_pack_chunks *chunks, const struct sw_trace_table *table)
{
	const size_t gpu = strlen(table->gpu), path = strlen(table->path);
	struct sw_rec_pack_table *r;
	if (sizeof *r + gpu + path + table->bytes > sw_pack_record_max(chunks))
		return; /* far from what calibrate writes */
	r = sw_pack_record(chunks, SW_REC_PACK_TABLE, sizeof *r + gpu + path + table->bytes);
	r->gpu_bytes = (uint32_t)gpu;
	r->path_bytes = (uint32_t)path;
	r->text_bytes = (uint32_t)table->bytes;
	char *at = memcpy(r + 1, table->gpu, gpu);
	memcpy(at + gpu, table->path, path);
	memcpy(at + gpu + path, table->text, table->bytes);
}

static void put_stored(struct sw_pack_chunks *chunks, const char *gpu, uint32_t driver)
{
	char *path = sw_behaviour_path(gpu, driver);
	FILE *file = path ? sw_trusted_stream(path, (uid_t)-1, NULL) : NULL;
	char *text = sw_alloc(SW_REC_MAX_BYTES);
	if (file)
		put(chunks, &(struct sw_trace_table){gpu, path, text, fread(text, 1, SW_REC_MAX_BYTES, file)});
	if (file)
		fclose(file);
	free(text);
	free(path);
}

static bool is_first(const struct sw_reader *reader, size_t index)
{
	const char *name = sw_reader_device(reader, index)->name;
	for (size_t i = 0; i < index; i++)
		if (!strcmp(sw_reader_device(reader, i)->name, name))
			return false;
	return *name;
}

void sw_pack_put_tables(struct sw_pack_chunks *chunks, const struct sw_reader *reader)
{
	const struct sw_trace_device *device;
	for (size_t i = 0; (device = sw_reader_device(reader, i)); i++) {
		const struct sw_trace_table *packed = sw_reader_table(reader, device->name);
		if (!is_first(reader, i))
			continue;
		if (packed)
			put(chunks, packed);
		else if (!sw_reader_packer(reader))
			put_stored(chunks, device->name, sw_reader_header(reader)->cuda_driver_version);
	}
}
