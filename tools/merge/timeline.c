/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "output.h"
#include "report/timeline/timeline.h"

#define PIDS 1000u /* of one trace */

/* When the rank began, on the clock of the first machine; by the time of day where no collective bounds its clock. */
static int64_t start_of(const struct sw_merged *merged, const struct sw_merged_rank *rank)
{
	const struct sw_merged_rank *first = merged->ranks.at[0];
	const char *boot = *rank->boot ? rank->boot : rank->host;
	for (size_t i = 0; i < merged->clocks.n; i++)
		if (strcmp(merged->clocks.at[i].boot, boot) == 0 && merged->clocks.at[i].error_ns != UINT64_MAX)
			return (int64_t)rank->start_monotonic_ns + merged->clocks.at[i].offset_ns;
	return (int64_t)first->start_monotonic_ns + (int64_t)(rank->start_real_ns - first->start_real_ns);
}

/* The name of a rank in the timeline, malloc'ed; characters that JSON would escape are replaced. */
static char *name_of(const struct sw_merged_rank *rank)
{
	char *text;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	sw_merged_name(out, rank);
	if (rank->ranked && *rank->host)
		fprintf(out, " on %s", rank->host);
	fclose(out);
	for (char *c = text; *c; c++)
		if (*c == '"' || *c == '\\' || (unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
			*c = '?';
	return text;
}

/* Draws the timelines of all ranks into one file. */
static int draw_all(const struct sw_merged *merged, const struct sw_options *options, FILE *out)
{
	struct sw_chrome_part part = {0};
	int64_t first = INT64_MAX;
	int status = SW_EXIT_OK;
	for (size_t i = 0; i < merged->ranks.n; i++)
		first = start_of(merged, merged->ranks.at[i]) < first ? start_of(merged, merged->ranks.at[i]) : first;
	fprintf(out,
		"{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":%" PRIu64 ",\"traceEvents\":[",
		merged->ranks.n ? merged->ranks.at[0]->start_real_ns : 0);
	for (size_t i = 0; i < merged->ranks.n && !status; i++) {
		const struct sw_merged_rank *rank = merged->ranks.at[i];
		char *who = name_of(rank);
		part.who = who;
		part.pid_base = (uint32_t)i * PIDS;
		part.shift_ns = (uint64_t)(start_of(merged, rank) - first);
		status = sw_draw_part(out, rank->trace, options, &part);
		free(who);
	}
	fputs("\n]}\n", out);
	return status;
}

/* Writes the timeline of all ranks if it is wanted. */
int sw_merge_timeline(const struct sw_merged *merged, const struct sw_options *options)
{
	struct sw_output output;
	struct sw_error error;
	if (!options->chrome)
		return SW_EXIT_OK;
	if (sw_output_open(&output, options->chrome, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	int status = draw_all(merged, options, output.file);
	if (status)
		sw_output_drop(&output);
	else if (sw_output_close(&output, &error))
		status = sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return status;
}
