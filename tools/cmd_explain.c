/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch explain: what a finding means. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "detect/detect.h"

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
	const struct sw_finding_info *info;
	for (size_t i = 0; (info = sw_finding_info_at(i)); i++)
		printf("SW%03d  %-28s %s\n", info->number, info->kind, info->title);
	return sw_finish_stdout(SW_EXIT_OK);
}

int sw_cmd_explain(const struct sw_options *options)
{
	if (options->n_operands == 0)
		return list_all();
	if (options->n_operands > 1)
		return sw_complain_usage("one id at a time, not also '%s'", options->operands[1]);
	const struct sw_finding_info *info = sw_finding_info(parse_id(options->operands[0]));
	if (!info)
		return sw_complain_usage("no finding has the id '%s'; 'syncwatch explain' lists all",
					 options->operands[0]);
	printf("SW%03d %s: %s\n\n%s\n", info->number, info->kind, info->title, info->text);
	return sw_finish_stdout(SW_EXIT_OK);
}
