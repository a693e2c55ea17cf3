/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison for people: what got worse first. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/diff/diff.h"
#include "report/text/text_out.h"

struct writer {
	struct sw_out out;
	struct sw_names names; /* for its arena: nothing is looked up */
	const struct sw_diff *diff;
};

static const char *run_of(struct writer *w, const struct sw_digest *digest)
{
	return sw_names_format(
		&w->names, "%s (%s%s, %s)", digest->path, *digest->program ? digest->program : "a program",
		digest->simulated ? " on the simulated CUDA" : "", sw_name_time(&w->names, digest->span_ns));
}

/* The innermost frame that says most: the one with a line, else with a name, else the first. */
static const char *place_of(struct writer *w, const struct sw_digest_side *side)
{
	const struct sw_digest_frame *best = NULL;
	for (size_t i = 0; i < side->frames; i++) {
		const struct sw_digest_frame *frame = &side->frame[i];
		if (!best || (frame->line && !best->line) || (*frame->function && !*best->function && !best->line))
			best = frame;
	}
	if (!best)
		return side->what;
	if (best->line)
		return sw_names_format(&w->names, "%s at %s:%d in %s", side->what, best->file, best->line,
				       best->function);
	return sw_names_format(&w->names, "%s in %s%s%s", side->what, best->function, *best->function ? " of " : "",
			       best->module);
}

static const char *cost_of(struct writer *w, const struct sw_digest *digest, const struct sw_digest_finding *f)
{
	double share = digest->span_ns ? 100.0 * (double)f->total_ns / (double)digest->span_ns : 0;
	return sw_names_format(&w->names, "%s in %" PRIu64 " call%s, %s each, %.1f %% of the run, up to %s recoverable",
			       sw_name_time(&w->names, f->total_ns), f->calls, f->calls == 1 ? "" : "s",
			       sw_name_time(&w->names, f->total_ns / f->calls), share,
			       sw_name_time(&w->names, f->win_ns));
}

static const char *state_of(struct writer *w, const struct sw_digest *digest, const struct sw_digest_finding *f)
{
	const char *how =
		sw_names_format(&w->names, "%s, %s", sw_name_severity(f->severity), sw_name_confidence(f->confidence));
	if (f->calls)
		return sw_names_format(&w->names, "%s: %s", how, cost_of(w, digest, f));
	return sw_names_format(&w->names, "%s, %" PRIu64 " time%s", how, f->count, f->count == 1 ? "" : "s");
}

static void put_entry(struct writer *w, const struct sw_diff_entry *entry)
{
	static const enum sw_colour colours[SW_CHANGES] = {[SW_CHANGE_NEW] = SW_YELLOW,
							   [SW_CHANGE_WORSE] = SW_YELLOW,
							   [SW_CHANGE_BETTER] = SW_GREEN,
							   [SW_CHANGE_GONE] = SW_GREEN,
							   [SW_CHANGE_SAME] = SW_DIM};
	const struct sw_digest_finding *f = entry->b ? entry->b : entry->a;
	sw_out_coloured(&w->out, entry->new_error ? SW_RED : colours[entry->change],
			sw_names_format(&w->names, "%s%s: SW%03d %s", sw_name_change(entry->change),
					entry->new_error ? " error" : "", f->id, f->kind));
	putc('\n', w->out.file);
	sw_out_paragraph(&w->out, 2, "", 0, f->message);
	for (size_t i = 0; i < f->sides; i++)
		sw_out_paragraph(&w->out, 4, "", 0, place_of(w, &f->side[i]));
	if (entry->a && entry->b)
		sw_out_paragraph(&w->out, 2, "before:", 8, state_of(w, w->diff->a, entry->a));
	sw_out_paragraph(&w->out, 2,
			 !entry->a   ? "after:"
			 : !entry->b ? "before:"
				     : "after:",
			 8, state_of(w, entry->b ? w->diff->b : w->diff->a, f));
	putc('\n', w->out.file);
}

/* What makes "gone" and "new" less certain. */
static void put_doubts(struct writer *w)
{
	const struct sw_digest *const runs[] = {w->diff->a, w->diff->b};
	for (size_t i = 0; i < 2; i++)
		if (!runs[i]->complete)
			sw_out_paragraph(
				&w->out, 0, "", 0,
				sw_names_format(&w->names,
						"%s is not complete (a crash, a signal, lost records, a damaged "
						"trace): what it lacks may just not have been seen.",
						runs[i]->path));
	if (runs[0]->simulated != runs[1]->simulated)
		sw_out_paragraph(&w->out, 0, "", 0,
				 "One of the runs was on the simulated CUDA: their times cannot be compared.");
}

void sw_diff_text(const struct sw_diff *diff, FILE *out, bool colour, bool all)
{
	struct writer w = {.out = {.file = out, .colour = colour}, .diff = diff};
	sw_out_paragraph(&w.out, 0, "", 0,
			 sw_names_format(&w.names, "syncwatch: %s -> %s", run_of(&w, diff->a), run_of(&w, diff->b)));
	put_doubts(&w);
	putc('\n', out);
	for (size_t i = 0; i < diff->entries.n; i++)
		if (all || diff->entries.at[i].change != SW_CHANGE_SAME)
			put_entry(&w, &diff->entries.at[i]);
	sw_out_coloured(
		&w.out,
		diff->new_errors					    ? SW_RED
		: diff->count[SW_CHANGE_NEW] + diff->count[SW_CHANGE_WORSE] ? SW_YELLOW
									    : SW_GREEN,
		sw_names_format(&w.names,
				"syncwatch: %zu new, %zu worse, %zu better, %zu gone, %zu the same; %zu new error%s",
				diff->count[SW_CHANGE_NEW], diff->count[SW_CHANGE_WORSE], diff->count[SW_CHANGE_BETTER],
				diff->count[SW_CHANGE_GONE], diff->count[SW_CHANGE_SAME], diff->new_errors,
				diff->new_errors == 1 ? "" : "s"));
	putc('\n', out);
	sw_arena_free(&w.names.arena);
}
