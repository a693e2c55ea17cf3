/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/collectives.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "merge/merged.h"

#define MAX_TIMES 4096u /* of a communicator on a machine */

/* Frees a sequence with its calls and members; the processes are the merged report's. */
static void free_sequence(struct sw_collective_sequence *s)
{
	free(s->calls.at);
	free(s->members.at);
	free(s);
}

static void free_communicator(struct sw_communicator *c)
{
	for (size_t i = 0; i < c->sequences.n; i++)
		free_sequence(c->sequences.at[i]);
	for (size_t i = 0; i < c->machines.n; i++) {
		free(c->machines.at[i]->boot);
		free(c->machines.at[i]->at.at);
		free(c->machines.at[i]);
	}
	free(c->kinds.at);
	free(c->sequences.at);
	free(c->machines.at);
	free(c);
}

void sw_collective_set_free(struct sw_collective_set *set)
{
	for (size_t i = 0; i < set->communicators.n; i++)
		free_communicator(set->communicators.at[i]);
	free(set->communicators.at);
	*set = (struct sw_collective_set){0};
}

/* Finds the communicator of this identity, or makes it; the largest size that any record gives counts. */
struct sw_communicator *sw_communicator_of(struct sw_collective_set *set, uint64_t identity, uint32_t size)
{
	for (size_t i = 0; i < set->communicators.n; i++)
		if (set->communicators.at[i]->identity == identity) {
			struct sw_communicator *c = set->communicators.at[i];
			c->size = size > c->size ? size : c->size;
			return c;
		}
	struct sw_communicator *c = sw_calloc(1, sizeof *c);
	*c = (struct sw_communicator){.identity = identity, .size = size, .stride = 1};
	*sw_vec_push(&set->communicators) = c;
	return c;
}

/* The number of this call among the communicator's different calls: a sequence is an array of such numbers. */
uint32_t sw_communicator_kind(struct sw_communicator *c, const struct sw_collective_call *call)
{
	for (size_t i = 0; i < c->kinds.n; i++) {
		const struct sw_collective_call *k = &c->kinds.at[i];
		if (k->op == call->op && k->type == call->type && k->reduction == call->reduction &&
		    k->root == call->root && k->count == call->count)
			return (uint32_t)i + 1;
	}
	*sw_vec_push(&c->kinds) = *call;
	return (uint32_t)c->kinds.n;
}

/* ---- sequences --------------------------------------------------------------------------------------------------- */

/* Do they agree as far as both go?  What is not known agrees with nothing but itself here, so that sequences with a gap
   are their own; the report treats it as equal. */
static bool sequences_agree(const struct sw_collective_sequence *a, const struct sw_collective_sequence *b)
{
	const size_t n = a->calls.n < b->calls.n ? a->calls.n : b->calls.n;
	return !n || memcmp(a->calls.at, b->calls.at, n * sizeof *a->calls.at) == 0;
}

/* Adds the members that are not in `to` yet: a rank whose trace was merged twice is a member once. */
static void add_members(struct sw_collective_sequence *to, const struct sw_collective_sequence *from)
{
	for (size_t i = 0; i < from->members.n; i++) {
		bool there = false;
		for (size_t k = 0; k < to->members.n && !there; k++)
			there = to->members.at[k].process == from->members.at[i].process &&
				to->members.at[k].rank == from->members.at[i].rank;
		if (!there)
			*sw_vec_push(&to->members) = from->members.at[i];
	}
}

/* Adds a rank's sequence of calls.  Ranks whose calls agree share one: the longer, since each member knows how much of
   it is its own. */
void sw_communicator_take(struct sw_communicator *c, struct sw_collective_sequence *sequence)
{
	for (size_t i = 0; i < c->sequences.n; i++) {
		struct sw_collective_sequence *s = c->sequences.at[i];
		if (!sequences_agree(s, sequence))
			continue;
		if (s->calls.n < sequence->calls.n) { /* the longer one stays */
			const struct sw_collective_sequence shorter = *s;
			s->calls.at = sequence->calls.at;
			s->calls.n = sequence->calls.n;
			s->calls.room = sequence->calls.room;
			sequence->calls.at = shorter.calls.at;
		}
		add_members(s, sequence);
		free_sequence(sequence);
		return;
	}
	*sw_vec_push(&c->sequences) = sequence;
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* The arrivals of two groups of ranks as one.  The later of the two last ranks is the last of both; the other one is
   the last but one, unless one of the same side came after it.  All who waited on the earlier side waited further,
   until the later one. */
struct sw_arrival sw_arrival_join(const struct sw_arrival *a, const struct sw_arrival *b)
{
	const bool first =
		a->last_ns > b->last_ns || (a->last_ns == b->last_ns && sw_merged_compare(a->last, b->last) <= 0);
	const struct sw_arrival *late = first ? a : b, *early = first ? b : a;
	struct sw_arrival both = *late;
	both.n = a->n + b->n;
	both.first_ns = a->first_ns < b->first_ns ? a->first_ns : b->first_ns;
	if (late->second_ns <= early->last_ns) {
		both.second_ns = early->last_ns;
		both.second_busy_ns = early->copy_ns + early->host_ns;
	}
	both.waited_ns = late->waited_ns + early->waited_ns + early->n * (late->last_ns - early->last_ns);
	both.done_ns = a->done_ns < b->done_ns ? a->done_ns : b->done_ns;
	return both;
}

/* Keeps every second collective of those that are kept, on each machine. */
static void thin_out(struct sw_communicator *c)
{
	c->stride *= 2;
	for (size_t i = 0; i < c->machines.n; i++) {
		struct sw_arrivals *m = c->machines.at[i];
		size_t kept = 0;
		for (size_t k = 0; k < m->at.n; k++)
			if (m->at.at[k].number % c->stride == 0)
				m->at.at[kept++] = m->at.at[k];
		m->at.n = kept;
	}
}

/* The arrivals on the machine of this boot, made if it is new. */
static struct sw_arrivals *machine_of(struct sw_communicator *c, const char *boot)
{
	for (size_t i = 0; i < c->machines.n; i++)
		if (strcmp(c->machines.at[i]->boot, boot) == 0)
			return c->machines.at[i];
	struct sw_arrivals *m = sw_calloc(1, sizeof *m);
	m->boot = sw_strdup(boot);
	*sw_vec_push(&c->machines) = m;
	return m;
}

/* The place of a collective among a machine's arrivals, or where it belongs: binary search by its number. */
size_t sw_arrivals_place(const struct sw_arrivals *m, uint32_t number)
{
	size_t low = 0, high = m->at.n;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (m->at.at[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds a rank's arrival at a collective; arrivals are sorted by number, and those of one machine at one collective are
   joined.  Numbers that the stride does not divide are not kept. */
void sw_communicator_arrive(struct sw_communicator *c, const char *boot, const struct sw_arrival *arrival)
{
	while (arrival->number / c->stride > MAX_TIMES)
		thin_out(c);
	if (arrival->number % c->stride)
		return;
	struct sw_arrivals *m = machine_of(c, boot);
	const size_t at = sw_arrivals_place(m, arrival->number);
	if (at < m->at.n && m->at.at[at].number == arrival->number) {
		m->at.at[at] = sw_arrival_join(&m->at.at[at], arrival);
		return;
	}
	sw_vec_push(&m->at);
	memmove(&m->at.at[at + 1], &m->at.at[at], (m->at.n - 1 - at) * sizeof *m->at.at);
	m->at.at[at] = *arrival;
}

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* Moves the sequences, with their calls renumbered: each communicator numbers its kinds itself. */
static void join_sequences(struct sw_communicator *to, struct sw_communicator *from)
{
	for (size_t i = 0; i < from->sequences.n; i++) {
		struct sw_collective_sequence *s = from->sequences.at[i];
		for (size_t k = 0; k < s->calls.n; k++)
			if (s->calls.at[k])
				s->calls.at[k] = sw_communicator_kind(to, &from->kinds.at[s->calls.at[k] - 1]);
		sw_communicator_take(to, s);
	}
	from->sequences.n = 0;
}

/* Adds all communicators of `from`.  Both sides are brought to the larger stride, so that the same collectives are kept
   of each. */
void sw_collective_set_join(struct sw_collective_set *set, struct sw_collective_set *from)
{
	for (size_t i = 0; i < from->communicators.n; i++) {
		struct sw_communicator *c = from->communicators.at[i];
		struct sw_communicator *to = sw_communicator_of(set, c->identity, c->size);
		join_sequences(to, c);
		while (to->stride < c->stride)
			thin_out(to);
		for (size_t k = 0; k < c->machines.n; k++)
			for (size_t n = 0; n < c->machines.at[k]->at.n; n++)
				sw_communicator_arrive(to, c->machines.at[k]->boot, &c->machines.at[k]->at.at[n]);
	}
}

/* Lets another process stand for `old`, in members as well as in arrivals. */
void sw_collective_set_rename(struct sw_collective_set *set, const struct sw_merged_rank *old,
			      struct sw_merged_rank *new)
{
	for (size_t i = 0; i < set->communicators.n; i++) {
		struct sw_communicator *c = set->communicators.at[i];
		for (size_t k = 0; k < c->sequences.n; k++)
			for (size_t n = 0; n < c->sequences.at[k]->members.n; n++)
				if (c->sequences.at[k]->members.at[n].process == old)
					c->sequences.at[k]->members.at[n].process = new;
		for (size_t k = 0; k < c->machines.n; k++)
			for (size_t n = 0; n < c->machines.at[k]->at.n; n++)
				if (c->machines.at[k]->at.at[n].last == old)
					c->machines.at[k]->at.at[n].last = new;
	}
}

/* Order of members: by their rank in the communicator, then by process. */
static int by_member(const void *a, const void *b)
{
	const struct sw_collective_member *x = a, *y = b;
	const int by = sw_merged_by_number(x->rank, y->rank);
	return by ? by : sw_merged_by_number(x->process->index, y->process->index);
}

/* Order of sequences, whose members are sorted already. */
static int by_first_member(const void *a, const void *b)
{
	return by_member((*(struct sw_collective_sequence *const *)a)->members.at,
			 (*(struct sw_collective_sequence *const *)b)->members.at);
}

static int by_boot(const void *a, const void *b)
{
	return strcmp((*(struct sw_arrivals *const *)a)->boot, (*(struct sw_arrivals *const *)b)->boot);
}

static int by_identity(const void *a, const void *b)
{
	const uint64_t x = (*(struct sw_communicator *const *)a)->identity,
		       y = (*(struct sw_communicator *const *)b)->identity;
	return sw_merged_by_number(x, y);
}

/* Sorts the kinds of calls in the order in which the sequences have them. */
static void sort_kinds(struct sw_communicator *c)
{
	struct sw_communicator sorted = {0};
	for (size_t i = 0; i < c->sequences.n; i++)
		for (size_t k = 0; k < c->sequences.at[i]->calls.n; k++) {
			uint32_t *call = &c->sequences.at[i]->calls.at[k];
			*call = *call ? sw_communicator_kind(&sorted, &c->kinds.at[*call - 1]) : 0;
		}
	free(c->kinds.at);
	c->kinds.at = sorted.kinds.at;
	c->kinds.n = sorted.kinds.n;
	c->kinds.room = sorted.kinds.room;
}

/* Sorts from the inside out: members first, since sequences are compared by their first members. */
void sw_collective_set_sort(struct sw_collective_set *set)
{
	for (size_t i = 0; i < set->communicators.n; i++) {
		struct sw_communicator *c = set->communicators.at[i];
		for (size_t k = 0; k < c->sequences.n; k++)
			qsort(c->sequences.at[k]->members.at, c->sequences.at[k]->members.n,
			      sizeof *c->sequences.at[k]->members.at, by_member);
		if (c->sequences.n)
			qsort(c->sequences.at, c->sequences.n, sizeof *c->sequences.at, by_first_member);
		sort_kinds(c);
		if (c->machines.n)
			qsort(c->machines.at, c->machines.n, sizeof *c->machines.at, by_boot);
	}
	if (set->communicators.n)
		qsort(set->communicators.at, set->communicators.n, sizeof *set->communicators.at, by_identity);
}

/* The collectives of one trace: a pass over its records, without judging. */

#define MAX_CALLS (1u << 24) /* of a communicator: numbers beyond are of a damaged record */

/* One communicator of this process. */
struct own {
	struct sw_communicator *communicator;
	struct sw_collective_sequence *sequence;
	struct sw_collective_member member;
};

/* A collective that no wait of the host has covered yet. */
struct open {
	struct own *own;
	struct sw_arrival arrival;
	uint64_t stream, seq;
};

struct pass {
	struct sw_collective_set *set;
	struct sw_merged_rank *process;
	SW_VEC(struct own *) owns;
	SW_VEC(struct open) open;
	struct sw_map begun;	   /* seq of a BEGIN of SYNC -> stream, or ALL_STREAMS */
	uint64_t begin_ns;	   /* CLOCK_MONOTONIC of the trace's start */
	uint64_t since_ns;	   /* the collective before */
	uint64_t wait_ns, copy_ns; /* since then */
	uint64_t last_ns, end_ns;
	const char *boot;
	struct sw_shared_pass shared;
};

#define ALL_STREAMS UINT64_MAX
#define OPEN_MANY   65536u
#define STUCK_NS    100000u /* a launch that takes as long waits for room in its stream's queue */

/* This process as a member of the communicator, made at its first collective there.  A process may hold several ranks,
   one for each of its devices. */
static struct own *own_of(struct pass *p, const struct sw_rec_collective *c)
{
	for (size_t i = 0; i < p->owns.n; i++)
		if (p->owns.at[i]->communicator->identity == c->communicator && p->owns.at[i]->member.rank == c->rank)
			return p->owns.at[i];
	struct own *own = sw_calloc(1, sizeof *own);
	own->communicator = sw_communicator_of(p->set, c->communicator, c->size);
	own->sequence = sw_calloc(1, sizeof *own->sequence);
	own->member = (struct sw_collective_member){.process = p->process, .rank = c->rank};
	*sw_vec_push(&p->owns) = own;
	return own;
}

/* Puts the call at its number in the sequence; numbers between that have no record are unknown.  Buffers may differ
   from rank to rank, so they are no part of what must be the same. */
static void put_call(struct own *own, const struct sw_rec_collective *c)
{
	/* Operations that a program makes have numbers of its own. */
	const uint32_t reduction = c->reduction > 5 ? 5 : c->reduction;
	const struct sw_collective_call call = {c->op, c->type, reduction, c->root, c->count};
	while (own->sequence->calls.n < c->number)
		*sw_vec_push(&own->sequence->calls) = 0;
	own->sequence->calls.at[c->number - 1] = sw_communicator_kind(own->communicator, &call);
}

/* Hands the arrival over to the communicator, with what is known by now of its end. */
static void end_collective(struct pass *p, const struct open *open)
{
	sw_communicator_arrive(open->own->communicator, p->boot, &open->arrival);
}

/* A record of a collective: its call becomes part of the communicator's sequence, its arrival and end are noted. */
static void take_collective(struct pass *p, const struct sw_record *r, uint64_t now)
{
	const struct sw_rec_collective *c = (const struct sw_rec_collective *)(const void *)r->rec;
	if (r->rec->flags & SW_RF_END || c->op >= SW_COLLECTIVE_GROUP_END || !c->communicator || !c->number ||
	    c->number > MAX_CALLS)
		return;
	struct own *own = own_of(p, c);
	const uint64_t since = p->since_ns ? now - p->since_ns : 0;
	const uint64_t known = p->wait_ns + p->copy_ns < since ? p->wait_ns + p->copy_ns : since;
	put_call(own, c);
	if (p->open.n == OPEN_MANY) {
		for (size_t i = 0; i < p->open.n; i++)
			end_collective(p, &p->open.at[i]);
		p->open.n = 0;
	}
	*sw_vec_push(&p->open) = (struct open){.own = own,
					       .arrival = {.number = (uint32_t)c->number,
							   .n = 1,
							   .first_ns = now,
							   .last_ns = now,
							   .done_ns = UINT64_MAX,
							   .last = p->process,
							   .wait_ns = p->wait_ns,
							   .copy_ns = p->copy_ns,
							   .host_ns = since - known},
					       .stream = c->stream,
					       .seq = r->seq};
	p->since_ns = now;
	p->wait_ns = p->copy_ns = 0;
}

/* A wait of the host for a stream, or for all: what was called on it before the wait began is complete. */
static void take_sync(struct pass *p, const struct sw_record *r, uint64_t now)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)r->rec;
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
	if (!(r->rec->flags & SW_RF_END)) {
		if (s->what == SW_SYNC_STREAM || s->what == SW_SYNC_CONTEXT)
			*sw_map_put(&p->begun, r->seq) = s->what == SW_SYNC_CONTEXT ? ALL_STREAMS : s->handle;
		return;
	}
	p->wait_ns += r->dur_ns;
	const uint64_t *stream = sw_map_find(&p->begun, end->begin_seq);
	size_t kept = 0;
	for (size_t i = 0; stream && i < p->open.n; i++) {
		struct open *open = &p->open.at[i];
		const bool done = open->seq < end->begin_seq && (*stream == ALL_STREAMS || *stream == open->stream);
		if (!done) {
			p->open.at[kept++] = *open;
			continue;
		}
		open->arrival.done_ns = r->failed ? UINT64_MAX : now;
		end_collective(p, open);
	}
	if (stream)
		p->open.n = kept;
	sw_map_delete(&p->begun, end->begin_seq);
}

/* Has a synchronous copy ended with this record?  One that waits has two records; the last has its time. */
static bool is_over(unsigned flags)
{
	return flags & SW_RF_END || (flags & SW_RF_SYNCHRONOUS && !(flags & SW_RF_BEGIN));
}

/* Shows a record to both passes, of collectives and of shared memory, and adds the host's time in waits and copies. */
static void take_record(struct pass *p, const struct sw_reader *reader, const struct sw_record *r)
{
	const uint64_t now = p->begin_ns + r->t_ns;
	if (r->rec->kind < SW_REC_LAUNCH || r->rec->kind == SW_REC_ACTIVITY)
		return;
	p->last_ns = now > p->last_ns ? now : p->last_ns;
	p->end_ns = now + r->dur_ns > p->end_ns ? now + r->dur_ns : p->end_ns;
	sw_shared_take(&p->shared, reader, r, now);
	if (r->rec->kind == SW_REC_COLLECTIVE)
		take_collective(p, r, now);
	else if (r->rec->kind == SW_REC_SYNC)
		take_sync(p, r, now);
	else if ((r->rec->kind == SW_REC_COPY || r->rec->kind == SW_REC_COPY_ND) && is_over(r->rec->flags))
		p->copy_ns += r->dur_ns;
	else if (r->rec->kind == SW_REC_LAUNCH && !(r->rec->flags & SW_RF_END) && r->dur_ns >= STUCK_NS)
		p->wait_ns += r->dur_ns;
}

/* Hands over what is still open, and the process as a member of its communicators: with the number of its calls, and
   when its trace ends. */
static void finish_pass(struct pass *p, const struct sw_file_header *header)
{
	for (size_t i = 0; i < p->open.n; i++)
		end_collective(p, &p->open.at[i]);
	for (size_t i = 0; i < p->owns.n; i++) {
		struct own *own = p->owns.at[i];
		own->member.calls = (uint32_t)own->sequence->calls.n;
		own->member.last_ns = p->last_ns;
		own->member.end_ns = header->last_monotonic_ns > p->end_ns ? header->last_monotonic_ns : p->end_ns;
		*sw_vec_push(&own->sequence->members) = own->member;
		sw_communicator_take(own->communicator, own->sequence);
		free(own);
	}
	free(p->owns.at);
	free(p->open.at);
	sw_map_free(&p->begun);
}

/* Adds the collectives of a process by reading its trace a second time: the report's own pass does not keep them. */
int sw_merged_collectives(struct sw_merged *merged, struct sw_merged_rank *process, struct sw_report *report,
			  const char *trace, struct sw_error *error)
{
	struct sw_reader *reader;
	struct sw_record record;
	int rc = sw_reader_open(trace, &reader, error);
	if (rc)
		return rc;
	struct pass p = {.set = &merged->collectives,
			 .process = process,
			 .begin_ns = sw_reader_header(reader)->start_monotonic_ns,
			 .boot = sw_merged_machine(process)};
	sw_shared_begin(&p.shared, &merged->shared, process, report);
	while ((rc = sw_reader_next(reader, &record, error)) > 0)
		take_record(&p, reader, &record);
	sw_shared_end(&p.shared, p.last_ns);
	finish_pass(&p, sw_reader_header(reader));
	sw_reader_close(reader);
	return rc;
}
