/* SPDX-License-Identifier: Apache-2.0 */
#include "report/suppress_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "report/groups.h"
#include "report/symbols/places.h"
#include "report/utf8.h"

struct sw_suppress_file {
	FILE *out;
	struct sw_map reported; /* hashes of lines */
};

/* Names come from the program: a line break among them would begin a line of its own. */
static void put_comment(FILE *out, const char *text)
{
	fputs("# ", out);
	while (*text) {
		size_t n = sw_utf8_length(text);
		if (n == 0 || (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f)))
			putc('?', out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
	putc('\n', out);
}

struct sw_suppress_file *sw_suppress_file_begin(FILE *out)
{
	struct sw_suppress_file *file = sw_calloc(1, sizeof *file);
	file->out = out;
	fputs("# Suppressions that syncwatch wrote from a report, for --suppress.  Each line hides one finding, on "
	      "one\n"
	      "# buffer: keep those that were reviewed, and say why.  A line hides nothing any more when the code that "
	      "it\n"
	      "# names is changed; lines that are inserted elsewhere do not matter.\n",
	      out);
	return file;
}

static void add_finding(struct sw_suppress_file *file, struct sw_report *report, const struct sw_shown_finding *shown,
			uint32_t buffer)
{
	struct sw_names *names = &report->names;
	const char *line = sw_suppress_line(names, shown->finding, buffer);
	if (shown->suppressed || (*sw_map_put(&file->reported, sw_hash_bytes(SW_FNV_START, line, strlen(line))))++)
		return;
	const struct sw_frame *site = sw_report_site(report, shown->finding);
	putc('\n', file->out);
	put_comment(file->out,
		    sw_names_format(names, "%s SW%03d %s, fingerprint %016" PRIx64 "%s%s",
				    sw_name_severity(shown->finding->severity), shown->finding->id, shown->info->kind,
				    shown->fingerprint, site ? ", " : "", site ? sw_place_full(names, site) : ""));
	put_comment(file->out, sw_report_words(report, shown).message);
	if (!strstr(line, " at=") && !strstr(line, " kernel=")) {
		put_comment(file->out,
			    sw_names_format(names, "nothing is known of its place: a line would hide all SW%03d",
					    shown->finding->id));
		return;
	}
	fputs(line, file->out);
	putc('\n', file->out);
}

void sw_suppress_file_add(struct sw_suppress_file *file, struct sw_report *report)
{
	for (size_t i = 0; i < report->shown.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		const struct sw_shown_finding *shown = &report->shown.at[i];
		for (uint32_t buffer = 0; buffer <= sw_finding_more(shown->finding)->others.n; buffer++)
			add_finding(file, report, shown, buffer);
		sw_names_scope_end(&report->names, &scope);
	}
}

void sw_suppress_file_end(struct sw_suppress_file *file)
{
	sw_map_free(&file->reported);
	free(file);
}
