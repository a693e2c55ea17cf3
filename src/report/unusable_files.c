/* SPDX-License-Identifier: Apache-2.0 */
#include "report/unusable_files.h"

#include <string.h>

#include "base/hash.h"
#include "report/symbols/module_names.h"

static struct sw_unusable_file *file_of(sw_unusable_file_vec *files, struct sw_map *by_path, const char *path)
{
	uint64_t *at = sw_map_put(by_path, sw_hash_bytes(SW_FNV_START, path, strlen(path)));
	if (!*at) {
		*sw_vec_push(files) = (struct sw_unusable_file){.path = path};
		*at = files->n;
	}
	return &files->at[*at - 1];
}

void sw_unusable_files(const struct sw_report *report, sw_unusable_file_vec *files)
{
	const struct sw_judgement *judgement = report->judgement;
	const struct sw_named_file *named;
	struct sw_map by_path = {0};
	*files = (sw_unusable_file_vec){0};
	for (size_t i = 0; i < judgement->unusable_code.n; i++) {
		const struct sw_unusable_code *code = &judgement->unusable_code.at[i];
		struct sw_unusable_file *file = file_of(files, &by_path, code->path);
		file->changed = code->changed;
		file->kernels = code->kernels;
	}
	for (size_t i = 0; (named = sw_symbols_unusable(report->names.symbols, i)); i++) {
		struct sw_unusable_file *file = file_of(files, &by_path, named->path);
		file->changed |= named->state == SW_OBJECT_CHANGED;
		file->names = true;
	}
	sw_map_free(&by_path);
}

const char *sw_unusable_files_fix(struct sw_report *report)
{
	const char *path = sw_reader_path(report->reader);
	if (sw_reader_packer(report->reader))
		return "the trace was packed without them: pack it again where it was recorded, with the files that "
		       "ran";
	return sw_names_format(
		&report->names,
		"run 'syncwatch pack %s' where it was recorded, with the files that ran, and judge what it writes",
		path);
}
