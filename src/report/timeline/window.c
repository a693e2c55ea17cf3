/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/window.h"

#include <stdlib.h>

#include "report/words/wording.h"

static void add_around(struct sw_export_window *window, const struct sw_finding *finding, uint64_t ns)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint64_t t = sw_finding_access(finding, i)->t_ns, end = t + sw_finding_access(finding, i)->dur_ns;
		*sw_vec_push(&window->around_hazards) = (struct sw_excerpt){t > ns ? t - ns : 0, end + ns};
	}
}

void sw_window_init(struct sw_export_window *window, const struct sw_chrome_options *options)
{
	*window = (struct sw_export_window){.whole = {options->from_ns, options->to_ns ? options->to_ns : UINT64_MAX},
					    .around = options->around != NULL};
	for (size_t i = 0; options->around && i < options->around->findings.n; i++)
		if (sw_is_hazard(&options->around->findings.at[i]))
			add_around(window, &options->around->findings.at[i], options->around_ns);
	sw_excerpts_merge(&window->around_hazards);
}

bool sw_window_shows(const struct sw_export_window *window, uint64_t from, uint64_t to)
{
	if (to < window->whole.from || from > window->whole.to)
		return false;
	if (!window->around)
		return true;
	return sw_excerpts_meet(&window->around_hazards, from, to);
}

void sw_window_free(struct sw_export_window *window)
{
	free(window->around_hazards.at);
}
