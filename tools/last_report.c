/* SPDX-License-Identifier: Apache-2.0 */
#include "last_report.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/trusted_file.h"
#include "footprint/kernel/store/disk_store.h"
#include "output.h"
#include "report/groups.h"
#include "report/symbols/stack.h"

/* A report of a million findings need not be kept whole. */
#define MOST 2000

struct sw_last_report {
	struct sw_output output;
	size_t n;
};

/* Where the last report is kept, malloc'ed; NULL: nowhere. */
static char *path_of_file(void)
{
	char *folder = sw_store_folder("");
	char *path = folder ? sw_format("%s/last-report", folder) : NULL;
	free(folder);
	return path;
}

/* Begins to keep a report, for `syncwatch explain FINGERPRINT`; NULL: it is not kept. */
struct sw_last_report *sw_last_report_begin(bool no_cache)
{
	struct sw_error error;
	char *path = no_cache ? NULL : path_of_file();
	struct sw_last_report *last = NULL;
	if (!path)
		return NULL;
	/* The cache folder, and that of syncwatch in it. */
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	last = sw_calloc(1, sizeof *last);
	if (sw_output_open(&last->output, path, &error)) {
		free(last);
		last = NULL;
	}
	free(path);
	return last;
}

/* Writes one line of the file that `last` reads, whatever control characters the names hold. */
static void put_line(FILE *out, const char *what, const char *text)
{
	if (!*text)
		return;
	fprintf(out, "\t%s", what);
	for (; *text; text++)
		putc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

/* Adds the findings of a report. */
void sw_last_report_add(struct sw_last_report *last, struct sw_report *report, const char *trace)
{
	for (size_t i = 0; last && i < report->shown.n && last->n < MOST; i++, last->n++) {
		const struct sw_shown_finding *shown = &report->shown.at[i];
		const struct sw_group *group = sw_report_group_of(report, shown);
		const struct sw_frame *site = sw_report_site(report, shown->finding);
		const struct sw_wording words = sw_report_words(report, shown);
		struct sw_group_fix fix = {.text = "", .note = "", .why = ""};
		FILE *out = last->output.file;
		if (group)
			sw_group_fix(report, group, &fix);
		fprintf(out, "%016" PRIx64 "\t%d", shown->fingerprint, shown->finding->id);
		put_line(out, "",
			 sw_names_format(&report->names, "%s (%s): %s", sw_name_severity(shown->finding->severity),
					 sw_name_confidence(shown->finding->confidence), words.message));
		put_line(out, "at ", site ? sw_place_full(&report->names, site) : "");
		put_line(out, "fix: ", fix.text);
		put_line(out, "cost: ", words.cost);
		put_line(out, "trace: ", trace);
		putc('\n', out);
	}
}

/* Completes the file. */
void sw_last_report_end(struct sw_last_report *last)
{
	struct sw_error error;
	if (!last)
		return;
	sw_output_close(&last->output, &error);
	free(last);
}

/* The parts of a line after the id, a line each; malloc'ed. */
static char *lines_of(const char *parts)
{
	char *text = sw_strdup(parts);
	for (char *p = text; *p; p++)
		if (*p == '\t')
			*p = '\n';
	return text;
}

/* Is it the line of this fingerprint, or does it name this FILE:LINE? */
static bool is_asked(const char *line, const char *which)
{
	const size_t length = strlen(which);
	if (!strchr(which, ':'))
		return strncasecmp(line, which, length) == 0 && length >= 4 && length <= 16 && line[16] == '\t';
	for (const char *at = line; (at = strstr(at, which)); at++)
		if (strchr("/( \t", at[-1]) && (at[length] < '0' || at[length] > '9'))
			return true;
	return false;
}

/* Finds a finding of the last report by fingerprint or FILE:LINE: how many, -1: no report was kept. */
int sw_last_report_find(const char *which, struct sw_last_finding *out)
{
	char *path = path_of_file(), *line = NULL, *parts;
	FILE *file = path ? sw_trusted_stream(path, (uid_t)-1, NULL) : NULL;
	size_t room = 0;
	int found = file ? 0 : -1;
	free(path);
	*out = (struct sw_last_finding){0};
	while (file && getline(&line, &room, file) >= 0) {
		if (!is_asked(line, which))
			continue;
		line[strcspn(line, "\n")] = 0;
		int id = (int)strtol(line + 17, &parts, 10);
		if (out->text && strchr(which, ':'))
			break; /* the first of a line comes first in the report */
		if (out->text)
			found = 2;
		else if (*parts == '\t') {
			*out = (struct sw_last_finding){id, lines_of(parts + 1)};
			found = 1;
		}
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}
