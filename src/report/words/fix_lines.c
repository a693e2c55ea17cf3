/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/fix_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/symbols/source_text.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"

static const struct {
	const char *key, *text;
} verdicts[] =
	{
#define SW_SAVING(name, key, text) [SW_SAVING_##name] = {key, text},
#include "report/words/saving.def"
},
  reasons[] = {
#define SW_SAVING_REASON(name, key, text) [SW_SAVING_BY_##name] = {key, text},
#include "report/words/saving.def"
};

const char *sw_saving_key(enum sw_saving_verdict verdict)
{
	return verdicts[verdict].key;
}

const char *sw_saving_reason_key(enum sw_saving_reason reason)
{
	return reasons[reason].key;
}

static const char *time_text(struct sw_names *names, int64_t ns)
{
	return ns < 0 ? sw_names_format(names, "-%s", sw_name_time(names, (uint64_t)-ns))
		      : sw_name_time(names, (uint64_t)ns);
}

static const char *results_text(struct sw_names *names, const struct sw_saving *s)
{
	return sw_names_format(names, "the same exit status%s%s", s->printed ? " and standard output" : "",
			       s->copies ? sw_names_format(names, ", and the same bytes in %" PRIu64 " %s to the host",
							   s->copies, s->copies == 1 ? "copy" : "copies")
					 : "");
}

/* Less than a twentieth of the saving is not printed. */
static const char *before_text(struct sw_names *names, const struct sw_saving *s)
{
	if (s->before_ns <= 0 || s->before_ns < (s->saved_ns < 0 ? -s->saved_ns : s->saved_ns) / 20)
		return "";
	return sw_names_format(names, ", and %s more before the first work", time_text(names, s->before_ns));
}

static const char *calls_text(struct sw_names *names, const struct sw_saving *s)
{
	if (!s->calls)
		return "";
	return sw_names_format(names, " (%" PRIu64 " %s in a run%s)", s->calls, s->calls == 1 ? "call" : "calls",
			       s->passed ? sw_names_format(names, ", %" PRIu64 " as they are", s->passed) : "");
}

/* The whole run differs by more than a change of a part of it: it comes second. */
static const char *whole_text(struct sw_names *names, const struct sw_saving *s)
{
	if (!s->parts)
		return "";
	const char *out =
		s->left_out
			? sw_names_format(names, "%" PRIu64 " of %" PRIu64 " parts, %s, left out: runs differ there; ",
					  s->left_out, s->parts, time_text(names, s->left_out_ns))
			: "";
	return sw_names_format(names, "%swhole run %s (%s to %s) of %s; ", out, time_text(names, s->whole_ns),
			       time_text(names, s->whole_low_ns), time_text(names, s->whole_high_ns),
			       sw_name_time(names, s->whole_base_ns));
}

static const char *once_text(struct sw_names *names, const struct sw_saving *s)
{
	if (s->once_ns <= 0 || s->once_ns < (s->saved_ns < 0 ? -s->saved_ns : s->saved_ns) / 20)
		return "";
	return sw_names_format(names, ", and %s once", time_text(names, s->once_ns));
}

const char *sw_saving_text(struct sw_names *names, const struct sw_saving *s)
{
	const char *key = verdicts[s->verdict].key, *text = verdicts[s->verdict].text;
	if (s->verdict == SW_SAVING_MEASURED)
		return sw_names_format(
			names, "measured: %s (%s to %s) of %s%s, from %u pairs of runs%s%s; %s%s%s; results: %s",
			time_text(names, s->saved_ns), time_text(names, s->low_ns), time_text(names, s->high_ns),
			sw_name_time(names, s->base_ns), s->parts ? " in which these calls lie" : "", s->pairs,
			before_text(names, s), once_text(names, s), whole_text(names, s), s->did, calls_text(names, s),
			results_text(names, s));
	if (s->reason)
		return sw_names_format(names, "%s: %s: %s", key, text, reasons[s->reason].text);
	return sw_names_format(names, "%s: %s", key, text);
}

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
};

/* Something that names a thing: no call, whose effect would come twice. */
static bool is_plain(const char *text)
{
	return *text && strlen(text) <= LONGEST && !strpbrk(text, "(){};\"'=\\") && !strstr(text, "++") &&
	       !strstr(text, "--");
}

/* The call as the source has it; the row of its function, or -1 for launches and what is not in the table. */
static bool call_at(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place,
		    struct sw_call_text *call, int *row)
{
	*row = -1;
	bool launch = access->kind == SW_REC_LAUNCH && access->function && !sw_names_driver_api(names, access);
	if (launch && sw_source_call(names, place, sw_name_kernel(names, access->function, false), call) &&
	    call->launch_arguments)
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

static const char *stream_expression(struct sw_names *names, const struct sw_access *access,
				     const struct sw_frame *place)
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

/* "upload" from the source; else what is known of it. */
static const char *stream_of(struct sw_names *names, const struct sw_access *access, const char *expression)
{
	const char *text = sw_stream_text(names, access, NULL);
	return *expression && strcmp(text, "0") != 0 ? expression : text;
}

static const char *own_expression(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_frame *place = sw_place_of(names, access, NULL);
	return place ? stream_expression(names, access, place) : "";
}

const char *sw_stream_expression(struct sw_names *names, const struct sw_access *access, const struct sw_access *other)
{
	if (sw_names_torch(names) || sw_call_of_cupy(names, access))
		return sw_stream_text(names, access, sw_place_of(names, access, NULL));
	const char *own = own_expression(names, access);
	/* stream[i] of two iterations: the same word for two streams would wait for nothing. */
	if (*own && other && other->stream != access->stream && strcmp(own, own_expression(names, other)) == 0)
		own = "";
	return stream_of(names, access, own);
}

/* Can a line of C stand there? */
static bool has_line(const struct sw_frame *frame)
{
	return frame && frame->file && frame->line && !sw_frame_is_python(frame);
}

/* streams[i]: another stream each time, and unknown elsewhere. */
static bool is_indexed(const char *expression)
{
	const char *bracket = strchr(expression, '[');
	return bracket && !isdigit((unsigned char)bracket[1]);
}

/* "copies" of cudaStreamCreate(&copies); of an array's element the index is not known elsewhere. */
static const char *created_as(struct sw_names *names, const struct sw_frame *made)
{
	static const char *const creators[] = {"cudaStreamCreateWithFlags", "cudaStreamCreate",
					       "cudaStreamCreateWithPriority", "cuStreamCreate",
					       "cuStreamCreateWithPriority"};
	struct sw_call_text call;
	for (size_t i = 0; i < sizeof creators / sizeof *creators; i++)
		if (sw_source_call(names, made, creators[i], &call) && call.arguments && call.argument[0][0] == '&' &&
		    is_plain(call.argument[0] + 1) && !is_indexed(call.argument[0]))
			return call.argument[0] + 1;
	return "";
}

const char *sw_stream_made_as(struct sw_names *names, uint32_t stream, const struct sw_named_call *use)
{
	const struct sw_frame *made = sw_name_stream_made(names, stream);
	const char *name = sw_name_stream(names, stream), *site = sw_name_stream_site(names, stream);
	const char *variable = made && has_line(made) ? created_as(names, made) : "";
	if (!*variable && use && use->stack) {
		const struct sw_access access = {
			.role = SW_CALL, .api = use->api, .flags = use->flags, .stack = use->stack, .stream = stream};
		variable = own_expression(names, &access);
	}
	if (is_indexed(variable) || sw_names_torch(names))
		variable = "";
	const char *quoted = *variable ? sw_names_format(names, "`%s`", variable) : "";
	const char *created = *site ? sw_names_format(names, "created at %s", site) : "";
	if (!*quoted && !*created)
		return name;
	return sw_names_format(names, "%s (%s%s%s)", name, quoted, *quoted && *created ? ", " : "", created);
}

static void add_line(struct sw_fix_lines *out, enum sw_fix_where where, const struct sw_frame *frame, const char *code)
{
	out->line[out->n++] = (struct sw_fix_line){where, frame, code};
}

/* One that the program does not use there. */
static const char *event_name(struct sw_names *names, const struct sw_frame *first, const struct sw_frame *second)
{
	static const char *const free_names[] = {"event", "ordered", "work_done"};
	size_t i = 0, n = sizeof free_names / sizeof *free_names;
	while (i + 1 < n && (sw_source_has_word(names, first->file, free_names[i]) ||
			     sw_source_has_word(names, second->file, free_names[i])))
		i++;
	return free_names[i];
}

static bool same_function(const struct sw_frame *a, const struct sw_frame *b)
{
	return a->function && b->function && strcmp(a->function, b->function) == 0;
}

static void add_event(struct sw_names *names, struct sw_fix_lines *out, const char *api, const struct sw_frame *first,
		      const struct sw_frame *second, const char *from, const char *to)
{
	const char *event = event_name(names, first, second);
	/* A record in a loop replaces the one before, but a wait keeps what it saw. */
	bool at_once = is_indexed(from);
	add_line(out, SW_FIX_ONCE, NULL,
		 sw_names_format(names,
				 *(api + 2) ? "cudaEvent_t %s; cudaEventCreateWithFlags(&%s, cudaEventDisableTiming);"
					    : "CUevent %s; cuEventCreate(&%s, CU_EVENT_DISABLE_TIMING);",
				 event, event));
	add_line(out, SW_FIX_AFTER, first, sw_names_format(names, "%sEventRecord(%s, %s);", api, event, from));
	add_line(out, at_once ? SW_FIX_AFTER : SW_FIX_BEFORE, at_once ? first : second,
		 sw_names_format(names, "%sStreamWaitEvent(%s, %s, 0);", api, to, event));
}

/* "stream1 is the stream created at main.cu:12", where the program's own name for it is not known. */
static void name_stream(struct sw_names *names, struct sw_fix_lines *out, const struct sw_access *access,
			const char *used)
{
	if (access->stream == 0 || access->stream >= names->judgement->streams.n)
		return;
	const char *made_up = sw_names_format(names, "stream%u", names->judgement->streams.at[access->stream].number);
	const char *site = sw_name_stream_site(names, access->stream);
	if (strcmp(used, made_up) == 0 && *site)
		out->streams = sw_names_format(names, "%s%s%s is the stream created at %s",
					       out->streams ? out->streams : "", out->streams ? "; " : "", used, site);
}

/* PyTorch: wait_stream() orders all that was submitted to the other stream so far; CuPy: an event recorded now does. */
static void add_wait_stream(struct sw_names *names, struct sw_fix_lines *out, const struct sw_access *after,
			    const struct sw_access *before, const struct sw_frame *first, const struct sw_frame *second)
{
	/* A line of the forward pass is not where the backward pass makes its calls. */
	if (!second || !sw_frame_is_python(second) || second->role != SW_FRAME_PYTHON || !second->file ||
	    !second->line || sw_place_forward(names, before))
		return;
	/* Both calls in one execution of a line: what comes before it comes before both. */
	if (first && first->ip == second->ip)
		return;
	const struct sw_frame *collective = sw_place_collective(names, after);
	if (collective && first) {
		add_line(out, SW_FIX_BEFORE, second, "work.wait()");
		out->streams = sw_names_format(names, "work is what %s(..., async_op=True) returned at %s",
					       collective->function, sw_place_brief(names, first));
		return;
	}
	const char *to = sw_stream_text(names, before, second), *from = sw_stream_text(names, after, second);
	if (strcmp(to, from) == 0)
		return;
	const bool cupy = sw_call_of_cupy(names, after) && sw_call_of_cupy(names, before);
	add_line(out, SW_FIX_BEFORE, second,
		 sw_names_format(names, cupy ? "%s.wait_event(%s.record())" : "%s.wait_stream(%s)", to, from));
	name_stream(names, out, after, from);
	name_stream(names, out, before, to);
}

void sw_fix_lines(struct sw_names *names, enum sw_fix fix, const struct sw_access *after,
		  const struct sw_access *before, struct sw_fix_lines *out)
{
	*out = (struct sw_fix_lines){0};
	const struct sw_access from_call = sw_place_launch(after), to_call = sw_place_launch(before);
	after = &from_call;
	before = &to_call;
	const struct sw_frame *first = sw_place_of(names, after, before), *second = sw_place_of(names, before, after);
	/* Two nodes of one launch, or a launch that is not known: an event does not go between them. */
	if (after->node || before->node || after->seq == before->seq)
		return;
	if (sw_names_torch(names) || sw_call_of_cupy(names, before)) {
		if (fix == SW_FIX_EVENT)
			add_wait_stream(names, out, after, before, first, second);
		return;
	}
	if (!has_line(first) || !has_line(second))
		return;
	const char *api = sw_names_driver_api(names, after) ? "cu" : "cuda";
	const char *a = stream_expression(names, after, first), *b = stream_expression(names, before, second);
	const char *from = stream_of(names, after, a), *to = stream_of(names, before, b);
	/* One word for two streams orders nothing. */
	if (*a && after->stream != before->stream && strcmp(a, b) == 0)
		return;
	if (is_indexed(a) && (fix == SW_FIX_HOST_SYNC || is_indexed(b) || !same_function(first, second)))
		return;
	if (fix != SW_FIX_EVENT && fix != SW_FIX_HOST_SYNC)
		return;
	name_stream(names, out, after, from);
	if (fix == SW_FIX_EVENT) {
		add_event(names, out, api, first, second, from, to);
		name_stream(names, out, before, to);
	} else {
		add_line(out, SW_FIX_BEFORE, second, sw_names_format(names, "%sStreamSynchronize(%s);", api, from));
	}
}

/* cudaMemcpy that waits for work on a stream of the program: the same copy on that stream. */
void sw_fix_call(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	*out = (struct sw_fix_lines){0};
	struct sw_call_text call, waited;
	int row;
	if (finding->fix != SW_FIX_ASYNC || !finding->accesses || !sw_finding_details(finding)->waited_for.seq ||
	    sw_names_torch(names))
		return;
	const struct sw_access *copy = finding->access[0], *work = &sw_finding_details(finding)->waited_for;
	const struct sw_frame *place = sw_place_of(names, copy, NULL), *there = sw_place_of(names, work, NULL);
	const char *api = sw_name_api(names, copy->api, copy->flags, copy->stack);
	if (!has_line(place) || strcmp(api, "cudaMemcpy") != 0 || !call_at(names, copy, place, &call, &row) ||
	    call.arguments != 4)
		return;
	const char *stream = call_at(names, work, there, &waited, &row) ? stream_expression(names, work, there) : "";
	/* The stream's name is known to be good in the function where it stands. */
	if (!*stream || !there || !there->base || !place->base || strcmp(there->base, place->base) != 0)
		return;
	add_line(out, SW_FIX_INSTEAD, place,
		 sw_names_format(names, "cudaMemcpyAsync(%s, %s, %s, %s, %s);", call.argument[0], call.argument[1],
				 call.argument[2], call.argument[3], stream));
	add_line(out, SW_FIX_LAST, NULL, sw_names_format(names, "cudaStreamSynchronize(%s);", stream));
}
