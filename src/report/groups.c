/* SPDX-License-Identifier: Apache-2.0 */
#include "report/groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/hash.h"
#include "base/map.h"
#include "report/symbols/stack.h"

/* The words of a group, whatever the format. */

/* Index of the access whose call must change, for findings that are no hazards: the wait that comes too early, the
   record that comes too early, the call on the legacy stream; of the others the last. */
static uint32_t call_to_change(const struct sw_finding *finding)
{
	switch (finding->id) {
	case SW_FINDING_EVENT_OVERWRITTEN:
		return finding->accesses > 1;
	case SW_FINDING_WAIT_UNRECORDED:
	case SW_FINDING_WAIT_COVERS_NOTHING:
	case SW_FINDING_CAPTURE_ISOLATION:
	case SW_FINDING_LEGACY_SERIALISATION:
		return 0;
	default:
		return finding->accesses ? finding->accesses - 1 : 0;
	}
}

/* Does the stack, as it is shown, have a frame with this address? */
static bool has_frame(const struct sw_stack_view *view, uint64_t ip)
{
	for (size_t i = 0; i < view->n; i++)
		if (view->at[i].frame->ip == ip)
			return true;
	return false;
}

/* The frame by which an access is grouped where none has a name: the innermost of the program's own that the other side
   does not have, else of all. */
static const struct sw_frame *nameless_site(struct sw_names *names, const struct sw_access *access,
					    const struct sw_access *other)
{
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function), against = {0};
	const struct sw_frame *best = NULL;
	int most = 0;
	if (other && other->stack != access->stack)
		against = sw_stack_view(names, other->stack, other->function);
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		int rank = !frame->module[0]		    ? 0
			   : !sw_stack_is_own(names, frame) ? 1
			   : has_frame(&against, frame->ip) ? 2
							    : 3;
		if (rank > most)
			best = frame;
		most = rank > most ? rank : most;
	}
	return best;
}

const struct sw_frame *sw_report_site(struct sw_report *report, const struct sw_finding *finding)
{
	const bool hazard = sw_is_hazard(finding);
	const uint32_t first = hazard ? 1 : call_to_change(finding);
	const struct sw_frame *site = NULL;
	if (!finding->accesses)
		return NULL;
	site = sw_place_of(&report->names, finding->access[first], hazard ? finding->access[0] : NULL);
	for (uint32_t i = hazard ? 2 : finding->accesses; i-- > 0 && !site;)
		site = sw_place_of(&report->names, sw_finding_access(finding, i), hazard ? finding->access[!i] : NULL);
	return site ? site : nameless_site(&report->names, finding->access[first], hazard ? finding->access[0] : NULL);
}

const char *sw_report_count(struct sw_report *report, const struct sw_finding *finding)
{
	static const struct {
		uint8_t kind;
		const char *one, *many;
	} nouns[] = {{SW_REC_LAUNCH, "launch", "launches"},
		     {SW_REC_COPY, "copy", "copies"},
		     {SW_REC_COPY_ND, "copy", "copies"},
		     {SW_REC_HOST_ACCESS, "access", "accesses"}};
	const char *one = "call", *many = "calls";
	const bool hazard = sw_is_hazard(finding);
	const uint8_t kind = finding->accesses ? finding->access[hazard]->kind : 0;
	const uint64_t n = finding->operations ? finding->operations : finding->count;
	for (size_t i = 0; i < sizeof nouns / sizeof *nouns && hazard; i++)
		if (nouns[i].kind == kind) {
			one = nouns[i].one;
			many = nouns[i].many;
		}
	return sw_names_format(&report->names, "%" PRIu64 " %s", n, sw_plural(n, one, many));
}

uint64_t sw_group_cost(const struct sw_report *report, const struct sw_group *group)
{
	uint64_t ns = report->shown.at[group->leader].finding->cost->total_ns;
	for (size_t i = 0; i < group->members.n; i++)
		ns += report->shown.at[group->members.at[i]].finding->cost->total_ns;
	return ns;
}

/* ---- the fix ------------------------------------------------------------------------------------------------------
 */

/* The finding of the group that says which event failed to order its hazard, as the hazard's own advice has it; NULL:
   there is none. */
static const struct sw_finding *failed_event(const struct sw_report *report, const struct sw_group *group)
{
	const struct sw_finding *leader = report->shown.at[group->leader].finding;
	const struct sw_finding_info *info = sw_finding_info(leader->id);
	if (info && info->facts == SW_FACTS_MISSED)
		return leader->missed.hazard ? leader : NULL;
	for (size_t i = 0; i < group->members.n; i++) {
		const struct sw_finding *finding = report->shown.at[group->members.at[i]].finding;
		info = sw_finding_info(finding->id);
		if (info && info->facts == SW_FACTS_MISSED && finding->fix == leader->fix &&
		    finding->fix_call.seq == leader->fix_call.seq)
			return finding;
	}
	return NULL;
}

/* Makes the advice for a group: the lines to write in the program, or why there are none, in the words of its leading
   finding. */
void sw_group_fix(struct sw_report *report, const struct sw_group *group, struct sw_group_fix *out)
{
	const struct sw_shown_finding *leader = &report->shown.at[group->leader];
	const struct sw_finding *finding = leader->finding, *failed = failed_event(report, group);
	struct sw_fix_lines *lines = &out->lines;
	*out = (struct sw_group_fix){.text = sw_report_words(report, leader).fix, .note = "", .why = ""};
	if (failed)
		sw_fix_event_lines(&report->names, failed, group->before, lines);
	else if (group->edges)
		sw_fix_lines(&report->names, finding, group->after, group->before, lines);
	else if (finding->fix == SW_FIX_EVENT && finding->accesses > 1)
		sw_fix_lines(&report->names, finding, finding->access[0], finding->access[1], lines);
	if (!lines->n && !lines->why)
		sw_fix_call(&report->names, finding, lines);
	const struct sw_access *after = group->edges ? group->after : finding->access[0];
	if (lines->n)
		sw_fix_mind_bodies(&report->names,
				   sw_is_hazard(finding) ? sw_place_of(&report->names, after, NULL) : NULL, lines);
	if (lines->n)
		out->text = sw_fix_lines_text(&report->names, lines);
	else if (lines->why && *out->text)
		out->why = lines->why;
	if (lines->n && lines->note)
		out->note = lines->note;
	if (lines->n && lines->streams)
		out->note = *out->note ? sw_names_format(&report->names, "%s; %s", lines->streams, out->note)
				       : lines->streams;
	if (group->edges > 1)
		out->note = sw_names_format(&report->names,
					    "the same is missing between %u other %s of calls; or put all of them on "
					    "one stream",
					    group->edges - 1, sw_plural(group->edges - 1, "pair", "pairs"));
}

/* The leader of a group that was merged with another: it comes last. */
#define GONE UINT32_MAX
/* From so many missing edges on, all on the same bytes, they are one cause: work that was never ordered at all. */
#define MANY_EDGES 4u
/* Groups of one allocation that a group is compared with: what lies beyond stays by itself. */
#define MOST_COMPARED 64u

/* A hazard that an edge would fix. */
struct span {
	uint64_t lanes, to; /* which two lanes; the later call */
	uint32_t index;	    /* into shown */
	int rank;
};
typedef SW_VEC(struct span) span_vec;

/* The finding that is shown at this index. */
static const struct sw_finding *finding_at(const struct sw_report *report, size_t index)
{
	return report->shown.at[index].finding;
}

/* Rank for leading a group, the worst highest: suppressed findings, shown on request, lead no others. */
static int rank_of(const struct sw_shown_finding *shown)
{
	return shown->suppressed ? -1 : (int)shown->finding->severity;
}

/* Is it a hazard that order between its two calls would fix: an edge from the earlier call to the later one? */
static bool has_edge(const struct sw_finding *finding)
{
	return sw_is_hazard(finding) && finding->access[0]->role != SW_FREE &&
	       finding->id != SW_FINDING_GRAPH_BRANCH_RACE && finding->id != SW_FINDING_BATCH_COPY_RACE &&
	       finding->id != SW_FINDING_PROGRAMMATIC_RACE && finding->fix != SW_FIX_EVENT_CAPTURED &&
	       finding->fix != SW_FIX_USE_NODE_LATER && finding->access[0]->seq < finding->access[1]->seq;
}

/* Begins a group with this finding as its leader. */
static struct sw_group *new_group(struct sw_report *report, uint32_t leader)
{
	struct sw_group *group = sw_vec_push(&report->groups);
	const struct sw_finding *finding = finding_at(report, leader);
	*group = (struct sw_group){.leader = leader, .edges = has_edge(finding)};
	if (has_edge(finding)) {
		group->after = finding->access[0];
		group->before = finding->access[1];
	}
	report->group_of[leader] = (uint32_t)report->groups.n;
	return group;
}

/* Adds the finding at `index` to the group. */
static void add_member(struct sw_report *report, uint32_t group, uint32_t index)
{
	*sw_vec_push(&report->groups.at[group].members) = index;
	report->group_of[index] = group + 1;
}

/* ---- hazards that one edge fixes ----------------------------------------------------------------------------------
 */

/* For qsort(): the most severe first, then by the two streams, then by the later call. */
static int by_lanes_and_end(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->lanes != y->lanes)
		return x->lanes < y->lanes ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Does an edge that fixes the group fix this one too?  Narrows the group's edge, so that it fixes both. */
static bool edge_fits(struct sw_group *group, const struct sw_finding *finding)
{
	const struct sw_access *after = finding->access[0], *before = finding->access[1];
	if (after->seq < group->after->seq)
		after = group->after;
	if (before->seq > group->before->seq)
		before = group->before;
	if (after->seq >= before->seq)
		return false;
	group->after = after;
	group->before = before;
	return true;
}

/* The groups of each pair of lanes, the latest first. */
struct chains {
	struct sw_map last;	 /* pair of lanes -> group + 1 */
	SW_VEC(uint32_t) before; /* of each group: the one before it + 1, 0: none */
};

/* Spans come by their ends, so of one rank only the latest group may fit; a weaker one may fit any that a stronger one
   made, but never leads it. */
static void place_span(struct sw_report *report, struct chains *chains, const struct span *span)
{
	uint64_t *slot = sw_map_put(&chains->last, span->lanes);
	const struct sw_finding *finding = finding_at(report, span->index);
	uint32_t group = (uint32_t)*slot;
	for (unsigned i = 0; group && i < MOST_COMPARED; i++, group = chains->before.at[group - 1])
		if (edge_fits(&report->groups.at[group - 1], finding)) {
			add_member(report, group - 1, span->index);
			return;
		}
	new_group(report, span->index);
	*sw_vec_push(&chains->before) = (uint32_t)*slot;
	*slot = report->groups.n;
}

/* Groups hazards that one edge between their streams fixes: taken by their later calls, each joins the latest group
   whose edge can be narrowed to fix it as well. */
static void group_by_edge(struct sw_report *report)
{
	span_vec spans = {0};
	struct chains chains = {0};
	for (uint32_t i = 0; i < report->shown.n; i++) {
		const struct sw_finding *finding = finding_at(report, i);
		if (has_edge(finding))
			*sw_vec_push(&spans) = (struct span){.lanes = (uint64_t)finding->access[0]->stream << 32 |
								      finding->access[1]->stream,
							     .to = finding->access[1]->seq,
							     .index = i,
							     .rank = rank_of(&report->shown.at[i])};
	}
	if (spans.n)
		qsort(spans.at, spans.n, sizeof *spans.at, by_lanes_and_end);
	for (size_t i = 0; i < spans.n; i++)
		place_span(report, &chains, &spans.at[i]);
	sw_map_free(&chains.last);
	free(chains.before.at);
	free(spans.at);
}

/* ---- many edges on the same bytes ---------------------------------------------------------------------------------
 */

/* Groups of one allocation and rank whose bytes overlap those of the first. */
struct heap {
	uint64_t low, high;
	uint32_t first; /* group */
	uint32_t edges;
	uint32_t next; /* of the same allocation: index + 1, 0 ends */
};
struct heaps {
	SW_VEC(struct heap) all;
	struct sw_map by_allocation; /* -> index + 1 */
	uint32_t *of_group;	     /* index + 1, 0: none */
};

/* Key of a group's allocation and rank. */
static uint64_t heap_key(const struct sw_report *report, const struct sw_group *group)
{
	const struct sw_access *later = finding_at(report, group->leader)->access[1];
	return (uint64_t)later->allocation << 8 | (uint8_t)(rank_of(&report->shown.at[group->leader]) + 1);
}

/* Counts the group with the first one of its allocation and rank whose bytes overlap its own. */
static void put_on_heap(struct sw_report *report, struct heaps *heaps, uint32_t index)
{
	const struct sw_group *group = &report->groups.at[index];
	if (group->leader == GONE)
		return;
	const struct sw_access *later = finding_at(report, group->leader)->access[1];
	if (!group->edges || !later->allocation || !later->ranged)
		return;
	uint64_t low = later->address, high = later->address + later->bytes;
	uint64_t *slot = sw_map_put(&heaps->by_allocation, heap_key(report, group));
	uint32_t at = (uint32_t)*slot;
	for (unsigned i = 0; at && i < MOST_COMPARED; i++, at = heaps->all.at[at - 1].next) {
		struct heap *heap = &heaps->all.at[at - 1];
		if (low >= heap->high || high <= heap->low)
			continue;
		heap->edges++;
		heaps->of_group[index] = at;
		return;
	}
	*sw_vec_push(&heaps->all) = (struct heap){low, high, index, 1, (uint32_t)*slot};
	*slot = heaps->of_group[index] = (uint32_t)heaps->all.n;
}

/* Moves the members of one group to another. */
static void merge_groups(struct sw_report *report, uint32_t into, uint32_t from)
{
	struct sw_group *group = &report->groups.at[from];
	add_member(report, into, group->leader);
	for (size_t i = 0; i < group->members.n; i++)
		add_member(report, into, group->members.at[i]);
	report->groups.at[into].edges += group->edges;
	free(group->members.at);
	*group = (struct sw_group){.leader = GONE};
}

/* Merges groups on the same bytes where very many edges are missing: they are one cause, work that was never ordered at
   all. */
static void merge_many_edges(struct sw_report *report)
{
	struct heaps heaps = {.of_group = sw_calloc(report->groups.n + 1, sizeof *heaps.of_group)};
	const size_t n = report->groups.n;
	for (uint32_t i = 0; i < n; i++)
		put_on_heap(report, &heaps, i);
	for (uint32_t i = 0; i < n; i++) {
		const struct heap *heap = heaps.of_group[i] ? &heaps.all.at[heaps.of_group[i] - 1] : NULL;
		if (heap && heap->first != i && heap->edges >= MANY_EDGES)
			merge_groups(report, heap->first, i);
	}
	sw_map_free(&heaps.by_allocation);
	free(heaps.all.at);
	free(heaps.of_group);
}

/* ---- edges between the same two lines ------------------------------------------------------------------------------
 */

/* A key for the two lines of a missing edge; 0: a line is not known.  A loop misses an edge again in each iteration,
   and its findings may come from different ones: the lines to write are the same. */
static uint64_t lines_key(struct sw_report *report, const struct sw_group *group)
{
	struct sw_names *names = &report->names;
	const struct sw_access *edge[2] = {group->after, group->before};
	uint64_t key = (uint64_t)report->shown.at[group->leader].suppressed << 1 | 1;
	for (int i = 0; i < 2; i++) {
		const struct sw_frame *place = sw_place_of(names, edge[i], edge[!i]);
		if (!place || !place->file || !place->line || edge[i]->node)
			return 0;
		key = sw_hash_u64(key + sw_hash_bytes(SW_FNV_START, place->file, strlen(place->file)));
		key = sw_hash_u64(key + ((uint64_t)place->line << 32 | edge[i]->stream));
	}
	return key;
}

/* Merges groups whose advice is the same lines of code, as a loop misses an edge again in each iteration. */
static void merge_same_lines(struct sw_report *report)
{
	struct sw_map by_lines = {0};
	struct sw_names_scope scope;
	for (uint32_t i = 0; i < report->groups.n; i++) {
		const struct sw_group *group = &report->groups.at[i];
		sw_names_scope_begin(&report->names, &scope);
		uint64_t key = group->leader != GONE && group->edges == 1 ? lines_key(report, group) : 0;
		sw_names_scope_end(&report->names, &scope);
		uint64_t *slot = key ? sw_map_put(&by_lines, key) : NULL;
		if (slot && *slot) {
			merge_groups(report, (uint32_t)*slot - 1, i);
			report->groups.at[*slot - 1].edges = 1;
		} else if (slot) {
			*slot = i + 1;
		}
	}
	sw_map_free(&by_lines);
}

/* ---- everything else ----------------------------------------------------------------------------------------------
 */

/* Findings with one key, other than 0, are one group. */
static uint64_t key_of(struct sw_report *report, const struct sw_finding *finding)
{
	const struct sw_access *access = finding->access[0];
	if (finding->id == SW_FINDING_USE_AFTER_FREE && finding->accesses >= 2 && access->role == SW_FREE)
		return sw_hash_u64(access->seq << 1 | 1);
	if (!sw_finding_is_wait(finding->id) || !finding->accesses)
		return 0;
	struct sw_names_scope scope;
	sw_names_scope_begin(&report->names, &scope);
	uint64_t place = sw_place_hash(&report->names, access);
	sw_names_scope_end(&report->names, &scope);
	return place ? sw_hash_u64(place) | 1 : 0;
}

/* A key for a hazard that a call was meant to prevent: by its id and the record of the work that was missed. */
static uint64_t hazard_key(int id, uint64_t seq)
{
	return sw_hash_u64((uint64_t)id << 48 ^ seq) | 1;
}

/* Key of a hazard by the call site and stream of the work that was missed; 0: the site is not known. */
static uint64_t hazard_site_key(int id, const struct sw_access *missed)
{
	return missed->stack ? sw_hash_u64(sw_hash_u64((uint64_t)id << 48 ^ missed->stack) + missed->stream) | 1 : 0;
}

/* Does the finding explain hazards: an event that failed to order them? */
static bool explains_others(const struct sw_finding *finding)
{
	const struct sw_finding_info *info = sw_finding_info(finding->id);
	return info && info->facts == SW_FACTS_MISSED && finding->missed.hazard;
}

/* The work that the event should have covered: the last access of the finding. */
static const struct sw_access *missed_of(const struct sw_finding *finding)
{
	return sw_finding_access(finding, finding->accesses - 1u);
}

/* Notes that the hazard with this key is in the group, unless it is noted already or nobody explains it. */
static void set_explained(struct sw_map *hazards, uint64_t key, uint64_t group)
{
	uint64_t *slot = key ? sw_map_find(hazards, key) : NULL;
	if (slot && !*slot)
		*slot = group;
}

/* Finds the group of each hazard that another finding explains (a wait or record that failed to prevent it): key ->
   group.  Most explain nothing, and there may be a million of them. */
static void find_explained(const struct sw_report *report, struct sw_map *hazards)
{
	for (size_t i = 0; i < report->shown.n; i++) {
		const struct sw_finding *finding = finding_at(report, i);
		if (report->group_of[i] || !explains_others(finding))
			continue;
		const uint64_t site = hazard_site_key(finding->missed.hazard, missed_of(finding));
		sw_map_put(hazards, hazard_key(finding->missed.hazard, finding->missed.seq));
		if (site)
			sw_map_put(hazards, site);
	}
	for (size_t i = 0; i < report->shown.n && hazards->n; i++) {
		const struct sw_finding *finding = finding_at(report, i);
		if (!report->group_of[i] || !finding->accesses)
			continue;
		set_explained(hazards, hazard_key(finding->id, finding->access[0]->seq), report->group_of[i]);
		set_explained(hazards, hazard_site_key(finding->id, finding->access[0]), report->group_of[i]);
	}
}

/* The group, + 1, of the hazard that this finding explains; 0: none. */
static uint64_t group_explained(const struct sw_map *hazards, const struct sw_finding *finding)
{
	if (!explains_others(finding))
		return 0;
	const uint64_t group = sw_map_get(hazards, hazard_key(finding->missed.hazard, finding->missed.seq));
	const uint64_t site = hazard_site_key(finding->missed.hazard, missed_of(finding));
	return group || !site ? group : sw_map_get(hazards, site);
}

/* Groups the findings that are in no group yet: with the hazard that they explain, with those of one cause, or
   alone. */
static void group_the_rest(struct sw_report *report)
{
	struct sw_map hazards = {0}, by_key = {0};
	find_explained(report, &hazards);
	for (uint32_t i = 0; i < report->shown.n; i++) {
		const struct sw_finding *finding = finding_at(report, i);
		if (report->group_of[i])
			continue;
		uint64_t group = group_explained(&hazards, finding);
		uint64_t key = group ? 0 : key_of(report, finding);
		/* A suppressed finding is in a group of its own. */
		uint64_t *slot = key ? sw_map_put(&by_key, key ^ (uint64_t)report->shown.at[i].suppressed << 1) : NULL;
		if (slot && *slot)
			group = *slot;
		if (group)
			add_member(report, (uint32_t)group - 1, i);
		else
			new_group(report, i);
		if (slot)
			*slot = report->group_of[i];
	}
	sw_map_free(&hazards);
	sw_map_free(&by_key);
}

/* For qsort(): by the leader's place in the report. */
static int by_leader(const void *a, const void *b)
{
	const struct sw_group *x = a, *y = b;
	return x->leader < y->leader ? -1 : x->leader > y->leader;
}

/* For qsort(): by number. */
static int by_index(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Makes the strongest finding of the group its leader, of equal ones the first. */
static void choose_leader(const struct sw_report *report, struct sw_group *group)
{
	for (size_t i = 0; i < group->members.n; i++) {
		uint32_t member = group->members.at[i];
		int rank = rank_of(&report->shown.at[member]), best = rank_of(&report->shown.at[group->leader]);
		bool hazard = has_edge(finding_at(report, member)), is = has_edge(finding_at(report, group->leader));
		if (rank > best || (rank == best && (hazard > is || (hazard == is && member < group->leader)))) {
			group->members.at[i] = group->leader;
			group->leader = member;
		}
	}
	qsort(group->members.at, group->members.n, sizeof *group->members.at, by_index);
}

/* Puts the groups in the order of their leaders, and drops those that were merged into others. */
static void sort_groups(struct sw_report *report)
{
	for (size_t i = 0; i < report->groups.n; i++)
		if (report->groups.at[i].members.n)
			choose_leader(report, &report->groups.at[i]);
	qsort(report->groups.at, report->groups.n, sizeof *report->groups.at, by_leader);
	while (report->groups.n && report->groups.at[report->groups.n - 1].leader == GONE)
		report->groups.n--;
	report->groups.room = report->groups.n;
	report->groups.at = sw_realloc(report->groups.at, report->groups.n, sizeof *report->groups.at);
	for (uint32_t i = 0; i < report->groups.n; i++) {
		struct sw_group *group = &report->groups.at[i];
		report->group_of[group->leader] = i + 1;
		for (size_t k = 0; k < group->members.n; k++)
			report->group_of[group->members.at[k]] = i + 1;
	}
}

void sw_report_group(struct sw_report *report)
{
	if (!report->shown.n)
		return;
	report->group_of = sw_calloc(report->shown.n, sizeof *report->group_of);
	group_by_edge(report);
	merge_same_lines(report);
	merge_many_edges(report);
	group_the_rest(report);
	sort_groups(report);
}

/* Undoes sw_report_group(). */
void sw_report_ungroup(struct sw_report *report)
{
	for (size_t i = 0; i < report->groups.n; i++)
		free(report->groups.at[i].members.at);
	free(report->groups.at);
	free(report->group_of);
	memset(&report->groups, 0, sizeof report->groups);
	report->group_of = NULL;
}

const struct sw_group *sw_report_group_of(const struct sw_report *report, const struct sw_shown_finding *shown)
{
	return &report->groups.at[report->group_of[shown - report->shown.at] - 1];
}
