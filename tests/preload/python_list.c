/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the Python frames of each event record of a trace, a line each: [event, cut, [[file, function, line], ...]].
 * With --launches those of each launch, its thread in place of the event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reader/reader.h"
#include "report/json/json_out.h"

static void print(uint64_t what, const struct sw_trace_stack *stack)
{
	printf("[%" PRIu64 ", %d, [", what, stack ? stack->python_cut : 0);
	for (uint32_t i = 0; stack && i < stack->python_depth; i++) {
		fputs(i ? ", [" : "[", stdout);
		sw_json_quote(stdout, stack->python[i].file);
		fputs(", ", stdout);
		sw_json_quote(stdout, stack->python[i].function);
		printf(", %u]", stack->python[i].line);
	}
	puts("]]");
}

int main(int argc, char **argv)
{
	struct sw_reader *reader;
	struct sw_record record;
	struct sw_error error;
	const bool launches = argc == 3 && strcmp(argv[1], "--launches") == 0;
	int rc = argc == 2 || launches ? sw_reader_open(argv[argc - 1], &reader, &error) : 1;
	if (rc)
		return 2;
	while ((rc = sw_reader_next(reader, &record, &error)) == 1) {
		const struct sw_rec_event_record *event = (const void *)record.rec;
		if (record.rec->kind != (launches ? SW_REC_LAUNCH : SW_REC_EVENT_RECORD) ||
		    (record.rec->flags & SW_RF_END))
			continue;
		print(launches ? record.thread : event->event, sw_reader_stack(reader, record.stack));
	}
	sw_reader_close(reader);
	return rc != 0;
}
