/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/hash.h"
#include "report/json/json_out.h"
#include "report/text/text_out.h"

/* ---- which findings belong together ------------------------------------------------------------------------------ */

/*
 * How much of a call site two findings must share, strictest first: a pair that is alike in everything is never torn
 * apart for one that merely looks like it.
 */
enum likeness {
	ALL,	  /* id, operations, functions, files, lines */
	NO_LINES, /* lines moved */
	NO_FILES, /* a function moved to another file, or one side has no debug information */
	NO_ORDER, /* races: the operations came in the other order, so RAW and WAR are the same */
	LIKENESSES
};

/* The hash with a text added, and its end. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	return sw_hash_bytes(hash, text, strlen(text) + 1);
}

/* The hash with a number added. */
static uint64_t add_number(uint64_t hash, uint64_t number)
{
	return sw_hash_bytes(hash, &number, sizeof number);
}

/* Key of one side of a finding: the operation and its call stack, as strictly as `like` says. */
static uint64_t side_key(const struct sw_digest_side *side, enum likeness like)
{
	uint64_t hash = add_text(SW_FNV_START, side->what);
	for (size_t i = 0; i < side->frames; i++) {
		const struct sw_digest_frame *frame = &side->frame[i];
		/* Offsets in a module move with every build: of a frame without a name the module is all that stays. */
		hash = add_text(hash, *frame->function ? frame->function : frame->module);
		if (like <= NO_LINES)
			hash = add_text(hash, frame->file);
		if (like == ALL)
			hash = add_number(hash, (uint64_t)frame->line);
	}
	return hash;
}

/* Is it one of the ids of a race between two operations, which differ by their order only? */
static bool is_race(int id)
{
	return id == SW_FINDING_RACE_RAW || id == SW_FINDING_RACE_WAR || id == SW_FINDING_RACE_WAW;
}

/* Key of a finding: those with one key are the same finding in two runs, as strictly as `like` says. */
static uint64_t key_of(const struct sw_digest_finding *f, enum likeness like)
{
	bool unordered = like == NO_ORDER && is_race(f->id) && f->sides >= 2;
	uint64_t hash = add_number(SW_FNV_START, unordered ? 0 : (uint64_t)f->id);
	size_t i = 0;
	if (unordered) {
		uint64_t one = side_key(&f->side[0], like), other = side_key(&f->side[1], like);
		hash = add_number(add_number(hash, one < other ? one : other), one < other ? other : one);
		i = 2;
	}
	for (; i < f->sides; i++)
		hash = add_number(hash, side_key(&f->side[i], like));
	return hash;
}

/* A finding on its way to its partner. */
struct half {
	const struct sw_digest_finding *finding;
	const struct sw_digest_finding *partner;
	uint64_t key;
};

/* The line of the finding's innermost frame; 0: not known. */
static int first_line(const struct sw_digest_finding *f)
{
	return f->sides && f->side[0].frames ? f->side[0].frame[0].line : 0;
}

/* For qsort(): equal sites of one function in the order of their lines; reports list them by cost. */
static int by_line(const void *one, const void *other)
{
	const struct sw_digest_finding *a = ((const struct half *)one)->finding,
				       *b = ((const struct half *)other)->finding;
	if (first_line(a) != first_line(b))
		return first_line(a) < first_line(b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The findings of one run, for matching; the caller frees the array. */
static struct half *make_halves(const struct sw_digest *digest)
{
	struct half *half = sw_calloc(digest->findings.n + 1, sizeof *half);
	for (size_t i = 0; i < digest->findings.n; i++)
		half[i].finding = &digest->findings.at[i];
	qsort(half, digest->findings.n, sizeof *half, by_line);
	return half;
}

/* Makes partners of findings of both runs that have one key and no partner yet. */
static void match_halves(struct half *a, size_t an, struct half *b, size_t bn, enum likeness like)
{
	for (size_t i = 0; i < an; i++)
		a[i].key = key_of(a[i].finding, like);
	for (size_t k = 0; k < bn; k++) {
		b[k].key = key_of(b[k].finding, like);
		for (size_t i = 0; i < an && !b[k].partner; i++) {
			if (a[i].partner || b[k].partner || a[i].key != b[k].key)
				continue;
			a[i].partner = b[k].finding;
			b[k].partner = a[i].finding;
		}
	}
}

/* ---- what changed ------------------------------------------------------------------------------------------------ */

/* Compares two numbers: -1, 0 or 1 if `b` is less than, about or more than `a`, by more than `percent` of the
   larger. */
static int differs_much(uint64_t a, uint64_t b, uint64_t percent)
{
	uint64_t most = a > b ? a : b, apart = a > b ? a - b : b - a;
	if (apart <= most / 100 * percent)
		return 0;
	return a > b ? -1 : 1;
}

/* Host time of the first run, as if that had been as long as the second. */
static uint64_t scaled_time(const struct sw_diff *diff, uint64_t ns)
{
	if (!diff->a->span_ns || !diff->b->span_ns)
		return ns;
	return (uint64_t)((double)ns * (double)diff->b->span_ns / (double)diff->a->span_ns);
}

/*
 * A wait changed when it takes another share of the run, and not just because the run got longer or shorter: its time
 * in all or its time a call must have gone the same way.
 */
static int time_differs(const struct sw_diff *diff, const struct sw_digest_finding *a,
			const struct sw_digest_finding *b, uint64_t a_ns, uint64_t b_ns)
{
	const bool few = a->calls < SW_DIFF_MANY || b->calls < SW_DIFF_MANY;
	const uint64_t percent = few ? 2 * SW_DIFF_NOISE_PERCENT : SW_DIFF_NOISE_PERCENT;
	uint64_t before = scaled_time(diff, a_ns), apart = before > b_ns ? before - b_ns : b_ns - before;
	int share = differs_much(before, b_ns, percent);
	if (apart <= SW_DIFF_NOISE_NS)
		return 0;
	return share == differs_much(a_ns / a->calls, b_ns / b->calls, percent) ||
			       share == differs_much(a_ns, b_ns, percent)
		       ? share
		       : 0;
}

/* The host time of all calls but the longest. */
static uint64_t without_longest(const struct sw_digest_finding *f)
{
	return f->total_ns > f->worst_ns ? f->total_ns - f->worst_ns : 0;
}

/* Does the time of a wait differ between the runs (-1, 0, 1), also without the longest call of each?  One slow call
   changes nothing, unless there are too few to tell. */
static int wait_differs(const struct sw_diff *diff, const struct sw_digest_finding *a,
			const struct sw_digest_finding *b)
{
	const bool few = a->calls < SW_DIFF_MANY || b->calls < SW_DIFF_MANY;
	const int differs = time_differs(diff, a, b, a->total_ns, b->total_ns);
	if (!differs || few || !a->worst_ns || !b->worst_ns)
		return differs;
	return time_differs(diff, a, b, without_longest(a), without_longest(b)) == differs ? differs : 0;
}

/* Does the time that can be won differ?  Intervals that meet may be of the same value: 0. */
static int gain_differs(const struct sw_diff *diff, const struct sw_digest_finding *a,
			const struct sw_digest_finding *b)
{
	const uint64_t low = scaled_time(diff, a->least_ns), high = scaled_time(diff, a->recoverable_ns);
	if (low <= b->recoverable_ns && b->least_ns <= high)
		return 0;
	return time_differs(diff, a, b, a->recoverable_ns, b->recoverable_ns);
}

/* Is the finding worse, better or the same in the second run? */
static enum sw_change compare_findings(const struct sw_diff *diff, const struct sw_digest_finding *a,
				       const struct sw_digest_finding *b)
{
	int worse = 0;
	if (a->calls && b->calls) {
		worse = wait_differs(diff, a, b);
		if (!worse)
			worse = gain_differs(diff, a, b);
	}
	if (a->severity != b->severity && (!a->calls || b->severity == SW_ERROR))
		worse = a->severity < b->severity ? 1 : -1;
	else if (a->confidence != b->confidence && !a->calls)
		worse = a->confidence < b->confidence ? 1 : -1;
	return worse > 0 ? SW_CHANGE_WORSE : worse < 0 ? SW_CHANGE_BETTER : SW_CHANGE_SAME;
}

/* Does the wait cost so little that it may stand on either side of what a report leaves out?  Then it says nothing that
   one report lacks it. */
static bool is_cheap(const struct sw_digest_finding *f)
{
	return f->calls && f->severity != SW_ERROR && f->total_ns <= SW_DIFF_NOISE_NS;
}

/* The finding of another run that belongs to this one; NULL: there is none. */
static const struct sw_digest_finding *find_alike(const struct sw_digest *in, const struct sw_digest_finding *f)
{
	for (int like = 0; like < LIKENESSES; like++) {
		const uint64_t key = key_of(f, (enum likeness)like);
		for (size_t i = 0; i < in->findings.n; i++)
			if (key_of(&in->findings.at[i], (enum likeness)like) == key)
				return &in->findings.at[i];
	}
	return NULL;
}

/* Has a repeated run of the first program a finding like `b`?  Then what differs between `a` and `b` differs between
   runs of one program, too. */
static bool repeats_show(const struct sw_diff *diff, const struct sw_digest_finding *b)
{
	for (size_t i = 0; i < diff->repeats; i++) {
		const struct sw_diff other = {.a = &diff->repeat[i], .b = diff->b};
		const struct sw_digest_finding *alike = find_alike(other.a, b);
		if (alike && compare_findings(&other, alike, b) == SW_CHANGE_SAME)
			return true;
	}
	return false;
}

/* Is a finding like this one missing in some repeat of the second run? */
static bool repeats_lack(const struct sw_diff *diff, const struct sw_digest_finding *a)
{
	for (size_t i = 0; i < diff->repeats; i++)
		if (!find_alike(&diff->repeat[i], a))
			return true;
	return false;
}

/* Adds a finding of both runs, or of one (the other NULL), to the comparison. */
static void add_pair(struct sw_diff *diff, const struct sw_digest_finding *a, const struct sw_digest_finding *b)
{
	struct sw_diff_entry entry = {.a = a, .b = b};
	if (a && b)
		entry.change = repeats_show(diff, b) ? SW_CHANGE_SAME : compare_findings(diff, a, b);
	else if (is_cheap(a ? a : b) || (b ? repeats_show(diff, b) : repeats_lack(diff, a)))
		return;
	else
		entry.change = a ? SW_CHANGE_GONE : SW_CHANGE_NEW;
	entry.new_error =
		entry.change != SW_CHANGE_SAME && b && b->severity == SW_ERROR && (!a || a->severity != SW_ERROR);
	diff->count[entry.change]++;
	diff->new_errors += entry.new_error;
	diff->measured_once +=
		entry.change != SW_CHANGE_SAME && !entry.new_error && !diff->repeats && (b ? b : a)->calls > 0;
	*sw_vec_push(&diff->entries) = entry;
}

/* For qsort(): new and worse findings first. */
static int by_change(const void *one, const void *other)
{
	const struct sw_diff_entry *x = one, *y = other;
	if (x->change != y->change)
		return x->change < y->change ? -1 : 1;
	/* Both have the side that decides: in the order of its report. */
	const struct sw_digest_finding *f = x->b ? x->b : x->a, *g = y->b ? y->b : y->a;
	return f < g ? -1 : f > g;
}

void sw_diff_make(struct sw_diff *diff, const struct sw_digest *a, const struct sw_digest *b,
		  const struct sw_digest *repeat, size_t repeats)
{
	struct half *of_a = make_halves(a), *of_b = make_halves(b);
	*diff = (struct sw_diff){.a = a, .b = b, .repeat = repeat, .repeats = repeats};
	for (int like = 0; like < LIKENESSES; like++)
		match_halves(of_a, a->findings.n, of_b, b->findings.n, (enum likeness)like);
	for (size_t i = 0; i < b->findings.n; i++)
		add_pair(diff, of_b[i].partner, of_b[i].finding);
	for (size_t i = 0; i < a->findings.n; i++)
		if (!of_a[i].partner)
			add_pair(diff, of_a[i].finding, NULL);
	if (diff->entries.n)
		qsort(diff->entries.at, diff->entries.n, sizeof *diff->entries.at, by_change);
	free(of_a);
	free(of_b);
}

/* Frees the comparison. */
void sw_diff_free(struct sw_diff *diff)
{
	free(diff->entries.at);
	*diff = (struct sw_diff){0};
}

const char *sw_name_change(enum sw_change change)
{
	static const char *const names[SW_CHANGES] = {
		[SW_CHANGE_NEW] = "new",   [SW_CHANGE_WORSE] = "worse", [SW_CHANGE_BETTER] = "better",
		[SW_CHANGE_GONE] = "gone", [SW_CHANGE_SAME] = "same",
	};
	return names[change];
}

/* A comparison as JSON: doc/diff.schema.json says what each member means. Members are only ever added. */

/* Writes which run was compared. */
static void put_run(struct sw_json *json, const char *key, const struct sw_digest *digest)
{
	sw_json_open(json, key, '{');
	sw_json_text(json, "path", digest->path);
	sw_json_text(json, "program", digest->program);
	sw_json_ms(json, "span_ms", digest->span_ns);
	sw_json_bool(json, "complete", digest->complete);
	sw_json_bool(json, "whole", digest->whole);
	sw_json_bool(json, "simulated", digest->simulated);
	sw_json_number(json, "findings", digest->findings.n);
	sw_json_close(json, '}');
}

/* Writes the host time of a finding's calls in one run; null where it has none. */
static void put_cost(struct sw_json *json, const struct sw_digest *digest, const struct sw_digest_finding *f)
{
	if (!f->calls) {
		sw_json_text(json, "cost", NULL);
		return;
	}
	sw_json_open(json, "cost", '{');
	sw_json_number(json, "calls", f->calls);
	sw_json_ms(json, "total_ms", f->total_ns);
	sw_json_ms(json, "per_call_ms", f->total_ns / f->calls);
	sw_json_ms(json, "per_second_ms",
		   digest->span_ns ? (uint64_t)((double)f->total_ns * 1e9 / (double)digest->span_ns) : 0);
	sw_json_ms(json, "win_high_ms", f->recoverable_ns);
	sw_json_close(json, '}');
}

/* Writes one side of a finding with its call stack. */
static void put_side(struct sw_json *json, const struct sw_digest_side *side)
{
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "operation", side->what);
	sw_json_open(json, "stack", '[');
	for (size_t i = 0; i < side->frames; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "function", side->frame[i].function);
		sw_json_text(json, "file", side->frame[i].file);
		sw_json_number(json, "line", side->frame[i].line > 0 ? (uint64_t)side->frame[i].line : 0);
		sw_json_text(json, "module", side->frame[i].module);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes the finding of one run; null where it is not in that run. */
static void put_finding(struct sw_json *json, const char *key, const struct sw_digest *digest,
			const struct sw_digest_finding *f)
{
	char fingerprint[17];
	if (!f) {
		sw_json_text(json, key, NULL);
		return;
	}
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, f->fingerprint);
	sw_json_open(json, key, '{');
	sw_json_text(json, "severity", sw_name_severity(f->severity));
	sw_json_text(json, "confidence", sw_name_confidence(f->confidence));
	sw_json_number(json, "count", f->count);
	sw_json_text(json, "message", f->message);
	sw_json_open(json, "operations", '[');
	for (size_t i = 0; i < f->sides; i++)
		put_side(json, &f->side[i]);
	sw_json_close(json, ']');
	put_cost(json, digest, f);
	sw_json_text(json, "fingerprint", fingerprint);
	sw_json_close(json, '}');
}

/* Writes a finding of the comparison as JSON. */
static void put_entry_json(struct sw_json *json, const struct sw_diff *diff, const struct sw_diff_entry *entry)
{
	const struct sw_digest_finding *f = entry->b ? entry->b : entry->a;
	char id[16];
	snprintf(id, sizeof id, "SW%03d", f->id);
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "change", sw_name_change(entry->change));
	sw_json_bool(json, "new_error", entry->new_error);
	sw_json_text(json, "id", id);
	sw_json_text(json, "kind", f->kind);
	put_finding(json, "a", diff->a, entry->a);
	put_finding(json, "b", diff->b, entry->b);
	sw_json_close(json, '}');
}

void sw_diff_json(const struct sw_diff *diff, FILE *out)
{
	struct sw_json json = {.out = out};
	sw_json_open(&json, NULL, '{');
	sw_json_text(&json, "schema", "syncwatch-diff/1");
	put_run(&json, "a", diff->a);
	put_run(&json, "b", diff->b);
	sw_json_open(&json, "noise", '{');
	sw_json_number(&json, "percent", SW_DIFF_NOISE_PERCENT);
	sw_json_ms(&json, "ms", SW_DIFF_NOISE_NS);
	sw_json_close(&json, '}');
	sw_json_open(&json, "summary", '{');
	for (int change = 0; change < SW_CHANGES; change++)
		sw_json_number(&json, sw_name_change((enum sw_change)change), diff->count[change]);
	sw_json_number(&json, "new_errors", diff->new_errors);
	sw_json_number(&json, "measured_once", diff->measured_once);
	sw_json_close(&json, '}');
	sw_json_open(&json, "entries", '[');
	for (size_t i = 0; i < diff->entries.n; i++)
		put_entry_json(&json, diff, &diff->entries.at[i]);
	sw_json_close(&json, ']');
	sw_json_close(&json, '}');
}

/* A comparison for people: what got worse first. */

struct writer {
	struct sw_out out;
	struct sw_names names; /* for its arena: nothing is looked up */
	const struct sw_diff *diff;
};

/* The run in words: its file, program and length. */
static const char *run_of(struct writer *w, const struct sw_digest *digest)
{
	return sw_names_format(
		&w->names, "%s (%s%s, %s)", digest->path, *digest->program ? digest->program : "a program",
		digest->simulated ? " on the simulated CUDA" : "", sw_name_time(&w->names, digest->span_ns));
}

/* The place that names a side: its innermost frame with a line, else with a name, else the first. */
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

/* The host time of a finding's calls in one run, in words. */
static const char *cost_of(struct writer *w, const struct sw_digest *digest, const struct sw_digest_finding *f)
{
	double share = digest->span_ns ? 100.0 * (double)f->total_ns / (double)digest->span_ns : 0;
	return sw_names_format(&w->names, "%s in %" PRIu64 " call%s, %s each, %.1f %% of the run, up to %s recoverable",
			       sw_name_time(&w->names, f->total_ns), f->calls, sw_plural(f->calls, "", "s"),
			       sw_name_time(&w->names, f->total_ns / f->calls), share,
			       sw_name_time(&w->names, f->recoverable_ns));
}

/* Severity and cost, or count, of a finding in one run, in words. */
static const char *state_of(struct writer *w, const struct sw_digest *digest, const struct sw_digest_finding *f)
{
	const char *how =
		sw_names_format(&w->names, "%s, %s", sw_name_severity(f->severity), sw_name_confidence(f->confidence));
	if (f->calls)
		return sw_names_format(&w->names, "%s: %s", how, cost_of(w, digest, f));
	return sw_names_format(&w->names, "%s, %" PRIu64 " time%s", how, f->count, sw_plural(f->count, "", "s"));
}

/* Prints a finding of the comparison. */
static void put_entry_text(struct writer *w, const struct sw_diff_entry *entry)
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

/* Prints what makes "gone" and "new" less certain: a run that is not complete, was recorded in windows, or simulated.
 */
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
	for (size_t i = 0; i < 2; i++)
		if (runs[i]->left_out)
			sw_out_paragraph(&w->out, 0, "", 0,
					 sw_names_format(&w->names,
							 "%s was recorded in windows: %" PRIu64
							 " %s outside and left out, so what it lacks may lie there.",
							 runs[i]->path, runs[i]->left_out,
							 sw_plural(runs[i]->left_out, "call was", "calls were")));
	if (runs[0]->simulated != runs[1]->simulated)
		sw_out_paragraph(&w->out, 0, "", 0,
				 "One of the runs was on the simulated CUDA: their times cannot be compared.");
}

void sw_diff_text(const struct sw_diff *diff, FILE *out, const struct sw_diff_style *style)
{
	struct writer w = {.out = {.file = out, .colour = style->colour}, .diff = diff};
	if (!style->quiet)
		sw_out_paragraph(
			&w.out, 0, "", 0,
			sw_names_format(&w.names, "syncwatch: %s -> %s", run_of(&w, diff->a), run_of(&w, diff->b)));
	put_doubts(&w);
	if (!style->quiet)
		putc('\n', out);
	for (size_t i = 0; !style->quiet && i < diff->entries.n; i++)
		if (style->all || diff->entries.at[i].change != SW_CHANGE_SAME)
			put_entry_text(&w, &diff->entries.at[i]);
	if (diff->measured_once)
		sw_out_paragraph(&w.out, 0, "", 0,
				 sw_names_format(&w.names,
						 "%zu of these %s by the times of waits, of one run each: runs of "
						 "one program differ as well. With --repeat RUN, another run of %s's "
						 "program, what its own runs differ in is left out.",
						 diff->measured_once,
						 sw_plural(diff->measured_once, "differs", "differ"), diff->a->path));
	sw_out_coloured(
		&w.out,
		diff->new_errors					    ? SW_RED
		: diff->count[SW_CHANGE_NEW] + diff->count[SW_CHANGE_WORSE] ? SW_YELLOW
									    : SW_GREEN,
		sw_names_format(&w.names,
				"syncwatch: %zu new, %zu worse, %zu better, %zu gone, %zu the same; %zu new error%s",
				diff->count[SW_CHANGE_NEW], diff->count[SW_CHANGE_WORSE], diff->count[SW_CHANGE_BETTER],
				diff->count[SW_CHANGE_GONE], diff->count[SW_CHANGE_SAME], diff->new_errors,
				sw_plural(diff->new_errors, "", "s")));
	putc('\n', out);
	sw_arena_free(&w.names.arena);
}
