/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the run that are missing.  Where findings are weaker without them, these are the first lines of a report: a
   reader may read no further.  Where only names of call stacks are missing, they are its last lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* True: some hold the code of kernels. */
static bool find(struct sw_text *t, sw_unusable_file_vec *files, const char **count)
{
	bool kernels = false;
	sw_unusable_files(t->report, files);
	for (size_t i = 0; i < files->n; i++)
		kernels |= files->at[i].kernels > 0;
	*count = sw_names_format(t->names, "%zu %s missing here or changed", files->n,
				 files->n == 1 ? "file of the run is" : "files of the run are");
	return kernels;
}

void sw_text_files(struct sw_text *t)
{
	sw_unusable_file_vec files;
	const char *count;
	if (find(t, &files, &count)) {
		sw_out_headline(&t->out, SW_YELLOW,
				sw_names_format(t->names, "syncwatch: %s: findings rest on weaker evidence", count));
		put_files(t, &files);
		sw_text_line(t, "fix:", sw_unusable_files_fix(t->report));
		putc('\n', t->out.file);
	}
	free(files.at);
}

void sw_text_nameless(struct sw_text *t)
{
	sw_unusable_file_vec files;
	const char *count, *some = "";
	if (!find(t, &files, &count) && files.n) {
		for (size_t i = 0; i < files.n && i < MOST_FILES; i++) {
			const char *slash = strrchr(files.at[i].path, '/');
			some = sw_names_format(t->names, "%s%s%s", some, i ? ", " : "",
					       slash ? slash + 1 : files.at[i].path);
		}
		sw_text_line(t, "no names:",
			     sw_names_format(t->names, "%s (%s%s): %s", count, some,
					     files.n > MOST_FILES ? ", ..." : "", sw_unusable_files_fix(t->report)));
	}
	free(files.at);
}
