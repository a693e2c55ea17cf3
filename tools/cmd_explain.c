/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch explain: what a finding means. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const struct {
	int number;
	const char *kind, *title, *text;
} findings[] = {
#define SW_FINDING(name, number, kind, title, text) {number, kind, title, text},
#include "detect/findings.def"
#undef SW_FINDING
};
#define N_FINDINGS (sizeof findings / sizeof findings[0])

/* "SW103", "sw103" or "103": the number, else 0. */
static int parse_id(const char *text)
{
	if (tolower((unsigned char)text[0]) == 's' && tolower((unsigned char)text[1]) == 'w')
		text += 2;
	if (strlen(text) != 3 || strspn(text, "0123456789") != 3)
		return 0;
	return atoi(text);
}

static int list_all(void)
{
	for (size_t i = 0; i < N_FINDINGS; i++)
		printf("SW%03d  %-28s %s\n", findings[i].number, findings[i].kind, findings[i].title);
	return sw_finish_stdout(SW_EXIT_OK);
}

int sw_cmd_explain(const struct sw_options *options)
{
	if (options->n_operands == 0)
		return list_all();
	if (options->n_operands > 1)
		return sw_complain_usage("one id at a time, not also '%s'", options->operands[1]);
	int number = parse_id(options->operands[0]);
	for (size_t i = 0; i < N_FINDINGS; i++) {
		if (findings[i].number != number)
			continue;
		printf("SW%03d %s: %s\n\n%s\n", number, findings[i].kind, findings[i].title, findings[i].text);
		return sw_finish_stdout(SW_EXIT_OK);
	}
	return sw_complain_usage("no finding has the id '%s'; 'syncwatch explain' lists all", options->operands[0]);
}
