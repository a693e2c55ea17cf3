/* SPDX-License-Identifier: Apache-2.0 */
/* The collectives of one trace: a pass over its records, without judging. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "merge/collectives.h"
#include "merge/merged.h"

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

/* Buffers may differ from rank to rank; what must not is the rest. */
static void put_call(struct own *own, const struct sw_rec_collective *c)
{
	/* Operations that a program makes have numbers of its own. */
	const uint32_t reduction = c->reduction > 5 ? 5 : c->reduction;
	const struct sw_collective_call call = {c->op, c->type, reduction, c->root, c->count};
	while (own->sequence->calls.n < c->number)
		*sw_vec_push(&own->sequence->calls) = 0;
	own->sequence->calls.at[c->number - 1] = sw_communicator_kind(own->communicator, &call);
}

static void arrive(struct pass *p, const struct open *open)
{
	sw_communicator_arrive(open->own->communicator, p->boot, &open->arrival);
}

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
			arrive(p, &p->open.at[i]);
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
		arrive(p, open);
	}
	if (stream)
		p->open.n = kept;
	sw_map_delete(&p->begun, end->begin_seq);
}

/* A synchronous copy that has ended: one that waits has two records, of which the last has its time. */
static bool is_over(unsigned flags)
{
	return flags & SW_RF_END || (flags & SW_RF_SYNCHRONOUS && !(flags & SW_RF_BEGIN));
}

static void take(struct pass *p, const struct sw_reader *reader, const struct sw_record *r)
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

static void finish(struct pass *p, const struct sw_file_header *header)
{
	for (size_t i = 0; i < p->open.n; i++)
		arrive(p, &p->open.at[i]);
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
			 .boot = *process->boot ? process->boot : process->host};
	sw_shared_begin(&p.shared, &merged->shared, process, report);
	while ((rc = sw_reader_next(reader, &record, error)) > 0)
		take(&p, reader, &record);
	sw_shared_end(&p.shared, p.last_ns);
	finish(&p, sw_reader_header(reader));
	sw_reader_close(reader);
	return rc;
}
