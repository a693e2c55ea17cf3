/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the run that are missing or changed, as JSON. */
#include <stdlib.h>

#include "report/json/json_out.h"
#include "report/unusable_files.h"

void sw_json_unusable_files(struct sw_json *json, struct sw_report *report)
{
	sw_unusable_file_vec files;
	sw_unusable_files(report, &files);
	sw_json_open(json, "unusable_files", '[');
	for (size_t i = 0; i < files.n; i++) {
		const struct sw_unusable_file *file = &files.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "path", file->path);
		sw_json_text(json, "state", file->changed ? "changed" : "missing");
		sw_json_number(json, "kernels", file->kernels);
		sw_json_bool(json, "names", file->names);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_text(json, "fix", files.n ? sw_unusable_files_fix(report) : NULL);
	free(files.at);
}
