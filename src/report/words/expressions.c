/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/expressions.h"

#include <ctype.h>
#include <string.h>

#include "report/symbols/source_text.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"

#define LONGEST 48 /* letters of an expression that is quoted */

/* Arguments of the runtime's functions, from 0: how many there are, and which of them is the stream, what is written
   and what is read; -1 none. */
static const struct {
	const char *name;
	uint32_t arguments;
	int stream, written, read;
} functions[] = {
	{"cudaMemcpyAsync", 5, 4, 0, 1},
	{"cudaMemcpy", 4, -1, 0, 1},
	{"cudaMemcpy2DAsync", 8, 7, 0, 2},
	{"cudaMemcpy2D", 7, -1, 0, 2},
	{"cudaMemcpyPeerAsync", 6, 5, 0, 2},
	{"cudaMemsetAsync", 4, 3, 0, -1},
	{"cudaMemset", 3, -1, 0, -1},
	{"cudaMallocAsync", 3, 2, -1, -1},
	{"cudaFreeAsync", 2, 1, 0, 0},
	{"cudaFree", 1, -1, 0, 0},
	{"cudaFreeHost", 1, -1, 0, 0},
	{"cudaGraphLaunch", 2, 1, -1, -1},
	{"cudaMemPrefetchAsync", 4, 3, 0, 0},
	{"cudaLaunchHostFunc", 3, 0, -1, -1},
	{"cudaMemset2DAsync", 6, 5, 0, -1},
	{"cudaMemset3DAsync", 4, 3, -1, -1},
	{"cudaMemcpy3DAsync", 2, 1, -1, -1},
	{"cudaMemcpyToSymbolAsync", 6, 5, 0, 1},
	{"cudaMemcpyFromSymbolAsync", 6, 5, 0, 1},
	{"cudaMallocFromPoolAsync", 4, 3, -1, -1},
	{"cuMemcpyHtoDAsync", 4, 3, 0, 1},
	{"cuMemcpyDtoHAsync", 4, 3, 0, 1},
	{"cuMemcpyDtoDAsync", 4, 3, 0, 1},
	{"cuMemcpyAsync", 4, 3, 0, 1},
	{"cuMemcpyHtoD", 3, -1, 0, 1},
	{"cuMemcpyDtoH", 3, -1, 0, 1},
	{"cuMemsetD8Async", 4, 3, 0, -1},
	{"cuMemsetD32Async", 4, 3, 0, -1},
	{"cudaLaunchKernel", 6, 5, -1, -1},
	{"cudaLaunchCooperativeKernel", 6, 5, -1, -1},
	{"cuLaunchKernel", 11, 8, -1, -1},
	{"cuLaunchCooperativeKernel", 10, 8, -1, -1},
	{"cuGraphLaunch", 2, 1, -1, -1},
	{"cuMemAllocAsync", 3, 2, -1, -1},
	{"cuMemFreeAsync", 2, 1, 0, 0},
	{"cuMemFree", 1, -1, 0, 0},
	{"cudaStreamBeginCapture", 2, 0, -1, -1},
	{"cudaStreamEndCapture", 2, 0, -1, -1},
	{"cuStreamBeginCapture", 2, 0, -1, -1},
	{"cuStreamEndCapture", 2, 0, -1, -1},
	{"cudaEventRecord", 2, 1, -1, -1},
	{"cudaStreamWaitEvent", 3, 0, -1, -1},
	{"cuEventRecord", 2, 1, -1, -1},
	{"cuStreamWaitEvent", 3, 0, -1, -1},
};

/* May the expression be repeated in another line: does it name a thing, and make no call, whose effect would come
   twice? */
static bool is_plain(const char *text)
{
	return *text && strlen(text) <= LONGEST && !strpbrk(text, "(){};\"'=\\") && !strstr(text, "++") &&
	       !strstr(text, "--");
}

/* Finds the call as the source has it; *row: of its function, or -1 for launches and what is not in the table.  False:
   it is not there. */
static bool call_at(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place,
		    struct sw_call_text *call, int *row)
{
	*row = -1;
	bool launch = access->kind == SW_REC_LAUNCH && access->function && !sw_names_driver_api(names, access);
	if (launch && sw_source_call(names, place, sw_name_kernel(names, access->function, false), call) &&
	    call->launch_arguments)
		return call->launch_arguments >= 2;
	/* By a pointer, or a name of the function that launches. */
	if (launch && sw_source_launch(names, place, call))
		return call->launch_arguments >= 2;
	/* A kernel may be launched by a call, too. */
	const char *name = sw_name_api(names, access->api, access->flags, access->stack);
	if (!sw_source_call(names, place, name, call))
		return false;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, name) == 0)
			*row = (int)i;
	/* The stream may be left out: it is the last argument, with a default. */
	return *row >= 0 && (call->arguments == functions[*row].arguments ||
			     (call->arguments + 1 == functions[*row].arguments && functions[*row].stream >= 0));
}

const char *sw_stream_at(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place)
{
	struct sw_call_text call;
	const char *text = "";
	int row;
	if (!call_at(names, access, place, &call, &row))
		return "";
	if (row < 0 && call.launch_arguments == 4)
		text = call.launch[3];
	else if (row >= 0 && functions[row].stream >= 0 && call.arguments == functions[row].arguments)
		text = call.argument[functions[row].stream];
	return is_plain(text) ? text : "";
}

const char *sw_pointer_expression(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place)
{
	struct sw_call_text call;
	const char *text = "";
	int row;
	if (!call_at(names, access, place, &call, &row))
		return "";
	const struct sw_trace_function *info =
		access->function ? sw_reader_function(names->reader, access->function) : NULL;
	const struct sw_evidence_detail *detail = access->evidence_detail;
	bool parameter = !detail || detail->via == SW_VIA_PARAMETER;
	if (row < 0 && info && parameter && info->params == call.arguments && access->param >= 0 &&
	    (uint32_t)access->param < call.arguments)
		text = call.argument[access->param];
	else if (row >= 0) {
		int index = access->role == SW_READ ? functions[row].read : functions[row].written;
		text = index >= 0 ? call.argument[index] : "";
	}
	return is_plain(text) ? text : "";
}

/* The variable that the stream's creation filled, if `place` is in the same function; else "". */
static const char *variable_at(struct sw_names *names, uint32_t stream, const struct sw_frame *place)
{
	const struct sw_frame *made = place ? sw_name_stream_made(names, stream) : NULL;
	return made && made->function && place->function && strcmp(made->function, place->function) == 0
		       ? sw_name_stream_variable(names, stream)
		       : "";
}

const char *sw_stream_or_text(struct sw_names *names, const struct sw_access *access, const char *expression,
			      const struct sw_frame *place)
{
	const char *text = sw_stream_text(names, access, NULL);
	if (strcmp(text, "0") == 0)
		return text;
	const char *variable = *expression ? expression : variable_at(names, access->stream, place);
	return *variable ? variable : text;
}

/* The stream of the access as its own line names it; "" unknown. */
static const char *own_expression(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_frame *place = sw_place_of(names, access, NULL);
	return place ? sw_stream_at(names, access, place) : "";
}

const char *sw_stream_expression(struct sw_names *names, const struct sw_access *access, const struct sw_access *other)
{
	if (sw_names_torch(names) || sw_call_of_cupy(names, access))
		return sw_stream_text(names, access, sw_place_of(names, access, NULL));
	const char *own = own_expression(names, access);
	/* stream[i] of two iterations: the same word for two streams would wait for nothing. */
	if (*own && other && other->stream != access->stream && strcmp(own, own_expression(names, other)) == 0)
		own = "";
	return sw_stream_or_text(names, access, own, sw_place_of(names, access, NULL));
}

bool sw_is_indexed(const char *expression)
{
	const char *bracket = strchr(expression, '[');
	return bracket && !isdigit((unsigned char)bracket[1]);
}

struct sw_access sw_access_of_call(const struct sw_named_call *call, uint32_t stream)
{
	return (struct sw_access){.role = SW_CALL,
				  .seq = call->seq,
				  .api = call->api,
				  .flags = call->flags,
				  .stack = call->stack,
				  .stream = stream,
				  .param = -1};
}

/* Arguments of the functions of events, from 0: the event, and the stream. */
static const struct {
	const char *name;
	uint32_t event;
	int stream;
} event_functions[] = {
	{"cudaEventRecord", 0, 1},	  {"cudaEventRecordWithFlags", 0, 1}, {"cudaStreamWaitEvent", 1, 0},
	{"cudaEventSynchronize", 0, -1},  {"cudaEventQuery", 0, -1},	      {"cuEventRecord", 0, 1},
	{"cuEventRecordWithFlags", 0, 1}, {"cuStreamWaitEvent", 1, 0},	      {"cuEventSynchronize", 0, -1},
	{"cuEventQuery", 0, -1},
};

const char *sw_event_at(struct sw_names *names, const struct sw_access *call, const struct sw_frame *place)
{
	const char *name = sw_name_api(names, call->api, call->flags, call->stack);
	struct sw_call_text text;
	for (size_t i = 0; i < sizeof event_functions / sizeof *event_functions; i++)
		if (strcmp(event_functions[i].name, name) == 0 && sw_source_call(names, place, name, &text) &&
		    text.arguments > event_functions[i].event && is_plain(text.argument[event_functions[i].event]))
			return text.argument[event_functions[i].event];
	return "";
}

const char *sw_call_at(struct sw_names *names, const struct sw_access *call, const struct sw_frame *place)
{
	const char *name = sw_name_api(names, call->api, call->flags, call->stack);
	struct sw_call_text text;
	if (!sw_source_call(names, place, name, &text))
		return "";
	const char *code = sw_names_format(names, "%s(", name);
	for (uint32_t i = 0; i < text.arguments; i++)
		code = sw_names_format(names, "%s%s%s", code, i ? ", " : "", text.argument[i]);
	return sw_names_format(names, "%s)", code);
}

const char *sw_stream_made_as(struct sw_names *names, uint32_t stream, const struct sw_named_call *use)
{
	const char *name = sw_name_stream(names, stream), *site = sw_name_stream_site(names, stream);
	const char *variable = "";
	if (!*sw_name_stream_variable(names, stream) && use && use->stack) {
		const struct sw_access access = sw_access_of_call(use, stream);
		variable = own_expression(names, &access);
	}
	if (sw_is_indexed(variable) || sw_names_torch(names))
		variable = "";
	const char *quoted = *variable ? sw_names_format(names, "`%s`", variable) : "";
	const char *created = *site ? sw_names_format(names, "created at %s", site) : "";
	if (!*quoted && !*created)
		return name;
	return sw_names_format(names, "%s (%s%s%s)", name, quoted, *quoted && *created ? ", " : "", created);
}
