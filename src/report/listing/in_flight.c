/* SPDX-License-Identifier: Apache-2.0 */
#include "report/listing/in_flight.h"

#include <stdlib.h>

#include "reader/kinds.h"

static const char *collective_name(uint32_t op)
{
	static const char *const names[] = {
		[SW_COLLECTIVE_ALL_REDUCE] = "ncclAllReduce",
		[SW_COLLECTIVE_BROADCAST] = "ncclBroadcast",
		[SW_COLLECTIVE_REDUCE] = "ncclReduce",
		[SW_COLLECTIVE_ALL_GATHER] = "ncclAllGather",
		[SW_COLLECTIVE_REDUCE_SCATTER] = "ncclReduceScatter",
		[SW_COLLECTIVE_ALL_TO_ALL] = "ncclAlltoAll",
		[SW_COLLECTIVE_GATHER] = "ncclGather",
		[SW_COLLECTIVE_SCATTER] = "ncclScatter",
		[SW_COLLECTIVE_SEND] = "ncclSend",
		[SW_COLLECTIVE_RECEIVE] = "ncclRecv",
		[SW_COLLECTIVE_GROUP_END] = "ncclGroupEnd",
		[SW_COLLECTIVE_COMMUNICATOR] = "ncclCommInitRank",
	};
	return op < sizeof names / sizeof *names && names[op] ? names[op] : "a function of NCCL";
}

struct open_calls {
	SW_VEC(struct sw_in_flight) at;
};

/* Their records are complete when they are written: those without an end have not returned. */
static void take_collective(struct open_calls *open, const struct sw_record *r)
{
	const struct sw_rec_collective *c = (const struct sw_rec_collective *)(const void *)r->rec;
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
	if (!(r->rec->flags & SW_RF_END)) {
		*sw_vec_push(&open->at) = (struct sw_in_flight){.thread = r->thread,
								.stack = r->stack,
								.seq = r->seq,
								.t_ns = r->t_ns,
								.name = collective_name(c->op)};
		return;
	}
	for (size_t i = open->at.n; i-- > 0;)
		if (open->at.at[i].seq == end->begin_seq) {
			open->at.at[i] = open->at.at[--open->at.n];
			return;
		}
}

int sw_in_flight_find(struct sw_report *report, struct sw_error *error)
{
	struct sw_reader *reader;
	struct sw_record record;
	struct open_calls open = {0};
	if (sw_reader_totals(report->reader).closed)
		return 0;
	int rc = sw_reader_open(sw_reader_path(report->reader), &reader, error);
	if (rc)
		return rc;
	while ((rc = sw_reader_next(reader, &record, error)) > 0) {
		if (record.rec->kind == SW_REC_COLLECTIVE) {
			take_collective(&open, &record);
			continue;
		}
		/* Below 64 are descriptions.  Stacks are numbered by content in the order of the file: alike in both
		 * readers. */
		if (!sw_kind_is_operation(record.rec->kind) || !(record.rec->flags & SW_RF_PENDING))
			continue;
		*sw_vec_push(&report->in_flight) = (struct sw_in_flight){
			.thread = record.thread,
			.stack = record.stack,
			.api = record.rec->api,
			.flags = record.rec->flags,
			.seq = record.seq,
			.t_ns = record.t_ns,
		};
	}
	for (size_t i = 0; i < open.at.n; i++)
		*sw_vec_push(&report->in_flight) = open.at.at[i];
	free(open.at.at);
	sw_reader_close(reader);
	return rc;
}
