/* SPDX-License-Identifier: Apache-2.0 */
/* Which call of a profile is which call of the trace. */
#include "report/kineto/kineto.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/counted.h"

/* Tolerances of time: what clocks and their conversions round, and how far apart two clocks of a machine run. */
#define SLACK_NS  2000
#define DRIFT_PPM 20
/* A run of calls that is looked up, from how many places of the profile, and how many places are tried. */
#define RUN	   8u
#define STARTS	   64u
#define CANDIDATES 4096u
/* Calls before and after one that may be meant instead. */
#define NEIGHBOURS 4u
/* So many calls decide between places. */
#define SAMPLE 2000u
/* So many of the profile's calls must find a partner. */
#define LEAST_MATCHED 4u
#define LEAST_PERCENT 80u

/* Calls of one thread: a part of the sorted arrays. */
struct part {
	size_t first, n;
};

/* A thread of the profile and one of ours, with the calls whose functions both have. */
struct pair {
	SW_VEC(size_t) theirs, own; /* indices, in the order of time */
};

struct joining {
	struct sw_profile *profile;
	struct sw_own_calls *own;
	SW_VEC(struct pair) pairs;
	struct sw_join *out;
	int64_t lowest, highest; /* bounds of the offset, by all matches so far */
	int64_t hint;		 /* by the times of day; 0: there are none */
};

/* The bounds that a pair sets to the offset: between low and high. */
struct bounds {
	int64_t low, high;
};

/* How far the profile's clock may be ahead of the trace's if these two are one call: a call of the runtime encloses
   ours, ours encloses one of the driver. */
static struct bounds bounds_of(const struct sw_profile_call *theirs, const struct sw_own_call *own)
{
	int64_t starts = theirs->start - (int64_t)own->start, ends = theirs->end - (int64_t)own->end;
	return theirs->driver ? (struct bounds){ends, starts} : (struct bounds){starts, ends};
}

/* By how much an offset lies outside of the bounds; 0: within. */
static int64_t distance_outside(struct bounds bounds, int64_t offset)
{
	return offset < bounds.low ? bounds.low - offset : offset > bounds.high ? offset - bounds.high : 0;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* The calls of one of our threads. */
static struct part part_of_own(const struct sw_own_calls *own, uint32_t thread)
{
	struct part part = {0, 0};
	while (part.first < own->calls.n && own->calls.at[part.first].thread != thread)
		part.first++;
	while (part.first + part.n < own->calls.n && own->calls.at[part.first + part.n].thread == thread)
		part.n++;
	return part;
}

/* Is the profile's driver call one that a call of the runtime made?  Then it is no call of the program. */
static bool is_inner(const struct joining *j, struct part theirs, size_t i)
{
	const struct sw_profile_call *call = &j->profile->calls.at[theirs.first + i];
	for (size_t k = i; call->driver && k > 0 && i - k < 4; k--) {
		const struct sw_profile_call *before = &j->profile->calls.at[theirs.first + k - 1];
		if (!before->driver && before->end >= call->end)
			return true;
	}
	return false;
}

/* Adds a thread of the profile and the same one of ours, with the calls of functions that both have. */
static void add_pair(struct joining *j, struct part theirs, struct part own)
{
	struct pair pair = {0};
	struct sw_map here = {0}, there = {0};
	for (size_t i = 0; i < theirs.n; i++)
		*sw_map_put(&there, j->profile->calls.at[theirs.first + i].name) = 1;
	for (size_t i = 0; i < own.n; i++)
		*sw_map_put(&here, j->own->calls.at[own.first + i].name) = 1;
	for (size_t i = 0; i < theirs.n; i++)
		if (sw_map_get(&here, j->profile->calls.at[theirs.first + i].name) && !is_inner(j, theirs, i))
			*sw_vec_push(&pair.theirs) = theirs.first + i;
	for (size_t i = 0; i < own.n; i++)
		if (sw_map_get(&there, j->own->calls.at[own.first + i].name))
			*sw_vec_push(&pair.own) = own.first + i;
	sw_map_free(&here);
	sw_map_free(&there);
	*sw_vec_push(&j->pairs) = pair;
	j->out->calls += pair.theirs.n;
}

/* Our number of the thread with this id of the kernel's; 0: it is not in the trace. */
static uint32_t own_thread(const struct sw_own_calls *own, uint64_t tid)
{
	const struct sw_trace_thread *thread;
	for (uint32_t i = 1; (thread = sw_reader_thread(own->reader, i)); i++)
		if (thread->tid == tid)
			return i;
	return 0;
}

/* Pairs the threads of the profile with ours. */
static void make_pairs(struct joining *j)
{
	for (size_t i = 0; i < j->profile->calls.n;) {
		struct part theirs = {i, 0};
		uint32_t row = j->profile->calls.at[i].thread;
		for (; i < j->profile->calls.n && j->profile->calls.at[i].thread == row; i++)
			theirs.n++;
		uint32_t thread = own_thread(j->own, j->profile->threads.at[row]);
		if (thread)
			add_pair(j, theirs, part_of_own(j->own, thread));
	}
}

/* ---- matching at a known offset ---------------------------------------------------------------------------------- */

/* The first of our calls that ends at or after a time of ours. */
static size_t first_since(const struct joining *j, const struct pair *pair, int64_t time)
{
	size_t low = 0, high = pair->own.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((int64_t)j->own->calls.at[pair->own.at[middle]].start < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Our call that fits best: index + 1 into the pair's own; 0: none within the tolerance. *several: others fit as
   well. */
static size_t best_partner(const struct joining *j, const struct pair *pair, const struct sw_profile_call *theirs,
			   int64_t offset, int64_t tolerance, bool *several)
{
	size_t best = 0;
	*several = false;
	/* Calls that enclose theirs began before: by no more than ours last is known only when they are looked at. */
	const int64_t reach = theirs->driver ? theirs->end - theirs->start + 100 * SLACK_NS : 0;
	int64_t least = tolerance + 1;
	for (size_t i = first_since(j, pair, theirs->start - offset - tolerance - reach); i < pair->own.n; i++) {
		const struct sw_own_call *own = &j->own->calls.at[pair->own.at[i]];
		if ((int64_t)own->start + offset > theirs->end + tolerance)
			break;
		int64_t off = distance_outside(bounds_of(theirs, own), offset);
		if (own->name != theirs->name || off > tolerance)
			continue;
		*several |= best || own->match;
		if (!own->match && off < least) {
			least = off;
			best = i + 1;
		}
	}
	return best;
}

/* Does another call of the profile fit ours better?  Then this one is a call that did not reach the driver. */
static bool is_of_another(const struct joining *j, const struct pair *pair, size_t at, const struct sw_own_call *own,
			  int64_t offset)
{
	const struct sw_profile_call *theirs = &j->profile->calls.at[pair->theirs.at[at]];
	const int64_t off = distance_outside(bounds_of(theirs, own), offset);
	for (size_t i = at > NEIGHBOURS ? at - NEIGHBOURS : 0; off && i < pair->theirs.n && i <= at + NEIGHBOURS; i++) {
		const struct sw_profile_call *other = &j->profile->calls.at[pair->theirs.at[i]];
		if (i != at && other->name == theirs->name && distance_outside(bounds_of(other, own), offset) < off)
			return true;
	}
	return false;
}

/*
 * Matches calls of the profile from `from` on, forwards or backwards, and follows the offset as it drifts.  Returns how
 * many were matched; keep: for good.
 */
static uint64_t follow_offset(struct joining *j, const struct pair *pair, size_t from, size_t most, bool forwards,
			      int64_t offset, bool keep)
{
	SW_VEC(size_t) taken = {0};
	uint64_t matched = 0;
	int64_t last = j->profile->calls.at[pair->theirs.at[from]].start;
	for (size_t n = 0; n < most; n++) {
		size_t i = forwards ? from + n : from - n;
		struct sw_profile_call *theirs = &j->profile->calls.at[pair->theirs.at[i]];
		int64_t gap = theirs->start > last ? theirs->start - last : last - theirs->start;
		bool several;
		size_t found = best_partner(j, pair, theirs, offset, SLACK_NS + gap / 1000000 * DRIFT_PPM, &several);
		if (!found || is_of_another(j, pair, i, &j->own->calls.at[pair->own.at[found - 1]], offset))
			continue;
		struct sw_own_call *own = &j->own->calls.at[pair->own.at[found - 1]];
		struct bounds bounds = bounds_of(theirs, own);
		/* One wrong partner must not lead to the next. */
		if (!several && bounds.low <= bounds.high) {
			offset = offset < bounds.low ? bounds.low : offset > bounds.high ? bounds.high : offset;
			last = theirs->start;
		}
		matched++;
		own->match = pair->theirs.at[i] + 1;
		if (keep) {
			theirs->match = pair->own.at[found - 1] + 1;
			j->lowest = bounds.low > j->lowest ? bounds.low : j->lowest;
			j->highest = bounds.high < j->highest ? bounds.high : j->highest;
		} else {
			*sw_vec_push(&taken) = pair->own.at[found - 1];
		}
	}
	for (size_t i = 0; i < taken.n; i++)
		j->own->calls.at[taken.at[i]].match = 0;
	free(taken.at);
	return matched;
}

/* ---- where the profile lies -------------------------------------------------------------------------------------- */

struct place {
	size_t theirs;	/* a call of the profile: index into the pair */
	int64_t offset; /* there */
	uint64_t score; /* calls around it that find a partner */
	int64_t from_hint;
};

/* Do the names of our calls from `own` on agree, and their times?  Then *offset is the middle of what fits. */
static bool run_fits(const struct joining *j, const struct pair *pair, size_t theirs, size_t own, size_t run,
		     int64_t *offset)
{
	int64_t low = INT64_MIN, high = INT64_MAX;
	for (size_t i = 0; i < run; i++) {
		const struct sw_profile_call *a = &j->profile->calls.at[pair->theirs.at[theirs + i]];
		const struct sw_own_call *b = &j->own->calls.at[pair->own.at[own + i]];
		struct bounds bounds = bounds_of(a, b);
		if (a->name != b->name)
			return false;
		low = bounds.low > low ? bounds.low : low;
		high = bounds.high < high ? bounds.high : high;
		if (low > high + SLACK_NS)
			return false;
	}
	*offset = low / 2 + high / 2;
	return true;
}

/* Does place `a` fit better: more calls find a partner, or the clocks are nearer to the times of day? */
static bool is_better(const struct place *a, const struct place *b)
{
	return a->score != b->score ? a->score > b->score : a->from_hint < b->from_hint;
}

/* Tries where in the trace the profile's calls from `theirs` on may be; keeps the best place. */
static void try_run(struct joining *j, const struct pair *pair, size_t theirs, struct place *best, size_t *tried)
{
	const size_t left = pair->theirs.n - theirs, run = left < RUN ? left : RUN;
	const size_t sample = left < SAMPLE ? left : SAMPLE;
	for (size_t own = 0; own + run <= pair->own.n && *tried < CANDIDATES; own++) {
		struct place place = {.theirs = theirs};
		if (!run_fits(j, pair, theirs, own, run, &place.offset))
			continue;
		++*tried;
		place.score =
			follow_offset(j, pair, theirs, sample, /* forwards */ true, place.offset, /* keep */ false);
		place.from_hint = j->hint ? llabs((long long)(place.offset - j->hint)) : 0;
		if (is_better(&place, best))
			*best = place;
	}
}

/* The thread with the most calls in the profile; NULL: no thread is in both. */
static const struct pair *largest_pair(const struct joining *j)
{
	const struct pair *found = NULL;
	for (size_t i = 0; i < j->pairs.n; i++)
		if (!found || j->pairs.at[i].theirs.n > found->theirs.n)
			found = &j->pairs.at[i];
	return found;
}

/* Finds where in the trace the calls of a thread of the profile are, by runs from several of its places; false:
   nowhere. */
static bool find_place(struct joining *j, const struct pair *pair, struct place *best)
{
	size_t tried = 0;
	*best = (struct place){0};
	for (size_t i = 0; i < STARTS; i++) {
		size_t theirs = pair->theirs.n * i / STARTS;
		if (i && theirs == pair->theirs.n * (i - 1) / STARTS)
			continue;
		try_run(j, pair, theirs, best, &tried);
		/* All places of this run were tried.  Where nine of ten calls match, another run leads to the same one.
		 */
		size_t left = pair->theirs.n - best->theirs, most = left < SAMPLE ? left : SAMPLE;
		if (best->score * 10 >= most * 9)
			break;
	}
	return best->score > 0;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* The offset between the clocks at a time, by the nearest matched call of a pair of threads; `otherwise` if none is
   matched. */
static int64_t offset_at(const struct joining *j, const struct pair *pair, int64_t time, int64_t otherwise)
{
	int64_t nearest = INT64_MAX, offset = otherwise;
	size_t low = 0, high = pair->theirs.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (j->profile->calls.at[pair->theirs.at[middle]].start < time)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low > 16 ? low - 16 : 0; i < pair->theirs.n && i < low + 16; i++) {
		const struct sw_profile_call *theirs = &j->profile->calls.at[pair->theirs.at[i]];
		int64_t away = llabs((long long)(theirs->start - time));
		if (!theirs->match || away >= nearest)
			continue;
		struct bounds bounds = bounds_of(theirs, &j->own->calls.at[theirs->match - 1]);
		nearest = away;
		offset = otherwise < bounds.low ? bounds.low : otherwise > bounds.high ? bounds.high : otherwise;
	}
	return offset;
}

/* Matches all calls of all threads, from the place that was found. */
static void match_all(struct joining *j, const struct pair *main, const struct place *place)
{
	j->out->matched += follow_offset(j, main, place->theirs, main->theirs.n - place->theirs, /* forwards */ true,
					 place->offset, /* keep */ true);
	if (place->theirs)
		j->out->matched +=
			follow_offset(j, main, place->theirs - 1, place->theirs, /* forwards */ false, place->offset,
				      /* keep */ true);
	for (size_t i = 0; i < j->pairs.n; i++) {
		const struct pair *pair = &j->pairs.at[i];
		if (pair == main || !pair->theirs.n)
			continue;
		int64_t first = j->profile->calls.at[pair->theirs.at[0]].start;
		j->out->matched += follow_offset(j, pair, 0, pair->theirs.n, /* forwards */ true,
						 offset_at(j, main, first, place->offset), /* keep */ true);
	}
}

/* Undoes all matches. */
static void forget_all(struct joining *j)
{
	for (size_t i = 0; i < j->profile->calls.n; i++)
		j->profile->calls.at[i].match = 0;
	for (size_t i = 0; i < j->own->calls.n; i++)
		j->own->calls.at[i].match = 0;
}

/* Says why the profile does not fit the trace, and undoes the matches. */
static int refuse_profile(struct joining *j, struct sw_error *error)
{
	const char *profile = j->profile->path, *trace = sw_reader_path(j->own->reader);
	forget_all(j);
	if (!j->out->calls)
		return sw_fail(error, SW_E_FORMAT,
			       "%s does not fit %s: they have no thread with the same calls in common", profile, trace);
	return sw_fail(error, SW_E_FORMAT,
		       "%s does not fit %s: of its %" PRIu64 " %s of CUDA %" PRIu64
		       " %s found there by thread, function, order and time",
		       profile, trace, j->out->calls, sw_plural(j->out->calls, "call", "calls"), j->out->matched,
		       sw_plural(j->out->matched, "was", "were"));
}

/* Is the profile of the process that was recorded?  0, or SW_E_FORMAT with error filled. */
static int check_process(const struct sw_profile *profile, const struct sw_own_calls *own, struct sw_error *error)
{
	const struct sw_trace_process *process = sw_reader_process(own->reader);
	uint64_t pid = process ? process->pid : sw_reader_header(own->reader)->pid;
	if (pid == profile->pid)
		return 0;
	return sw_fail(error, SW_E_FORMAT, "%s is of process %" PRIu64 ", %s of process %" PRIu64, profile->path,
		       profile->pid, sw_reader_path(own->reader), pid);
}

int sw_join(struct sw_profile *profile, struct sw_own_calls *own, struct sw_join *join, struct sw_error *error)
{
	struct joining j = {.profile = profile, .own = own, .out = join, .lowest = INT64_MIN, .highest = INT64_MAX};
	struct place place;
	*join = (struct sw_join){0};
	int rc = check_process(profile, own, error);
	if (rc)
		return rc;
	j.hint = (int64_t)sw_reader_header(own->reader)->start_realtime_ns - profile->base_ns;
	make_pairs(&j);
	const struct pair *main = largest_pair(&j);
	if (main && main->theirs.n && find_place(&j, main, &place))
		match_all(&j, main, &place);
	if (join->matched < LEAST_MATCHED || join->matched * 100 < join->calls * LEAST_PERCENT)
		rc = refuse_profile(&j, error);
	for (size_t i = 0; i < j.pairs.n; i++) {
		free(j.pairs.at[i].theirs.at);
		free(j.pairs.at[i].own.at);
	}
	free(j.pairs.at);
	if (rc)
		return rc;
	join->offset = j.lowest / 2 + j.highest / 2;
	join->error_ns = (uint64_t)llabs((long long)(j.highest - j.lowest)) / 2 + 1;
	return 0;
}
