/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/shared_uses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "detect/shared_use.h"
#include "merge/between.h"
#include "merge/merged.h"
#include "merge/shared_memory.h"
#include "report/symbols/places.h"

/* Each process converts ticks by a rate of its own.  Where both ran by the time stamp counter these are compared
   themselves; then what is left is how far the counters of two processors are apart (below a microsecond, or Linux
   would not use them). */
#define MONOTONIC_ERROR_NS 1000000u
#define TICKS_ERROR_NS	   2000u

/* ---- moments ----------------------------------------------------------------------------------------------------- */

/* By the counter's own ticks; false: it has not the rate. */
static bool by_counter(const struct sw_merged_rank *of, const struct sw_merged_rank *on, uint64_t ns,
		       uint64_t *moment_ns)
{
	if (!of->tick_rate || !on->tick_rate || ns < of->start_monotonic_ns)
		return false;
	const unsigned __int128 since = ns - of->start_monotonic_ns;
	const __int128 ticks = (__int128)((since << 32) / of->tick_rate) + of->start_ticks - on->start_ticks;
	const __int128 moment =
		(__int128)on->start_monotonic_ns + ticks * (__int128)on->tick_rate / ((__int128)1 << 32);
	*moment_ns = moment > 0 ? (uint64_t)moment : 0;
	return true;
}

/* How far a moment by the counter is from the same by CLOCK_MONOTONIC. */
static uint64_t disagreement(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	uint64_t ns;
	if (!by_counter(a, b, a->start_monotonic_ns, &ns))
		return 0;
	return ns > a->start_monotonic_ns ? ns - a->start_monotonic_ns : a->start_monotonic_ns - ns;
}

static uint64_t most_disagreement(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	const uint64_t one = disagreement(a, b), other = disagreement(b, a);
	return one > other ? one : other;
}

/* Counters of two processors may differ where Linux uses another clock. */
static bool by_ticks(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	return a->tick_rate && b->tick_rate && most_disagreement(a, b) < MONOTONIC_ERROR_NS;
}

uint64_t sw_shared_moment_error(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	const uint64_t apart_ns = most_disagreement(a, b);
	if (by_ticks(a, b))
		return TICKS_ERROR_NS;
	return (apart_ns < UINT64_MAX / 4 ? apart_ns : UINT64_MAX / 4) + MONOTONIC_ERROR_NS;
}

uint64_t sw_shared_moment(const struct sw_merged_rank *of, const struct sw_merged_rank *on, uint64_t ns)
{
	uint64_t moment_ns;
	return of != on && by_ticks(of, on) && by_counter(of, on, ns, &moment_ns) ? moment_ns : ns;
}

/* ---- a report ---------------------------------------------------------------------------------------------------- */

static uint64_t moment(const struct sw_merged_rank *process, uint64_t t_ns)
{
	return t_ns ? process->start_monotonic_ns + t_ns : 0;
}

char *sw_merged_call_text(struct sw_report *report, const struct sw_access *call)
{
	const struct sw_frame *frame = sw_place_of(&report->names, call, NULL);
	const char *name = sw_name_operation_brief(&report->names, call),
		   *place = sw_place_brief(&report->names, frame);
	return *place ? sw_format("%s (%s)", name, place) : sw_strdup(name);
}

void sw_merged_uses_take(sw_merged_uses *uses, struct sw_merged_rank *process, struct sw_report *report)
{
	const struct sw_judgement *j = report->judgement;
	for (size_t i = 0; i < j->shared_uses.n; i++) {
		const struct sw_shared_use *u = &j->shared_uses.at[i];
		*sw_vec_push(uses) = (struct sw_merged_use){.process = process,
							    .handle = u->handle,
							    .lo = u->lo,
							    .hi = u->hi,
							    .call_ns = process->start_monotonic_ns + u->access.t_ns,
							    .learnt_ns = moment(process, u->learnt_ns),
							    .known_ns = moment(process, u->known_ns),
							    .signalled_ns = moment(process, u->signalled_ns),
							    .waited_ns = moment(process, u->waited_ns),
							    .signalled_more_ns = moment(process, u->signalled_more_ns),
							    .signalled_event = u->signalled_event,
							    .waited_event = u->waited_event,
							    .reads = u->reads,
							    .writes = u->writes,
							    .atomic = u->atomic,
							    .learning = u->learning,
							    .site = sw_place_hash(&report->names, &u->access),
							    .what = sw_merged_call_text(report, &u->access)};
	}
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

static bool has_process(const sw_merged_uses *uses, size_t n, const struct sw_merged_rank *process)
{
	for (size_t i = 0; i < n; i++)
		if (uses->at[i].process == process)
			return true;
	return false;
}

/* Of a process that is in both, once. */
void sw_merged_uses_join(sw_merged_uses *to, sw_merged_uses *from)
{
	const size_t n = to->n;
	const struct sw_merged_rank *last = NULL;
	bool there = false;
	for (size_t i = 0; i < from->n; i++) {
		there = from->at[i].process == last ? there : has_process(to, n, from->at[i].process);
		last = from->at[i].process;
		if (there)
			free(from->at[i].what);
		else
			*sw_vec_push(to) = from->at[i];
	}
	from->n = 0;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_process(const void *a, const void *b)
{
	const struct sw_merged_use *x = a, *y = b;
	int by = compare(x->process->index, y->process->index);
	by = by ? by : compare(x->call_ns, y->call_ns);
	by = by ? by : compare(x->handle, y->handle);
	by = by ? by : compare(x->lo, y->lo);
	by = by ? by : compare(x->hi, y->hi);
	return by ? by : compare(x->writes, y->writes);
}

void sw_merged_uses_sort(sw_merged_uses *uses)
{
	if (uses->n)
		qsort(uses->at, uses->n, sizeof *uses->at, by_process);
}

void sw_merged_uses_free(sw_merged_uses *uses)
{
	for (size_t i = 0; i < uses->n; i++)
		free(uses->at[i].what);
	free(uses->at);
	*uses = (sw_merged_uses){0};
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static bool share_bytes(const struct sw_merged_use *a, const struct sw_merged_use *b)
{
	return a->handle == b->handle && a->lo < b->hi && b->lo < a->hi && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic) && *a->process->boot && strcmp(a->process->boot, b->process->boot) == 0;
}

/* At the call of `later`, or so soon after it that it may have been before. */
static bool before(const struct sw_merged_use *earlier, uint64_t ns, const struct sw_merged_use *later)
{
	const struct sw_merged_rank *on = later->process;
	return ns && sw_shared_moment(earlier->process, on, ns) <
			     later->call_ns + sw_shared_moment_error(earlier->process, on);
}

/* Only an event may have signalled, and the later process has waited for none since it was recorded. */
static bool not_waited_for(const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const struct sw_merged_rank *on = later->process;
	return earlier->signalled_event &&
	       (!later->waited_ns || later->waited_ns + sw_shared_moment_error(earlier->process, on) <
					     sw_shared_moment(earlier->process, on, earlier->signalled_ns));
}

enum unordered { ORDERED, LIKELY_NOT, CERTAINLY_NOT };

/* `earlier` was called before `later`. Nothing ordered its end before the call: no way of telling began before it.
   Nothing did in between: the other process could not learn. And the earlier one, once called, waited for no other
   process. */
static enum unordered unordered(const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const struct sw_merged_rank *on = later->process;
	const uint64_t error_ns = sw_shared_moment_error(earlier->process, on);
	const uint64_t called_ns = sw_shared_moment(earlier->process, on, earlier->call_ns);
	if (earlier->learning || later->learning || called_ns + error_ns >= later->call_ns ||
	    later->learnt_ns + error_ns >= called_ns || before(earlier, earlier->known_ns, later))
		return ORDERED;
	if (!before(earlier, earlier->signalled_ns, later))
		return CERTAINLY_NOT;
	/* A third process may have waited for the event, and signalled the second. */
	return not_waited_for(earlier, later) && !before(earlier, earlier->signalled_more_ns, later) ? LIKELY_NOT
												     : ORDERED;
}

/* Does a third process wait for the event? */
static bool has_audience(const sw_merged_uses *uses, const struct sw_merged_use *earlier,
			 const struct sw_merged_use *later)
{
	for (size_t i = 0; i < uses->n; i++)
		if (uses->at[i].waited_event == earlier->signalled_event && uses->at[i].process != earlier->process &&
		    uses->at[i].process != later->process)
			return true;
	return false;
}

static void put_title(FILE *out, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	sw_merged_name(out, later->process);
	fprintf(out, " %s what ", later->writes ? "writes" : "reads");
	sw_merged_name(out, earlier->process);
	fprintf(out, " %s, and nothing orders the two", earlier->writes ? "writes" : "reads");
}

static void put_event(FILE *out, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const uint64_t signalled_ns = sw_shared_moment(earlier->process, later->process, earlier->signalled_ns);
	if (!earlier->signalled_event || signalled_ns > later->call_ns)
		return;
	if (earlier->signalled_event == later->waited_event)
		fprintf(out,
			"  event:         the second process waits for one %.3f ms before the first process records "
			"it: "
			"that waits for nothing\n",
			(double)(signalled_ns - later->waited_ns) / 1e6);
	else
		fputs("  event:         the first process records one after its work; the second does not wait for "
		      "it\n",
		      out);
}

static void put_text(FILE *out, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const uint64_t lo = earlier->lo > later->lo ? earlier->lo : later->lo;
	const uint64_t hi = earlier->hi < later->hi ? earlier->hi : later->hi;
	const uint64_t called_ns = sw_shared_moment(earlier->process, later->process, earlier->call_ns);
	fputs("  first:         ", out);
	sw_merged_name(out, earlier->process);
	fprintf(out, " calls %s\n  then:          ", earlier->what);
	sw_merged_name(out, later->process);
	fprintf(out, " calls %s, %.3f ms later\n", later->what, (double)(later->call_ns - called_ns) / 1e6);
	fprintf(out, "  memory:        bytes %" PRIu64 " to %" PRIu64 " of an allocation that both know\n", lo, hi - 1);
	put_event(out, earlier, later);
	fputs("  fix:           tell the other process only when the work is done (cudaStreamSynchronize), or when an "
	      "event of\n                 both (cudaIpcGetEventHandle) is recorded after it, which the other's stream "
	      "waits for\n",
	      out);
}

static void report_pair(struct sw_merged *merged, const struct sw_merged_use *earlier,
			const struct sw_merged_use *later, bool certain)
{
	struct sw_between *b =
		sw_between_add(merged, 505, certain ? SW_ERROR : SW_WARNING, certain ? "certain" : "likely",
			       earlier->site ^ (later->site << 1 | later->site >> 63));
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	put_title(out, earlier, later);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	put_text(out, earlier, later);
	fclose(out);
	*sw_vec_push(&b->ranks) = earlier->process;
	*sw_vec_push(&b->ranks) = later->process;
}

/* One for each pair of processes and call sites. */
static bool is_new(struct sw_map *reported, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const uint64_t words[] = {earlier->process->index, later->process->index, earlier->site, later->site};
	uint64_t *known = sw_map_put(reported, sw_hash_words(words, sizeof words));
	return !(*known)++;
}

static void compare_uses(struct sw_merged *merged, struct sw_map *reported, const struct sw_merged_use *earlier,
			 const struct sw_merged_use *later)
{
	const enum unordered how = share_bytes(earlier, later) ? unordered(earlier, later) : ORDERED;
	if (how == ORDERED || sw_shared_ambiguous(&merged->shared, earlier->process, earlier->handle) ||
	    (how == LIKELY_NOT && has_audience(&merged->shared.uses, earlier, later)) ||
	    !is_new(reported, earlier, later))
		return;
	report_pair(merged, earlier, later, how == CERTAINLY_NOT);
}

void sw_between_uses(struct sw_merged *merged)
{
	const sw_merged_uses *uses = &merged->shared.uses;
	struct sw_map reported = {0};
	sw_merged_uses_sort(&merged->shared.uses);
	for (size_t i = 0; i < uses->n; i++)
		for (size_t k = 0; k < uses->n; k++)
			if (uses->at[i].process != uses->at[k].process)
				compare_uses(merged, &reported, &uses->at[i], &uses->at[k]);
	sw_map_free(&reported);
}
