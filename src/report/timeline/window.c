/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/window.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct sw_time_span *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

static bool is_hazard(const struct sw_finding *finding)
{
	return finding->id >= 101 && finding->id <= 199;
}

static void add_around(struct sw_export_window *window, const struct sw_finding *finding, uint64_t ns)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint64_t t = finding->access[i].t_ns, end = t + finding->access[i].dur_ns;
		*sw_vec_push(&window->spans) = (struct sw_time_span){t > ns ? t - ns : 0, end + ns};
	}
}

static void merge(struct sw_export_window *window)
{
	size_t n = 0;
	if (!window->spans.n)
		return;
	qsort(window->spans.at, window->spans.n, sizeof *window->spans.at, by_start);
	for (size_t i = 1; i < window->spans.n; i++) {
		struct sw_time_span *last = &window->spans.at[n], *next = &window->spans.at[i];
		if (next->from > last->to)
			window->spans.at[++n] = *next;
		else if (next->to > last->to)
			last->to = next->to;
	}
	window->spans.n = n + 1;
}

void sw_window_init(struct sw_export_window *window, const struct sw_chrome_options *options)
{
	*window = (struct sw_export_window){.whole = {options->from_ns, options->to_ns ? options->to_ns : UINT64_MAX},
					    .around = options->around != NULL};
	for (size_t i = 0; options->around && i < options->around->findings.n; i++)
		if (is_hazard(&options->around->findings.at[i]))
			add_around(window, &options->around->findings.at[i], options->around_ns);
	merge(window);
}

bool sw_window_shows(const struct sw_export_window *window, uint64_t from, uint64_t to)
{
	if (to < window->whole.from || from > window->whole.to)
		return false;
	if (!window->around)
		return true;
	size_t low = 0, high = window->spans.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (window->spans.at[middle].to < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < window->spans.n && window->spans.at[low].from <= to;
}

void sw_window_free(struct sw_export_window *window)
{
	free(window->spans.at);
}
