/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/collect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* Empties the table of the last calls, by which findings name calls that they know by number only. */
static void recent_calls_init(struct sw_recent_calls *recent)
{
	recent->at = sw_calloc(SW_RECENT_CALLS, sizeof *recent->at);
}

static void recent_calls_free(struct sw_recent_calls *recent)
{
	free(recent->at);
	recent->at = NULL;
}

void sw_recent_calls_add(struct sw_recent_calls *recent, const struct sw_record *record, uint64_t seq)
{
	recent->at[seq % SW_RECENT_CALLS] =
		(struct sw_named_call){seq, record->stack, record->rec->api, record->rec->flags};
}

struct sw_named_call sw_recent_call(const struct sw_recent_calls *recent, uint64_t seq)
{
	const struct sw_named_call *call = &recent->at[seq % SW_RECENT_CALLS];
	return call->seq == seq ? *call : (struct sw_named_call){.seq = seq};
}

/* The bucket of a duration: below 16 ns one for each number, from there on eight for each power of two. */
static uint32_t bucket_of(uint64_t ns)
{
	if (ns < 8)
		return (uint32_t)ns;
	unsigned top = 63u - (unsigned)__builtin_clzll(ns);
	uint32_t at = 8 * (top - 2) + (uint32_t)(ns >> (top - 3) & 7);
	return at < 8 * SW_HISTOGRAM_OCTAVES ? at : 8 * SW_HISTOGRAM_OCTAVES - 1;
}

/* The duration in the middle of a bucket, in ns. */
static uint64_t middle_of(uint32_t bucket)
{
	if (bucket < 16)
		return bucket;
	unsigned shift = bucket / 8 - 1;
	return ((8ull + bucket % 8) << shift) + (1ull << shift) / 2;
}

void sw_histogram_add(struct sw_histogram *spread, uint64_t times, uint64_t ns)
{
	uint32_t *bucket = &spread->bucket[bucket_of(ns)];
	const uint32_t more = times < UINT32_MAX - *bucket ? (uint32_t)times : UINT32_MAX - *bucket;
	*bucket += more;
	spread->n += more;
}

uint64_t sw_histogram_quantile(const struct sw_histogram *spread, unsigned percent)
{
	uint64_t wanted = (spread->n * percent + 99) / 100, seen = 0;
	for (uint32_t i = 0; i < 8 * SW_HISTOGRAM_OCTAVES; i++) {
		seen += spread->bucket[i];
		if (seen && seen >= wanted)
			return middle_of(i);
	}
	return 0;
}

/* A wait is worth a warning when its host time exceeds both. */
#define SW_WAIT_WARNING_NS    1000000u
#define SW_WAIT_WARNING_SHARE 100u /* 1 % of the run */

/* Accesses that are compared with, and those allocated at a time. */
#define KEPT  4096u
#define ROOMS 64u

/* Prepares to gather findings into the judgement.  keep_possible: findings that are only possible are wanted too. */
void sw_collect_init(struct sw_collect *collect, struct sw_judgement *judgement, struct sw_arena *arena,
		     bool keep_possible)
{
	*collect = (struct sw_collect){.judgement = judgement, .arena = arena, .keep_possible = keep_possible};
	collect->kept = sw_calloc(KEPT, sizeof(const struct sw_access *));
	recent_calls_init(&collect->recent);
}

/* The cost of a finding's calls, around the part that the finding shows. */
struct own_cost {
	struct sw_cost cost; /* first: see own_of() */
	uint64_t waited_ns;  /* of the calls that waited */
	struct sw_histogram *spread;
};

/* The cost record that belongs to this finding alone; NULL: none of its calls has a cost. */
static struct own_cost *own_of(const struct sw_finding *finding)
{
	return finding->cost == &sw_no_cost ? NULL : (struct own_cost *)(uintptr_t)finding->cost;
}

/* Frees the histogram of a finding's durations; its quantiles are filled in by then. */
static void free_spread(const struct sw_finding *finding)
{
	struct own_cost *own = own_of(finding);
	if (!own)
		return;
	free(own->spread);
	own->spread = NULL;
}

void sw_collect_free(struct sw_collect *collect)
{
	recent_calls_free(&collect->recent);
	free(collect->index);
	free(collect->news.at);
	free(collect->kept);
	collect->kept = NULL;
	for (size_t i = 0; i < collect->judgement->findings.n; i++)
		free_spread(&collect->judgement->findings.at[i]);
}

/* Hashes the call site of one side: entry point, stack, kind of call and kernel. */
static uint64_t hash_site(uint64_t hash, const struct sw_access *a)
{
	hash = sw_hash_u64(hash ^ ((uint64_t)a->api << 32 | a->stack));
	return sw_hash_u64(hash ^ ((uint64_t)a->kind << 32 | a->function));
}

/* The finding's fingerprint: its id and the call sites of its first two sides. */
static uint64_t hash_sites(const struct sw_finding *f)
{
	uint64_t hash = sw_hash_u64((uint64_t)f->id);
	for (uint32_t i = 0; i < f->accesses && i < 2; i++)
		hash = hash_site(hash, f->access[i]);
	return hash;
}

/* ---- the index: four bytes for a finding, which has its hash ------------------------------------------------------
 */

/* The place of a finding in the index by its fingerprint, or the free one where it would be. */
static uint32_t *place_of(const struct sw_collect *collect, uint64_t hash)
{
	size_t i = hash & (collect->index_room - 1);
	while (collect->index[i] && collect->judgement->findings.at[collect->index[i] - 1].fingerprint != hash)
		i = (i + 1) & (collect->index_room - 1);
	return &collect->index[i];
}

/* The finding with this fingerprint; NULL: there is none. */
static struct sw_finding *find_finding(const struct sw_collect *collect, uint64_t hash)
{
	uint32_t at = collect->index_room ? *place_of(collect, hash) : 0;
	return at ? &collect->judgement->findings.at[at - 1] : NULL;
}

/* Adds a finding to the index by fingerprint; the findings before it are in it. */
static void index_finding(struct sw_collect *collect, size_t finding)
{
	const struct sw_judgement *j = collect->judgement;
	size_t first = finding;
	if (2 * (finding + 1) > collect->index_room) {
		free(collect->index);
		collect->index_room = collect->index_room ? 2 * collect->index_room : 64;
		collect->index = sw_calloc(collect->index_room, sizeof *collect->index);
		first = 0;
	}
	for (size_t i = first; i <= finding; i++)
		*place_of(collect, j->findings.at[i].fingerprint) = (uint32_t)i + 1;
}

/* Are findings like this one kept at all? */
static bool is_wanted(const struct sw_collect *collect, const struct sw_finding *seen)
{
	return !collect->none && (seen->confidence != SW_POSSIBLE || seen->lowered || collect->keep_possible);
}

/* Is the occurrence `a` of higher severity, or of the same one and more certain? */
static bool is_stronger(const struct sw_finding *a, const struct sw_finding *b)
{
	return a->severity != b->severity ? a->severity > b->severity : a->confidence > b->confidence;
}

/* Looks up stack and entry point of the calls that the finding names by their numbers only. */
static void name_calls(const struct sw_collect *collect, struct sw_finding *f)
{
	f->last_call = sw_recent_call(&collect->recent, f->last_call.seq);
	f->fix_call = sw_recent_call(&collect->recent, f->fix_call.seq);
}

/* Are two accesses equal in every member?  Only `point` may have bytes of padding, so all else is compared as bytes. */
static bool accesses_equal(const struct sw_access *a, const struct sw_access *b)
{
	const size_t point = offsetof(struct sw_access, point), after = point + sizeof a->point;
	return !memcmp(a, b, point) && a->point.lane == b->point.lane && a->point.tick == b->point.tick &&
	       !memcmp((const char *)a + after, (const char *)b + after, sizeof *a - after);
}

/* A copy of the access that lives as long as the judgement; one that is equal to an access kept lately is not copied
   again. */
static const struct sw_access *keep_access(struct sw_collect *collect, const struct sw_access *access)
{
	uint64_t hash = sw_hash_u64(access->seq ^ sw_hash_u64(access->address + access->role));
	const struct sw_access **slot = &collect->kept[hash % KEPT];
	if (*slot && accesses_equal(*slot, access))
		return *slot;
	if (!collect->rooms) {
		collect->rooms = ROOMS;
		collect->room = sw_arena_alloc(collect->arena, ROOMS * sizeof *collect->room);
	}
	collect->rooms--;
	*collect->room = *access;
	return *slot = collect->room++;
}

/* Lets the finding describe this occurrence from now on; its accesses are copied, since those in `seen` live only as
   long as the current call. */
static void take_occurrence(struct sw_collect *collect, struct sw_finding *finding, const struct sw_finding *seen)
{
	*finding = *seen;
	for (uint32_t i = 0; i < 2; i++)
		finding->access[i] = i < seen->accesses ? keep_access(collect, seen->access[i]) : &sw_no_access;
	if (seen->third)
		finding->third = keep_access(collect, seen->third);
	if (!finding->cost)
		finding->cost = &sw_no_cost;
}

struct sw_cost *sw_collect_own_cost(struct sw_collect *collect, struct sw_finding *finding)
{
	if (finding->cost == &sw_no_cost) {
		struct own_cost *own = sw_arena_alloc(collect->arena, sizeof *own);
		*own = (struct own_cost){.waited_ns = 0};
		finding->cost = &own->cost;
	}
	return &own_of(finding)->cost;
}

bool sw_collect_describes(const struct sw_collect *collect, const struct sw_finding *seen)
{
	if (!is_wanted(collect, seen))
		return false;
	const struct sw_finding *known = find_finding(collect, hash_sites(seen));
	return !known || is_stronger(seen, known);
}

/* Was this memory allocated by a call stack other than those of the buffers that the hazard is known for?  False also
   if no more are listed. */
static bool is_new_buffer(const struct sw_collect *collect, const struct sw_finding *known, uint32_t stack)
{
	const struct sw_allocation *at = collect->judgement->allocations.at;
	const struct sw_other_buffers *others = &sw_finding_details(known)->others;
	const uint32_t own = known->access[0]->allocation;
	if (!own || at[own - 1].stack == stack || others->n == SW_MAX_OTHER_BUFFERS)
		return false;
	for (uint32_t i = 0; i < others->n; i++)
		if (at[others->allocation[i] - 1].stack == stack)
			return false;
	return true;
}

bool sw_collect_wants_buffer(const struct sw_collect *collect, const struct sw_finding *seen, uint32_t stack)
{
	const struct sw_finding *known = is_wanted(collect, seen) ? find_finding(collect, hash_sites(seen)) : NULL;
	return known && is_new_buffer(collect, known, stack);
}

/* Lists another allocation that the hazard was met on. */
static void add_buffer(struct sw_collect *collect, struct sw_finding *known, uint32_t allocation)
{
	if (!allocation || !is_new_buffer(collect, known, collect->judgement->allocations.at[allocation - 1].stack))
		return;
	struct sw_other_buffers *others = &sw_collect_more(collect, known)->others;
	others->allocation[others->n++] = allocation;
}

/* Notes, for a judge that follows the program, that the finding is new or stronger. */
static void note_news(struct sw_collect *collect, const struct sw_finding *finding)
{
	const uint32_t at = (uint32_t)(finding - collect->judgement->findings.at);
	if (collect->tells && (!collect->news.n || collect->news.at[collect->news.n - 1] != at))
		*sw_vec_push(&collect->news) = at;
}

struct sw_finding *sw_collect_add(struct sw_collect *collect, const struct sw_finding *seen, bool *described)
{
	struct sw_judgement *j = collect->judgement;
	if (described)
		*described = false;
	if (!is_wanted(collect, seen))
		return NULL;
	const uint64_t hash = hash_sites(seen);
	struct sw_finding *known = find_finding(collect, hash);
	const uint64_t later = seen->accesses ? seen->access[seen->accesses > 1]->seq : 0;
	if (known) {
		uint64_t count = known->count + 1;
		uint64_t operations = known->operations + (known->last_operation != later);
		if (is_stronger(seen, known)) {
			const struct sw_cost *cost = known->cost;
			struct sw_finding_details *more = known->more;
			const uint32_t buffer = known->access[0]->allocation;
			take_occurrence(collect, known, seen);
			known->cost = cost;
			known->more = seen->more ? seen->more : more;
			add_buffer(collect, known, buffer);
			name_calls(collect, known);
			if (described)
				*described = true;
			known->fingerprint = hash;
			note_news(collect, known);
		} else if (seen->accesses) {
			add_buffer(collect, known, seen->access[0]->allocation);
		}
		known->lowered |= seen->lowered && known->confidence == SW_POSSIBLE;
		known->count = count;
		known->operations = operations;
		known->last_operation = later;
		return known;
	}
	struct sw_finding *added = sw_vec_push(&j->findings);
	take_occurrence(collect, added, seen);
	name_calls(collect, added);
	added->count = 1;
	added->operations = 1;
	added->last_operation = later;
	added->fingerprint = hash;
	index_finding(collect, j->findings.n - 1);
	note_news(collect, added);
	if (described)
		*described = true;
	return added;
}

/* Adds one call of a wait to the cost of its finding. */
void sw_collect_cost(struct sw_collect *collect, struct sw_finding *finding, const struct sw_wait_cost *cost)
{
	struct sw_cost *sum = sw_collect_own_cost(collect, finding);
	struct own_cost *all = own_of(finding);
	uint64_t own = cost->own_ns < cost->ns ? cost->own_ns : cost->ns;
	if (!all->spread)
		all->spread = sw_calloc(1, sizeof *all->spread);
	sw_histogram_add(all->spread, 1, cost->ns);
	sum->calls++;
	sum->total_ns += cost->ns;
	sum->parts.work_ns += cost->parts.work_ns;
	sum->parts.transfer_ns += cost->parts.transfer_ns;
	sum->parts.driver_ns += cost->parts.driver_ns;
	sum->parts.lock_ns += cost->parts.lock_ns;
	sum->transfer_ns += own;
	if (cost->ns > sum->worst_ns)
		sum->worst_ns = cost->ns;
	if (!cost->waited)
		return;
	sum->waited_calls++;
	sum->recoverable_high_ns += cost->ns - own;
	all->waited_ns += cost->ns;
}

struct sw_finding_details *sw_collect_more(struct sw_collect *collect, struct sw_finding *finding)
{
	if (!finding->more) {
		finding->more = sw_arena_alloc(collect->arena, sizeof *finding->more);
		*finding->more = (struct sw_finding_details){.waited_for.seq = 0};
	}
	return finding->more;
}

void sw_collect_nodes(struct sw_collect *collect, struct sw_finding *finding, const struct sw_node_pair *nodes)
{
	if (finding)
		sw_collect_more(collect, finding)->nodes = *nodes;
}

uint64_t sw_collect_site(const struct sw_access *access)
{
	return hash_site(0, access);
}

struct sw_finding *sw_collect_find(const struct sw_collect *collect, int id, const struct sw_access *access)
{
	struct sw_finding like = {.id = id, .accesses = 1, .access[0] = access};
	return find_finding(collect, hash_sites(&like));
}

void sw_collect_drop(struct sw_collect *collect, struct sw_finding *finding)
{
	(void)collect;
	finding->count = 0;
}

/* Removes the findings that were dropped. */
static void take_out_dropped(struct sw_collect *collect)
{
	struct sw_judgement *j = collect->judgement;
	size_t kept = 0;
	for (size_t i = 0; i < j->findings.n; i++) {
		if (!j->findings.at[i].count) {
			free_spread(&j->findings.at[i]);
			continue;
		}
		j->findings.at[kept++] = j->findings.at[i];
	}
	j->findings.n = kept;
}

/* A quantile of the times of calls.  The longest call is known exactly, so no quantile is longer. */
static uint64_t capped_quantile(const struct sw_histogram *spread, unsigned percent, uint64_t worst_ns)
{
	uint64_t ns = sw_histogram_quantile(spread, percent);
	return ns < worst_ns ? ns : worst_ns;
}

/* Fills in the quantiles of a finding's durations and its share of the run (span_ns). */
static void sum_up(struct sw_cost *cost, const struct sw_histogram *spread, uint64_t span_ns)
{
	double share = span_ns ? 1e6 * (double)cost->total_ns / (double)span_ns : 0;
	cost->p50_ns = capped_quantile(spread, 50, cost->worst_ns);
	/* The longest is the 99th percentile where there are fewer calls. */
	cost->p99_ns =
		cost->calls < SW_LEAST_FOR_PERCENTILES ? cost->worst_ns : capped_quantile(spread, 99, cost->worst_ns);
	/* Several threads can wait at once. */
	cost->share_ppm = share < 1e9 ? (uint32_t)share : 1000000000u;
}

/* The recoverable time: the middle of its bounds; 0 where no replay was made. */
static uint64_t middle_gain(const struct sw_finding *f)
{
	return f->cost->replayed
		       ? f->cost->recoverable_low_ns + (f->cost->recoverable_high_ns - f->cost->recoverable_low_ns) / 2
		       : 0;
}

/* The time that following the advice can be trusted to save.  Advice that wins nothing is not worth a warning: where
   the device is what the run waits for, a wait less is as long.  Of a wait that is made once only what is certain
   counts: nothing tells it from the one at the end of a measurement.  Of a replay that does not give the run back, only
   the upper end can be trusted. */
static uint64_t saved_time(const struct sw_finding *f)
{
	if (f->cost->calls == 1)
		return f->cost->recoverable_low_ns;
	if (!f->cost->reliable)
		return f->cost->recoverable_high_ns;
	return f->cost->nothing ? 0 : middle_gain(f);
}

/* The host time, by the rule of the finding's kind, that decides between warning and note: the time that its calls
   waited or took, without the longest one where only repeated waits count. */
static uint64_t severity_time(const struct sw_finding *f, enum sw_finding_severity by, uint64_t waited)
{
	const bool repeated = by == SW_SEVERITY_BY_REPEATED_WAIT || by == SW_SEVERITY_BY_REPEATED_TOTAL;
	const uint64_t ns =
		by == SW_SEVERITY_BY_WAIT || by == SW_SEVERITY_BY_REPEATED_WAIT ? waited : f->cost->total_ns;
	if (!repeated)
		return ns;
	return ns > f->cost->worst_ns ? ns - f->cost->worst_ns : 0;
}

/* At the end: makes a wait that costs much a warning, and hides one that costs little (folds it into a sum).  waited:
   the time in calls that waited, in ns. */
static void settle_cost(struct sw_collect *collect, struct sw_finding *f, uint64_t waited, uint64_t fold_below_ns)
{
	struct sw_judgement *j = collect->judgement;
	const struct sw_finding_info *info = sw_finding_info(f->id);
	enum sw_finding_severity by = info ? info->severity : SW_SEVERITY_AS_FOUND;
	f->hidden = f->confidence == SW_POSSIBLE;
	/* Where nothing is advised nothing is recoverable; and a poll costs a core, not time. */
	if (f->cost->recoverable_high_ns && (!f->fix || f->id == SW_FINDING_BUSY_POLL))
		sw_collect_own_cost(collect, f)->recoverable_high_ns = 0;
	if (by == SW_SEVERITY_AS_FOUND)
		return;
	uint64_t ns = severity_time(f, by, waited);
	if (f->id == SW_FINDING_OVER_WIDE_SYNC && f->cost->replayed && saved_time(f) < ns)
		ns = saved_time(f);
	if (by != SW_SEVERITY_NEVER_WARNS && ns > SW_WAIT_WARNING_NS && ns > j->span_ns / SW_WAIT_WARNING_SHARE)
		f->severity = SW_WARNING;
	if (f->severity == SW_NOTE && f->cost->total_ns < fold_below_ns) {
		f->hidden = true;
		j->folded_waits += f->cost->calls;
		j->folded_wait_ns += f->cost->total_ns;
	}
}

/* For qsort_r() of indexes: the order of the report, the most severe and the costliest first. */
static int compare_findings(const void *x, const void *y, void *arg)
{
	const struct sw_finding *at = arg, *a = &at[*(const uint32_t *)x], *b = &at[*(const uint32_t *)y];
	if (a->severity != b->severity)
		return a->severity < b->severity ? 1 : -1;
	/* Among equals what can go wrong comes before what waits. */
	if (sw_finding_is_wait(a->id) != sw_finding_is_wait(b->id))
		return sw_finding_is_wait(a->id) ? 1 : -1;
	if (middle_gain(a) != middle_gain(b))
		return middle_gain(a) < middle_gain(b) ? 1 : -1;
	if (a->cost->total_ns != b->cost->total_ns)
		return a->cost->total_ns < b->cost->total_ns ? 1 : -1;
	if (a->access[0]->seq != b->access[0]->seq)
		return a->access[0]->seq < b->access[0]->seq ? -1 : 1;
	return a->id != b->id ? (a->id < b->id ? -1 : 1) : a->fingerprint < b->fingerprint ? -1 : 1;
}

/* Findings are large: their numbers are sorted, then each is moved once. */
static void sort_findings(struct sw_judgement *j)
{
	size_t n = j->findings.n;
	uint32_t *from = sw_alloc((n + 1) * sizeof *from);
	for (size_t i = 0; i < n; i++)
		from[i] = (uint32_t)i;
	if (n)
		qsort_r(from, n, sizeof *from, compare_findings, j->findings.at);
	for (size_t i = 0; i < n; i++) { /* along each cycle */
		struct sw_finding first = j->findings.at[i];
		size_t to = i;
		while (from[to] != i) {
			size_t next = from[to];
			j->findings.at[to] = j->findings.at[next];
			from[to] = (uint32_t)to;
			to = next;
		}
		j->findings.at[to] = first;
		from[to] = (uint32_t)to;
	}
	free(from);
}

/* Large programs allocate, and load code, from hundreds of places while they warm up: the costliest are listed. */
#define SW_MAX_LISTED 10u

/* Hides all but the first findings with this id; the others are counted in the sum of folded waits. */
static void list_the_first(struct sw_judgement *j, int id)
{
	size_t listed = 0;
	for (size_t i = 0; i < j->findings.n; i++) {
		struct sw_finding *f = &j->findings.at[i];
		if (f->id != id || f->hidden || ++listed <= SW_MAX_LISTED)
			continue;
		f->hidden = true;
		j->notes--;
		j->folded_waits += f->cost->calls;
		j->folded_wait_ns += f->cost->total_ns;
	}
}

void sw_collect_finish(struct sw_collect *collect, uint64_t fold_below_ns)
{
	struct sw_judgement *j = collect->judgement;
	take_out_dropped(collect);
	for (size_t i = 0; i < j->findings.n; i++) {
		struct sw_finding *f = &j->findings.at[i];
		const struct own_cost *own = own_of(f);
		if (own && own->spread)
			sum_up(sw_collect_own_cost(collect, f), own->spread, j->span_ns);
		settle_cost(collect, f, own ? own->waited_ns : 0, fold_below_ns);
		if (f->hidden)
			continue;
		j->errors += f->severity == SW_ERROR;
		j->warnings += f->severity == SW_WARNING;
		j->notes += f->severity == SW_NOTE;
	}
	sort_findings(j);
	list_the_first(j, SW_FINDING_DEVICE_ALLOC);
	list_the_first(j, SW_FINDING_MODULE_LOAD);
}
