/* SPDX-License-Identifier: Apache-2.0 */
/* The first lines of a report that lacks files of the run: whoever reads no further must know that. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/text/text.h"
#include "report/unusable_files.h"

#define MOST_FILES 2u

static const char *used_for(struct sw_text *t, const struct sw_unusable_file *file)
{
	if (!file->kernels)
		return "names of call stacks";
	return sw_names_format(t->names, "code of %" PRIu64 " kernel%s%s", file->kernels, file->kernels == 1 ? "" : "s",
			       file->names ? ", names of call stacks" : "");
}

static void put_files(struct sw_text *t, const sw_unusable_file_vec *files)
{
	for (size_t i = 0; i < files->n && i < MOST_FILES; i++) {
		const struct sw_unusable_file *file = &files->at[i];
		sw_text_line(t, file->changed ? "changed:" : "missing:",
			     sw_names_format(t->names, "%s (%s)", file->path, used_for(t, file)));
	}
	if (files->n > MOST_FILES)
		sw_text_line(t, "", sw_names_format(t->names, "and %zu more", files->n - MOST_FILES));
}

void sw_text_files(struct sw_text *t)
{
	sw_unusable_file_vec files;
	uint64_t kernels = 0;
	sw_unusable_files(t->report, &files);
	for (size_t i = 0; i < files.n; i++)
		kernels += files.at[i].kernels;
	if (files.n) {
		const char *one = files.n == 1 ? "file of the run is" : "files of the run are";
		sw_out_headline(
			&t->out, SW_YELLOW,
			sw_names_format(t->names, "syncwatch: %zu %s missing here or changed: %s", files.n, one,
					kernels ? "findings rest on weaker evidence" : "call stacks lack names"));
		put_files(t, &files);
		sw_text_line(t, "fix:", sw_unusable_files_fix(t->report));
		putc('\n', t->out.file);
	}
	free(files.at);
}
