/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch explain: what a finding means, and the words of reports. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "detect/detect.h"
#include "last_report.h"
#include "merge/collectives.h"
#include "report/text/text_out.h"

struct term {
	const char *term, *text;
};
static const struct term terms[] = {
#define SW_TERM(term, text) {term, text},
#include "help/terms.def"
#undef SW_TERM
};
#define N_TERMS (sizeof terms / sizeof terms[0])

/* Reads the number of a finding: "SW103", "sw103" or "103"; else 0. */
static int parse_id(const char *text)
{
	if (tolower((unsigned char)text[0]) == 's' && tolower((unsigned char)text[1]) == 'w')
		text += 2;
	if (strlen(text) != 3 || strspn(text, "0123456789") != 3)
		return 0;
	return atoi(text);
}

/* The finding of this kind, such as "busy-poll"; NULL: there is none. */
static const struct sw_finding_info *find_kind(const char *name)
{
	const struct sw_finding_info *info;
	for (size_t i = 0; (info = sw_finding_info_at(i)); i++)
		if (strcasecmp(info->kind, name) == 0)
			return info;
	return NULL;
}

/* Lists all findings, those of a merge among them, by number. */
static int list_all(void)
{
	size_t i = 0, k = 0;
	for (;;) {
		const struct sw_finding_info *info = sw_finding_info_at(i);
		const struct sw_between_info *between = sw_between_info_at(k);
		if (!info && !between)
			break;
		if (info && (!between || info->number < between->number)) {
			printf("SW%03d  %-28s %s\n", info->number, info->kind, info->title);
			i++;
		} else {
			printf("SW%03d  %-28s %s\n", between->number, between->kind, between->title);
			k++;
		}
	}
	puts("\nterms  the words of reports: waited, blocked, recoverable ...");
	return sw_finish_stdout(SW_EXIT_OK);
}

/* Explains a word of reports. */
static void print_term(const struct term *term)
{
	const struct sw_out out = {.file = stdout, .columns = 100};
	sw_out_paragraph(&out, 0, term->term, 16, term->text);
}

/* Prints the explanation of a finding. */
static int explain_finding(const struct sw_finding_info *info)
{
	printf("SW%03d %s: %s\n\n%s\n", info->number, info->kind, info->title, info->text);
	return sw_finish_stdout(SW_EXIT_OK);
}

/* Finds the kind of finding that only a merge makes, by number or name. */
static const struct sw_between_info *find_between(const char *what)
{
	const struct sw_between_info *info;
	for (size_t i = 0; (info = sw_between_info_at(i)); i++)
		if (info->number == parse_id(what) || strcasecmp(info->kind, what) == 0)
			return info;
	return NULL;
}

/* Does the text look like a fingerprint or its begin, or like FILE:LINE? */
static bool is_fingerprint(const char *text)
{
	size_t length = strlen(text);
	const char *colon = strrchr(text, ':');
	if (colon && colon > text && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1))
		return true; /* FILE:LINE */
	return length >= 4 && length <= 16 && strspn(text, "0123456789abcdefABCDEF") == length;
}

/* Explains a finding of the last report that was printed. */
static int explain_fingerprint(const char *text)
{
	struct sw_last_finding finding;
	int found = sw_last_report_find(text, &finding);
	const struct sw_finding_info *info = found == 1 ? sw_finding_info(finding.id) : NULL;
	int status = SW_EXIT_OK;
	if (info) {
		printf("SW%03d %s\n%s\n\n", info->number, info->kind, finding.text);
		status = explain_finding(info);
	} else if (found < 0) {
		status = sw_complain(SW_EXIT_INPUT, "no report was kept: 'syncwatch report TRACE' keeps the last one");
	} else {
		status = sw_complain(SW_EXIT_INPUT, "%s of the last report has the fingerprint or line '%s'",
				     found ? "more than one finding" : "no finding", text);
	}
	free(finding.text);
	return status;
}

/* `syncwatch explain`: by id, by kind, by fingerprint, or a word of reports. */
int sw_cmd_explain(const struct sw_options *options)
{
	if (options->n_operands == 0 && !options->finding)
		return list_all();
	if (options->n_operands + (options->finding != NULL) > 1)
		return sw_complain_usage("one id at a time, not also '%s'", options->operands[options->n_operands - 1]);
	const char *what = options->finding ? options->finding : options->operands[0];
	const struct sw_finding_info *info = sw_finding_info(parse_id(what));
	info = info ? info : find_kind(what);
	if (info)
		return explain_finding(info);
	const struct sw_between_info *between = find_between(what);
	if (between) {
		printf("SW%03d %s: %s\n\n%s\n", between->number, between->kind, between->title, between->text);
		return sw_finish_stdout(SW_EXIT_OK);
	}
	const bool all = strcasecmp(what, "terms") == 0;
	bool any = false;
	for (size_t i = 0; i < N_TERMS; i++)
		if (all || strcasecmp(terms[i].term, what) == 0) {
			print_term(&terms[i]);
			any = true;
		}
	if (any)
		return sw_finish_stdout(SW_EXIT_OK);
	if (is_fingerprint(what))
		return explain_fingerprint(what);
	return sw_complain_usage(
		"no finding has the id, kind or fingerprint '%s', and it is no term; 'syncwatch explain' "
		"lists all",
		what);
}
