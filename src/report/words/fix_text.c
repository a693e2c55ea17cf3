/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a fix as text. */
#include "report/symbols/stack.h"
#include "report/words/fix_lines.h"

const char *sw_fix_place(struct sw_names *names, const struct sw_fix_line *line)
{
	static const char *const words[] = {
		[SW_FIX_ONCE] = "once",
		[SW_FIX_AFTER] = "after",
		[SW_FIX_BEFORE] = "before",
		[SW_FIX_INSTEAD] = "instead of",
		[SW_FIX_LAST] = "before the result is used",
		[SW_FIX_WITHOUT] = "remove",
	};
	if (!line->frame)
		return words[line->where];
	return sw_names_format(names, "%s %s", words[line->where], sw_place_brief(names, line->frame));
}

const char *sw_fix_lines_text(struct sw_names *names, const struct sw_fix_lines *lines)
{
	const char *text = "";
	for (uint32_t i = 0; i < lines->n; i++)
		text = sw_names_format(names, "%s%s%s: %s", text, i ? " " : "", sw_fix_place(names, &lines->line[i]),
				       lines->line[i].code);
	return text;
}

const char *sw_fix_text(struct sw_names *names, const struct sw_finding *finding, const char *sentence)
{
	struct sw_fix_lines lines = {0};
	const bool hazard = finding->accesses > 1 && finding->access[0]->role != SW_FREE;
	if (hazard && sw_finding_is(finding->id, SW_FAMILY_HAZARD))
		sw_fix_lines(names, finding, finding->access[0], finding->access[1], &lines);
	if (!lines.n)
		sw_fix_call(names, finding, &lines);
	if (!lines.n)
		return sentence;
	sw_fix_mind_bodies(names, hazard ? sw_place_of(names, finding->access[0], NULL) : NULL, &lines);
	return lines.streams ? sw_names_format(names, "%s (%s)", sw_fix_lines_text(names, &lines), lines.streams)
			     : sw_fix_lines_text(names, &lines);
}
