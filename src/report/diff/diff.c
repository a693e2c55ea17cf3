/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

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

static uint64_t add_text(uint64_t hash, const char *text)
{
	return sw_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t add_number(uint64_t hash, uint64_t number)
{
	return sw_hash_bytes(hash, &number, sizeof number);
}

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

static bool is_race(int id)
{
	return id == SW_FINDING_RACE_RAW || id == SW_FINDING_RACE_WAR || id == SW_FINDING_RACE_WAW;
}

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

static int first_line(const struct sw_digest_finding *f)
{
	return f->sides && f->side[0].frames ? f->side[0].frame[0].line : 0;
}

/* Equal sites of one function are taken in the order of their lines; reports list them by what they cost. */
static int by_line(const void *one, const void *other)
{
	const struct sw_digest_finding *a = ((const struct half *)one)->finding,
				       *b = ((const struct half *)other)->finding;
	if (first_line(a) != first_line(b))
		return first_line(a) < first_line(b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

static struct half *halves(const struct sw_digest *digest)
{
	struct half *half = sw_calloc(digest->findings.n + 1, sizeof *half);
	for (size_t i = 0; i < digest->findings.n; i++)
		half[i].finding = &digest->findings.at[i];
	qsort(half, digest->findings.n, sizeof *half, by_line);
	return half;
}

static void match(struct half *a, size_t an, struct half *b, size_t bn, enum likeness like)
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

/* -1, 0, 1: `b` is less than, about, more than `a`. */
static int differs(uint64_t a, uint64_t b)
{
	uint64_t most = a > b ? a : b, apart = a > b ? a - b : b - a;
	if (apart <= most / 100 * SW_DIFF_NOISE_PERCENT)
		return 0;
	return a > b ? -1 : 1;
}

/* Host time of the first run, as if that had been as long as the second. */
static uint64_t scaled(const struct sw_diff *diff, uint64_t ns)
{
	if (!diff->a->span_ns || !diff->b->span_ns)
		return ns;
	return (uint64_t)((double)ns * (double)diff->b->span_ns / (double)diff->a->span_ns);
}

/*
 * A wait changed when it takes another share of the run, and not just because the run got longer or shorter: its time
 * in all or its time a call must have gone the same way.
 */
static int wait_differs(const struct sw_diff *diff, const struct sw_digest_finding *a,
			const struct sw_digest_finding *b, uint64_t a_ns, uint64_t b_ns)
{
	uint64_t before = scaled(diff, a_ns), apart = before > b_ns ? before - b_ns : b_ns - before;
	int share = differs(before, b_ns);
	if (apart <= SW_DIFF_NOISE_NS)
		return 0;
	return share == differs(a_ns / a->calls, b_ns / b->calls) || share == differs(a_ns, b_ns) ? share : 0;
}

static enum sw_change compare(const struct sw_diff *diff, const struct sw_digest_finding *a,
			      const struct sw_digest_finding *b)
{
	int worse = 0;
	if (a->calls && b->calls) {
		worse = wait_differs(diff, a, b, a->total_ns, b->total_ns);
		if (!worse)
			worse = wait_differs(diff, a, b, a->win_ns, b->win_ns);
	}
	if (a->severity != b->severity && (!a->calls || b->severity == SW_ERROR))
		worse = a->severity < b->severity ? 1 : -1;
	else if (a->confidence != b->confidence && !a->calls)
		worse = a->confidence < b->confidence ? 1 : -1;
	return worse > 0 ? SW_CHANGE_WORSE : worse < 0 ? SW_CHANGE_BETTER : SW_CHANGE_SAME;
}

/* A cheap wait may stand on either side of what a report leaves out: that says nothing. */
static bool is_cheap(const struct sw_digest_finding *f)
{
	return f->calls && f->severity != SW_ERROR && f->total_ns <= SW_DIFF_NOISE_NS;
}

static void add(struct sw_diff *diff, const struct sw_digest_finding *a, const struct sw_digest_finding *b)
{
	struct sw_diff_entry entry = {.a = a, .b = b};
	if (a && b)
		entry.change = compare(diff, a, b);
	else if (is_cheap(a ? a : b))
		return;
	else
		entry.change = a ? SW_CHANGE_GONE : SW_CHANGE_NEW;
	entry.new_error = b && b->severity == SW_ERROR && (!a || a->severity != SW_ERROR);
	diff->count[entry.change]++;
	diff->new_errors += entry.new_error;
	*sw_vec_push(&diff->entries) = entry;
}

static int by_change(const void *one, const void *other)
{
	const struct sw_diff_entry *x = one, *y = other;
	if (x->change != y->change)
		return x->change < y->change ? -1 : 1;
	/* Both have the side that decides: in the order of its report. */
	const struct sw_digest_finding *f = x->b ? x->b : x->a, *g = y->b ? y->b : y->a;
	return f < g ? -1 : f > g;
}

void sw_diff_make(struct sw_diff *diff, const struct sw_digest *a, const struct sw_digest *b)
{
	struct half *of_a = halves(a), *of_b = halves(b);
	*diff = (struct sw_diff){.a = a, .b = b};
	for (int like = 0; like < LIKENESSES; like++)
		match(of_a, a->findings.n, of_b, b->findings.n, (enum likeness)like);
	for (size_t i = 0; i < b->findings.n; i++)
		add(diff, of_b[i].partner, of_b[i].finding);
	for (size_t i = 0; i < a->findings.n; i++)
		if (!of_a[i].partner)
			add(diff, of_a[i].finding, NULL);
	if (diff->entries.n)
		qsort(diff->entries.at, diff->entries.n, sizeof *diff->entries.at, by_change);
	free(of_a);
	free(of_b);
}

void sw_diff_free(struct sw_diff *diff)
{
	free(diff->entries.at);
	*diff = (struct sw_diff){0};
}

const char *sw_name_change(enum sw_change change)
{
	static const char *const names[SW_CHANGES] = {"new", "worse", "better", "gone", "same"};
	return names[change];
}
