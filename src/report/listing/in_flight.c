/* SPDX-License-Identifier: Apache-2.0 */
#include "report/listing/in_flight.h"

#include "reader/kinds.h"

int sw_in_flight_find(struct sw_report *report, struct sw_error *error)
{
	struct sw_reader *reader;
	struct sw_record record;
	if (sw_reader_totals(report->reader).closed)
		return 0;
	int rc = sw_reader_open(sw_reader_path(report->reader), &reader, error);
	if (rc)
		return rc;
	while ((rc = sw_reader_next(reader, &record, error)) > 0) {
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
	sw_reader_close(reader);
	return rc;
}
