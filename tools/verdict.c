/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict.h"

#include "report/report.h"

/* Notes that a step of the command ended with this status. */
void sw_verdict_step(struct sw_verdict *verdict, int status)
{
	switch (status) {
	case SW_EXIT_OK:
		break;
	case SW_EXIT_INPUT:
		verdict->unusable = true;
		break;
	case SW_EXIT_OUTPUT:
		verdict->unwritten = true;
		break;
	default:
		verdict->failed = verdict->failed ? verdict->failed : status;
		break;
	}
}

/* Notes what a report found, and whether it is complete. */
void sw_verdict_take(struct sw_verdict *verdict, const struct sw_report *report)
{
	const struct sw_trace_totals totals = sw_reader_totals(report->reader);
	verdict->incomplete |= report->gaps.n;
	verdict->unusable |= totals.damaged || !sw_reader_process(report->reader);
	verdict->calls_seen |= report->judgement->coverage.driver_calls;
}

/* The status with --error-exitcode: errors, then the program's own, then whether all was judged. */
static int with_error_exitcode(const struct sw_verdict *verdict)
{
	if (verdict->errors)
		return verdict->options->error_exitcode;
	if (verdict->program_status && *verdict->program_status)
		return *verdict->program_status;
	if (verdict->incomplete || verdict->unusable || verdict->unwritten)
		return SW_EXIT_UNPROVEN;
	return verdict->calls_seen ? SW_EXIT_OK : SW_EXIT_NOTHING;
}

/* The exit status of the command. */
int sw_verdict_status(const struct sw_verdict *verdict)
{
	if (verdict->failed)
		return verdict->failed;
	if (verdict->options->error_exitcode)
		return with_error_exitcode(verdict);
	const int program_status = verdict->program_status ? *verdict->program_status : SW_EXIT_OK;
	if (verdict->passes_on)
		return program_status;
	return verdict->unusable ? SW_EXIT_INPUT : verdict->unwritten ? SW_EXIT_OUTPUT : program_status;
}

/* The exit status where the program was not run at all. */
int sw_verdict_refusal(const struct sw_options *options, int status)
{
	const bool unproven = options->error_exitcode && (status == SW_EXIT_INPUT || status == SW_EXIT_OUTPUT);
	return unproven ? SW_EXIT_UNPROVEN : status;
}
