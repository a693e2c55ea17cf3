/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/fix_lines.h"

#include <string.h>

#include "report/symbols/source_text.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"
#include "report/words/expressions.h"

/* Adds a line of code to the advice, to be written before, after or instead of the frame's line. */
static void add_line(struct sw_fix_lines *out, enum sw_fix_where where, const struct sw_frame *frame, const char *code)
{
	if (out->n < SW_FIX_LINES)
		out->line[out->n++] = (struct sw_fix_line){where, frame, code, false};
}

/* Is the line of the source known? */
static bool has_place(const struct sw_frame *frame)
{
	return frame && frame->file && frame->line;
}

/* Why nothing can be written: the line of this call is not known. */
static const char *no_line(struct sw_names *names, const struct sw_access *access)
{
	return sw_names_format(names, "the line of %s is not known", sw_name_operation_brief(names, access));
}

/* A name for the event of a fix that the program does not use in the files of the two lines. */
static const char *event_name(struct sw_names *names, const struct sw_frame *first, const struct sw_frame *second)
{
	static const char *const free_names[] = {"event", "ordered", "work_done"};
	size_t i = 0, n = sizeof free_names / sizeof *free_names;
	while (i + 1 < n && (sw_source_has_word(names, first->file, free_names[i]) ||
			     sw_source_has_word(names, second->file, free_names[i])))
		i++;
	return free_names[i];
}

/* Are both frames in one function, so that its variables mean the same? */
static bool same_function(const struct sw_frame *a, const struct sw_frame *b)
{
	return a->function && b->function && strcmp(a->function, b->function) == 0;
}

/* ---- the language of the calls ----------------------------------------------------------------------------------- */

/* How the program calls CUDA where a line goes: C, or Python through ctypes or NVIDIA's bindings. */
struct tongue {
	bool python, bindings;
	const char *prefix; /* "cudart." */
	const char *api;    /* "cuda" or "cu" */
};

/* In which language, and by which binding, the code at this place calls CUDA. */
static struct tongue tongue_of(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place)
{
	struct tongue tongue = {.prefix = "", .api = sw_names_driver_api(names, access) ? "cu" : "cuda"};
	if (!sw_frame_is_python(place))
		return tongue;
	const char *name = sw_name_api(names, access->api, access->flags, access->stack);
	tongue.python = true;
	tongue.bindings = !sw_source_has_word(names, place->file, "ctypes");
	tongue.prefix = sw_source_prefix(names, place, name);
	return tongue;
}

/* The code of a call in the program's language. */
static const char *call_text(struct sw_names *names, const struct tongue *tongue, const char *function,
			     const char *arguments)
{
	return sw_names_format(names, "%s%s%s(%s)%s", tongue->prefix, tongue->api, function, arguments,
			       tongue->python ? "" : ";");
}

/* The line that creates an event without timing. */
static const char *create_text(struct sw_names *names, const struct tongue *tongue, const char *event)
{
	const bool driver = tongue->api[2] == 0;
	if (tongue->python && tongue->bindings)
		return sw_names_format(names, "err, %s = %s%s", event, tongue->prefix,
				       driver ? "cuEventCreate(2)" : "cudaEventCreateWithFlags(2)");
	if (tongue->python)
		return sw_names_format(names, "%s = ctypes.c_void_p(); %s%s(ctypes.byref(%s), 2)", event,
				       tongue->prefix, driver ? "cuEventCreate" : "cudaEventCreateWithFlags", event);
	return sw_names_format(names,
			       driver ? "CUevent %s; cuEventCreate(&%s, CU_EVENT_DISABLE_TIMING);"
				      : "cudaEvent_t %s; cudaEventCreateWithFlags(&%s, cudaEventDisableTiming);",
			       event, event);
}

/* The code that records an event on a stream. */
static const char *record_text(struct sw_names *names, const struct tongue *tongue, const char *event,
			       const char *stream)
{
	return call_text(names, tongue, "EventRecord", sw_names_format(names, "%s, %s", event, stream));
}

/* The code that makes a stream wait for an event. */
static const char *wait_text(struct sw_names *names, const struct tongue *tongue, const char *stream, const char *event)
{
	return call_text(names, tongue, "StreamWaitEvent", sw_names_format(names, "%s, %s, 0", stream, event));
}

/* ---- the sides of an edge ---------------------------------------------------------------------------------------- */

/* Two calls that must be ordered, their lines (first: the earlier call's), and their streams in the program's own words
   ("" unknown). */
struct sides {
	const struct sw_access *earlier, *later;
	const struct sw_frame *first, *second;
	const char *own_from, *own_to;
	const char *from, *to; /* what is not known has a name made up */
	struct tongue tongue;
};

/* Finds the lines of both sides and their words.  False, and `why` is set: they cannot be written. */
static bool find_sides(struct sw_names *names, const struct sw_access *earlier, const struct sw_access *later,
		       struct sides *out, struct sw_fix_lines *lines)
{
	*out = (struct sides){.earlier = earlier, .later = later};
	out->first = sw_place_of(names, earlier, later);
	out->second = sw_place_of(names, later, earlier);
	if (!has_place(out->first) || !has_place(out->second)) {
		lines->why = no_line(names, has_place(out->first) ? later : earlier);
		return false;
	}
	if (sw_frame_is_python(out->first) != sw_frame_is_python(out->second)) {
		lines->why = "one of the two calls is made from Python, the other is not";
		return false;
	}
	out->tongue = tongue_of(names, earlier, out->first);
	out->own_from = sw_stream_at(names, earlier, out->first);
	out->own_to = sw_stream_at(names, later, out->second);
	out->from = sw_stream_or_text(names, earlier, out->own_from, out->first);
	out->to = sw_stream_or_text(names, later, out->own_to, out->second);
	return true;
}

/* Adds "stream1 is the stream created at main.cu:12" where the program's own name for it is not known. */
static void name_stream(struct sw_names *names, struct sw_fix_lines *out, const struct sw_access *access,
			const char *used)
{
	if (access->stream == 0 || access->stream >= names->judgement->streams.n)
		return;
	const char *made_up = sw_names_format(names, "stream%u", names->judgement->streams.at[access->stream].number);
	const char *site = sw_name_stream_site(names, access->stream);
	const char *variable = sw_name_stream_variable(names, access->stream);
	if (strcmp(used, made_up) != 0 || !*site)
		return;
	out->streams =
		*variable ? sw_names_format(names, "%s%s%s is `%s`, created at %s", out->streams ? out->streams : "",
					    out->streams ? "; " : "", used, variable, site)
			  : sw_names_format(names, "%s%s%s is the stream created at %s",
					    out->streams ? out->streams : "", out->streams ? "; " : "", used, site);
}

/* ---- an event that is new ---------------------------------------------------------------------------------------- */

/* Adds lines that make the later call wait for the earlier one by a new event; on_host: the host waits. */
static void add_event(struct sw_names *names, struct sw_fix_lines *out, const struct sides *s, bool on_host)
{
	const char *event = event_name(names, s->first, s->second);
	/* A record in a loop replaces the one before, but a wait keeps what it saw. */
	const bool at_once = sw_is_indexed(s->from) && !on_host;
	add_line(out, SW_FIX_ONCE, NULL, create_text(names, &s->tongue, event));
	add_line(out, SW_FIX_AFTER, s->first, record_text(names, &s->tongue, event, s->from));
	add_line(out, at_once ? SW_FIX_AFTER : SW_FIX_BEFORE, at_once ? s->first : s->second,
		 on_host ? call_text(names, &s->tongue, "EventSynchronize", event)
			 : wait_text(names, &s->tongue, s->to, event));
	name_stream(names, out, s->earlier, s->from);
	if (!on_host)
		name_stream(names, out, s->later, s->to);
	if (!same_function(s->first, s->second))
		out->note = sw_names_format(names, "declare `%s` outside of both functions", event);
}

/* Do the words of both streams mean what they say in these lines?  Else `why` is set. */
static bool words_fit(struct sw_names *names, const struct sides *s, bool on_host, struct sw_fix_lines *out)
{
	if (*s->own_from && s->earlier->stream != s->later->stream && strcmp(s->own_from, s->own_to) == 0) {
		out->why =
			sw_names_format(names, "both calls say `%s`, which is another stream each time", s->own_from);
		return false;
	}
	if (sw_is_indexed(s->own_from) &&
	    (on_host || sw_is_indexed(s->own_to) || !same_function(s->first, s->second))) {
		out->why = sw_names_format(names, "`%s` is another stream in each round", s->own_from);
		return false;
	}
	return true;
}

/* Gives the advice "a new event", or why its lines cannot be written. */
static void new_event(struct sw_names *names, const struct sides *s, bool on_host, struct sw_fix_lines *out)
{
	if (!words_fit(names, s, on_host, out))
		return;
	add_event(names, out, s, on_host);
	if (on_host && !out->note)
		out->note =
			"where several buffers are used in turn, make one event for each: a record replaces the one "
			"before it";
}

/* ---- an event of the program ------------------------------------------------------------------------------------- */

/* The index in an expression, "[slot]" of "done[slot]"; NULL: it has none. */
static const char *index_of(const char *expression)
{
	return sw_is_indexed(expression) ? strchr(expression, '[') : NULL;
}

/* May the words of an event be written at another line?  In the same function; of a ring's slot, where the memory there
   is that of the same slot. */
static bool event_fits(struct sw_names *names, const char *event, const struct sw_frame *from,
		       const struct sw_frame *to, const struct sw_access *access)
{
	const char *index = index_of(event);
	if (!*event || !from || !to || !same_function(from, to))
		return false;
	return !index || strstr(sw_pointer_expression(names, access, to), index);
}

/* The reason why an event of the program cannot be named at another line. */
static const char *why_no_event(struct sw_names *names, const char *event, const struct sw_frame *from)
{
	if (!*event)
		return "the event's name is not known: its source is not here, or was changed after the run";
	if (index_of(event))
		return sw_names_format(
			names, "`%s` is the event of another slot in each round: name that of this buffer", event);
	return sw_names_format(names, "`%s` is a name of %s", event, from->base ? from->base : "another function");
}

/* Gives the advice to wait for an event that the program records already; record: the call that does. */
static void known_event(struct sw_names *names, const struct sw_named_call *record, const struct sides *s, bool on_host,
			struct sw_fix_lines *out)
{
	const struct sw_access call = sw_access_of_call(record, s->earlier->stream);
	const struct sw_frame *place = call.stack ? sw_place_of(names, &call, NULL) : NULL;
	const char *event = place ? sw_event_at(names, &call, place) : "";
	if (!event_fits(names, event, place, s->second, s->later)) {
		out->why = why_no_event(names, event, place);
		return;
	}
	add_line(out, SW_FIX_BEFORE, s->second,
		 on_host ? call_text(names, &s->tongue, "EventSynchronize", event)
			 : wait_text(names, &s->tongue, s->to, event));
	if (!on_host)
		name_stream(names, out, s->later, s->to);
}

/* Adds, before the later call's line, the line that makes its Python stream wait for the earlier call's: wait_stream(),
   in CuPy wait_event(), for a collective work.wait().  Nothing where that line cannot be placed. */
static void add_wait_stream(struct sw_names *names, struct sw_fix_lines *out, const struct sw_access *earlier,
			    const struct sw_access *later, const struct sw_frame *first, const struct sw_frame *second)
{
	/* A line of the forward pass is not where the backward pass makes its calls. */
	if (!second || !sw_frame_is_python(second) || second->role != SW_FRAME_PYTHON || !second->file ||
	    !second->line || sw_place_forward(names, later))
		return;
	/* Both calls in one execution of a line: what comes before it comes before both. */
	if (first && first->ip == second->ip)
		return;
	const struct sw_frame *collective = sw_place_collective(names, earlier);
	if (collective && first) {
		add_line(out, SW_FIX_BEFORE, second, "work.wait()");
		out->streams = sw_names_format(names, "work is what %s(..., async_op=True) returned at %s",
					       collective->function, sw_place_brief(names, first));
		return;
	}
	const char *to = sw_stream_text(names, later, second), *from = sw_stream_text(names, earlier, second);
	if (strcmp(to, from) == 0)
		return;
	const bool cupy = sw_call_of_cupy(names, earlier) && sw_call_of_cupy(names, later);
	add_line(out, SW_FIX_BEFORE, second,
		 sw_names_format(names, cupy ? "%s.wait_event(%s.record())" : "%s.wait_stream(%s)", to, from));
	name_stream(names, out, earlier, from);
	name_stream(names, out, later, to);
}

/* Gives the advice in the words of PyTorch or CuPy: one stream waits for the other. */
static void torch_lines(struct sw_names *names, enum sw_fix fix, const struct sw_access *earlier,
			const struct sw_access *later, struct sw_fix_lines *out)
{
	if (fix == SW_FIX_EVENT || fix == SW_FIX_STREAM_EVENT)
		add_wait_stream(names, out, earlier, later, sw_place_of(names, earlier, later),
				sw_place_of(names, later, earlier));
}

/* Does the event that the finding names lie between the two calls, so that it covers the edge? */
static bool event_covers(const struct sw_finding *finding, const struct sw_access *earlier,
			 const struct sw_access *later)
{
	return finding->fix_call.seq > earlier->seq && finding->fix_call.seq < later->seq;
}

void sw_fix_lines(struct sw_names *names, const struct sw_finding *finding, const struct sw_access *earlier,
		  const struct sw_access *later, struct sw_fix_lines *out)
{
	*out = (struct sw_fix_lines){0};
	const struct sw_access from_call = sw_place_launch(earlier), to_call = sw_place_launch(later);
	struct sides sides;
	earlier = &from_call;
	later = &to_call;
	/* Two nodes of one launch, or a launch that is not known: an event does not go between them. */
	if (earlier->node || later->node || earlier->seq == later->seq) {
		out->why = "both are in one launch of a graph: the order belongs where the graph is made";
		return;
	}
	if (sw_names_torch(names) || sw_call_of_cupy(names, later)) {
		torch_lines(names, finding->fix, earlier, later, out);
		return;
	}
	if (!find_sides(names, earlier, later, &sides, out))
		return;
	switch (finding->fix) {
	case SW_FIX_EVENT:
		new_event(names, &sides, false, out);
		break;
	case SW_FIX_HOST_OWN_EVENT:
		new_event(names, &sides, true, out);
		break;
	case SW_FIX_STREAM_EVENT:
	case SW_FIX_HOST_EVENT:
		if (event_covers(finding, earlier, later))
			known_event(names, &finding->fix_call, &sides, finding->fix == SW_FIX_HOST_EVENT, out);
		else
			new_event(names, &sides, finding->fix == SW_FIX_HOST_EVENT, out);
		break;
	case SW_FIX_HOST_SYNC:
		if (!words_fit(names, &sides, true, out))
			break;
		add_line(out, SW_FIX_BEFORE, sides.second,
			 call_text(names, &sides.tongue, "StreamSynchronize", sides.from));
		name_stream(names, out, earlier, sides.from);
		break;
	default:
		break;
	}
}

/* ---- events that failed to order --------------------------------------------------------------------------------- */

/* The calls of SW201, SW202 and SW203, by what was missed: `missed` is the work, `wait` NULL for SW203. */
struct failed {
	const struct sw_access *missed, *record, *wait;
	const struct sw_frame *work_place, *record_place, *wait_place;
};

/* Finds the lines of the missed work, the record and the wait of SW201 to SW203.  False: one is not known. */
static bool find_failed(struct sw_names *names, const struct sw_finding *finding, struct failed *out)
{
	const bool never = finding->id == SW_FINDING_WAIT_UNRECORDED;
	const bool replaced = finding->id == SW_FINDING_EVENT_OVERWRITTEN;
	if (finding->accesses < (never ? 2 : 3))
		return false;
	out->missed = never ? finding->access[1] : finding->third;
	out->record = never ? NULL : finding->access[replaced];
	out->wait = replaced ? NULL : finding->access[!never];
	out->work_place = sw_place_of(names, out->missed, out->record ? out->record : out->wait);
	out->record_place = out->record ? sw_place_of(names, out->record, out->missed) : NULL;
	out->wait_place = out->wait ? sw_place_of(names, out->wait, out->missed) : NULL;
	return has_place(out->work_place) && (!out->record || has_place(out->record_place)) &&
	       (!out->wait || has_place(out->wait_place));
}

/* The stream of the missed work, written so that it can stand where the call on the event is. */
static const char *stream_of_work(struct sw_names *names, const struct failed *f, struct sw_fix_lines *out)
{
	const char *own = sw_stream_at(names, f->missed, f->work_place);
	const char *stream = sw_stream_or_text(names, f->missed, sw_is_indexed(own) ? "" : own, f->work_place);
	name_stream(names, out, f->missed, stream);
	return stream;
}

/* Gives the advice to record the event at another place, after the work that it should cover. */
static void record_elsewhere(struct sw_names *names, const struct failed *f, enum sw_fix fix, struct sw_fix_lines *out)
{
	const struct sw_access *call = f->record ? f->record : f->wait;
	const struct sw_frame *place = f->record ? f->record_place : f->wait_place;
	const char *event = sw_event_at(names, call, place);
	const struct tongue tongue = tongue_of(names, call, place);
	const bool there = fix == SW_FIX_RECORD_STREAM || fix == SW_FIX_RECORD_BEFORE;
	if (!*event || (!there && !event_fits(names, event, place, f->work_place, f->missed))) {
		out->why = why_no_event(names, event, place);
		return;
	}
	const char *code = record_text(names, &tongue, event, stream_of_work(names, f, out));
	if (fix == SW_FIX_MOVE_RECORD)
		add_line(out, SW_FIX_WITHOUT, place, sw_names_format(names, "%s;", sw_call_at(names, call, place)));
	add_line(out,
		 fix == SW_FIX_RECORD_STREAM   ? SW_FIX_INSTEAD
		 : fix == SW_FIX_RECORD_BEFORE ? SW_FIX_BEFORE
					       : SW_FIX_AFTER,
		 there ? place : f->work_place, code);
}

/* Advises to wait for an event that was recorded in time, of the ring's slot that `later` (of the hazard) uses. */
static void wait_for_other(struct sw_names *names, const struct sw_finding *finding, const struct failed *f,
			   const struct sw_access *later, struct sw_fix_lines *out)
{
	const struct sw_access record = sw_access_of_call(&finding->fix_call, finding->fix_stream);
	const struct sw_frame *place = record.stack ? sw_place_of(names, &record, NULL) : NULL;
	const char *event = place ? sw_event_at(names, &record, place) : "";
	const struct tongue tongue = tongue_of(names, f->wait, f->wait_place);
	const char *api = sw_name_api(names, f->wait->api, f->wait->flags, f->wait->stack);
	/* The slot of a ring is that of the memory which the later side uses. */
	const struct sw_frame *use = later ? sw_place_of(names, later, NULL) : NULL;
	if (!event_fits(names, event, place, has_place(use) ? use : f->wait_place, has_place(use) ? later : f->wait) ||
	    !same_function(place, f->wait_place)) {
		out->why = why_no_event(names, event, place);
		return;
	}
	const char *stream =
		sw_stream_or_text(names, f->wait, sw_stream_at(names, f->wait, f->wait_place), f->wait_place);
	add_line(out, SW_FIX_INSTEAD, f->wait_place,
		 strstr(api, "StreamWait")
			 ? wait_text(names, &tongue, stream, event)
			 : call_text(names, &tongue, strstr(api, "Event") ? strstr(api, "Event") : api, event));
}

/* Gives the second record an event of its own, and makes who waited for the first wait for that, too. */
static void own_event(struct sw_names *names, const struct failed *f, const struct sw_access *later,
		      struct sw_fix_lines *out)
{
	const struct sw_frame *second = later ? sw_place_of(names, later, f->missed) : NULL;
	const char *from =
		sw_stream_or_text(names, f->record, sw_stream_at(names, f->record, f->record_place), f->record_place);
	const struct tongue tongue = tongue_of(names, f->record, f->record_place);
	if (!has_place(second)) {
		out->why = "the wait that needs both events is not known";
		return;
	}
	const char *to = sw_stream_or_text(names, later, sw_stream_at(names, later, second), second);
	const char *event = event_name(names, f->record_place, second);
	if (sw_is_indexed(from) || strcmp(f->record_place->file, second->file) != 0) {
		out->why =
			"each of the records needs an event of its own: which wait belongs to which is the program's "
			"choice";
		return;
	}
	add_line(out, SW_FIX_ONCE, NULL, create_text(names, &tongue, event));
	add_line(out, SW_FIX_INSTEAD, f->record_place, record_text(names, &tongue, event, from));
	add_line(out, SW_FIX_BEFORE, second, wait_text(names, &tongue, to, event));
	name_stream(names, out, later, to);
}

void sw_fix_event_lines(struct sw_names *names, const struct sw_finding *finding, const struct sw_access *later,
			struct sw_fix_lines *out)
{
	struct failed failed;
	*out = (struct sw_fix_lines){0};
	if (sw_names_torch(names))
		return;
	if (!find_failed(names, finding, &failed)) {
		out->why = "a line of the calls is not known";
		return;
	}
	switch (finding->fix) {
	case SW_FIX_MOVE_RECORD:
	case SW_FIX_RECORD_HERE:
	case SW_FIX_RECORD_BEFORE:
	case SW_FIX_RECORD_STREAM:
		record_elsewhere(names, &failed, finding->fix, out);
		break;
	case SW_FIX_WAIT_OTHER:
		wait_for_other(names, finding, &failed, later, out);
		break;
	case SW_FIX_OWN_EVENT:
		own_event(names, &failed, later, out);
		break;
	default:
		break;
	}
}

/* ---- captures ---------------------------------------------------------------------------------------------------- */

/* Adds the lines that order two calls of a capture by a new event, for which the later call's stream waits (not the
   host). */
static void edge_in_capture(struct sw_names *names, const struct sw_access *earlier, const struct sw_access *later,
			    struct sw_fix_lines *out)
{
	struct sides sides;
	const bool on_host = false;
	if (find_sides(names, earlier, later, &sides, out) && words_fit(names, &sides, on_host, out))
		add_event(names, out, &sides, on_host);
}

/* ---- frees ------------------------------------------------------------------------------------------------------- */

/* Lines for a free that comes too early: it moves after the last use, and waits for it unless it does anyway. */
static void free_later(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	const struct sw_access *free_call = finding->access[0], *use = finding->access[1];
	struct sides s;
	if (!find_sides(names, use, free_call, &s, out))
		return;
	const char *code = sw_call_at(names, free_call, s.second), *pointer = "";
	if (*code)
		pointer = sw_pointer_expression(names, free_call, s.second);
	if (!*pointer || !same_function(s.first, s.second)) {
		out->why = *pointer ? sw_names_format(names, "`%s` is a name of %s", pointer,
						      s.second->base ? s.second->base : "another function")
				    : "the call that frees is not written out at its line";
		return;
	}
	add_line(out, SW_FIX_WITHOUT, s.second, sw_names_format(names, "%s;", code));
	if (finding->fix == SW_FIX_FREE_LATER_ASYNC)
		code = call_text(names, &s.tongue, s.tongue.api[2] ? "FreeAsync" : "MemFreeAsync",
				 sw_names_format(names, "%s, %s", pointer, s.from));
	else
		code = sw_names_format(names, "%s %s;", call_text(names, &s.tongue, "StreamSynchronize", s.from), code);
	add_line(out, SW_FIX_AFTER, s.first, code);
	name_stream(names, out, use, s.from);
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

/* The words that mean the stream in the function of `here`, where the wait stands; "" unknown. */
static const char *stream_here(struct sw_names *names, uint32_t stream, const struct sw_named_call *work,
			       const struct sw_frame *here)
{
	const struct sw_frame *made = sw_name_stream_made(names, stream);
	const char *variable = sw_name_stream_variable(names, stream);
	if (stream < names->judgement->streams.n && names->judgement->streams.at[stream].kind == SW_LANE_LEGACY)
		return "0";
	if (*variable && made && same_function(made, here))
		return variable;
	if (!work || !work->stack)
		return "";
	const struct sw_access access = sw_access_of_call(work, stream);
	const struct sw_frame *place = sw_place_of(names, &access, NULL);
	const char *own = has_place(place) && same_function(place, here) ? sw_stream_at(names, &access, place) : "";
	return sw_is_indexed(own) ? "" : own;
}

/* Lines that wait for what is needed alone, in the place of a wait that covers more. */
static void narrow_wait(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	const struct sw_finding_details *more = sw_finding_details(finding);
	const struct sw_frame *here = sw_place_of(names, finding->access[0], NULL);
	const char *code = "";
	if (!has_place(here) || sw_frame_is_python(here)) {
		out->why = no_line(names, finding->access[0]);
		return;
	}
	const struct tongue tongue = tongue_of(names, finding->access[0], here);
	for (uint32_t i = 0; i < more->needs; i++) {
		const struct sw_need *need = &more->need[i];
		const char *from = stream_here(names, need->stream, &need->work, here), *one;
		const char *to = need->to ? stream_here(names, need->to, NULL, here) : "0";
		if (!*from || !*to) {
			out->n = 0;
			out->why = sw_names_format(names, "the program's name of %s is not known at %s",
						   sw_name_stream(names, *from ? need->to : need->stream),
						   sw_place_brief(names, here));
			return;
		}
		if (!need->to && need->whole) {
			one = call_text(names, &tongue, "StreamSynchronize", from);
		} else {
			const struct sw_access work = sw_access_of_call(&need->work, need->stream);
			const struct sw_frame *place = need->work.stack ? sw_place_of(names, &work, NULL) : NULL;
			if (out->n || !has_place(place)) {
				out->n = 0;
				out->why = "it takes several events: one for each stream that is needed";
				return;
			}
			const char *event = event_name(names, place, here);
			add_line(out, SW_FIX_ONCE, NULL, create_text(names, &tongue, event));
			add_line(out, SW_FIX_AFTER, place, record_text(names, &tongue, event, from));
			one = need->to ? wait_text(names, &tongue, to, event)
				       : call_text(names, &tongue, "EventSynchronize", event);
		}
		code = sw_names_format(names, "%s%s%s", code, *code ? " " : "", one);
	}
	if (*code)
		add_line(out, SW_FIX_INSTEAD, here, code);
	else
		out->why = "what later calls need of it is not known";
}

/* Gives the advice to remove the call: its line, which goes. */
static void remove_call(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	const struct sw_frame *place = sw_place_of(names, finding->access[0], NULL);
	const char *code = has_place(place) ? sw_call_at(names, finding->access[0], place) : "";
	if (*code)
		add_line(out, SW_FIX_WITHOUT, place,
			 sw_names_format(names, "%s%s", code, sw_frame_is_python(place) ? "" : ";"));
	else
		out->why = no_line(names, finding->access[0]);
}

/* For a cudaMemcpy that waits for work on a stream of the program: writes the same copy on that stream. */
static void copy_on_stream(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	struct sw_call_text call;
	const struct sw_access *copy = finding->access[0], *work = &sw_finding_details(finding)->waited_for;
	const struct sw_frame *place = sw_place_of(names, copy, NULL), *there = sw_place_of(names, work, NULL);
	const char *api = sw_name_api(names, copy->api, copy->flags, copy->stack);
	if (!work->seq) {
		out->why = "it waited for no work of a stream that is known: which stream the copy belongs on is the "
			   "program's choice";
		return;
	}
	if (!has_place(place) || sw_frame_is_python(place) || strcmp(api, "cudaMemcpy") != 0 ||
	    !sw_source_call(names, place, api, &call) || call.arguments != 4) {
		out->why = sw_names_format(names, "%s is not written out at its line", api);
		return;
	}
	const char *stream = has_place(there) ? sw_stream_at(names, work, there) : "";
	/* The stream's name is known to be good in the function where it stands. */
	if (!*stream || !there->base || !place->base || strcmp(there->base, place->base) != 0) {
		out->why = "the stream that it waited for has no name in this function";
		return;
	}
	add_line(out, SW_FIX_INSTEAD, place,
		 sw_names_format(names, "cudaMemcpyAsync(%s, %s, %s, %s, %s);", call.argument[0], call.argument[1],
				 call.argument[2], call.argument[3], stream));
	add_line(out, SW_FIX_LAST, NULL, sw_names_format(names, "cudaStreamSynchronize(%s);", stream));
	out->note = "the host memory must be pinned; this wait also ordered what follows it, so re-run syncwatch "
		    "afterwards";
}

/* Writes the line that registers (pins) the host side of a copy where it was allocated. */
static void pin_host_side(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	struct sw_call_text call;
	const struct sw_access *copy = finding->access[0];
	const struct sw_frame *place = sw_place_of(names, copy, NULL);
	const char *api = sw_name_api(names, copy->api, copy->flags, copy->stack);
	const bool known = has_place(place) && !sw_frame_is_python(place) && strstr(api, "cudaMemcpyAsync") &&
			   sw_source_call(names, place, api, &call) && call.arguments >= 4;
	const char *host = !known						     ? ""
			   : strcmp(call.argument[3], "cudaMemcpyHostToDevice") == 0 ? call.argument[1]
			   : strcmp(call.argument[3], "cudaMemcpyDeviceToHost") == 0 ? call.argument[0]
										     : "";
	if (!*host || strpbrk(host, "+[(")) {
		out->why = "where the host buffer is allocated is not recorded";
		return;
	}
	add_line(out, SW_FIX_ONCE, NULL,
		 sw_names_format(names, "cudaHostRegister(%s, %s, cudaHostRegisterDefault);", host, call.argument[2]));
	out->note = "after the buffer is allocated, with its whole size, and cudaHostUnregister before it is freed";
}

/* ---- by fix ------------------------------------------------------------------------------------------------------ */

/* Why no line can be given, whatever the program. */
static const struct {
	enum sw_fix fix;
	const char *why;
} reasons[] = {
	{SW_FIX_WORKSPACE, "whether to use two handles or two buffers is the program's choice"},
	{SW_FIX_FREE_TENSOR_LATER, "the tensor's name is not known"},
	{SW_FIX_FREE_ARRAY_LATER, "the array's name is not known"},
	{SW_FIX_NO_RECORD, "the tensor's name is not known"},
	{SW_FIX_HOST_FUNCTION, "there are two ways, and the program's order of work decides"},
	{SW_FIX_HOST_FLAG, "the flag is memory of the program: which of its writes it is, is not recorded"},
	{SW_FIX_HOST_ORDER, "what the threads share to agree on is the program's choice"},
	{SW_FIX_NONBLOCKING, "which stream the work belongs on is the program's choice"},
	{SW_FIX_REUSE, "where the program begins its work, and its largest size, are not recorded"},
	{SW_FIX_REUSE_ONLY, "where the program begins its work, and its largest size, are not recorded"},
	{SW_FIX_REUSE_PINNED, "where the program begins its work, and its largest size, are not recorded"},
	{SW_FIX_LATER, "where nothing is pending is the program's choice"},
	{SW_FIX_RECORD_FIRST, "which work the wait was meant for is not known"},
	{SW_FIX_RECORD_AFTER_LAUNCH, "the lines are those of its hazard, which record an event of their own"},
	{SW_FIX_RECORD_NODE, "it is a node of a graph: the order belongs where the graph is made"},
	{SW_FIX_RECORD_LATER, "the order of the calls must change, or both go"},
	{SW_FIX_PRELOAD, "where the program starts is not recorded"},
	{SW_FIX_OWN_BATCH, "the copies of the batch are split: which ones depend on each other is said above"},
	{SW_FIX_GRID_WAIT, "it is a line of the kernel, before the access that is named"},
	{SW_FIX_FEWER, "it takes other kernels, or a graph"},
	{SW_FIX_VALUE, "when the value is needed is not recorded"},
	{SW_FIX_BEFORE_THREADS, "where the threads start is not recorded"},
	{SW_FIX_SLEEP, "the loop around the query must go, and its event needs cudaEventBlockingSync"},
	{SW_FIX_JOIN_ALL, "the driver does not say which of the streams was not joined"},
	{SW_FIX_OUTSIDE_CAPTURE, "the call moves out of the capture: before it or after it"},
	{SW_FIX_ONE_CAPTURE, "which capture is one too many is the program's choice"},
	{SW_FIX_END_WHERE_BEGUN, "where the capture began is in another call"},
	{SW_FIX_RECORD_IN_CAPTURE, "there are two ways, and they differ in what is captured"},
	{SW_FIX_RECORD_OUTSIDE, "there are two ways, and they differ in what is captured"},
	{SW_FIX_MOVE_RECORD, "the calls on the event are in a finding of their own"},
	{SW_FIX_RECORD_BEFORE, "the calls on the event are in a finding of their own"},
	{SW_FIX_RECORD_HERE, "the calls on the event are in a finding of their own"},
	{SW_FIX_RECORD_STREAM, "the calls on the event are in a finding of their own"},
	{SW_FIX_WAIT_OTHER, "the calls on the event are in a finding of their own"},
	{SW_FIX_OWN_EVENT, "the calls on the event are in a finding of their own"},
	{SW_FIX_MORE_ROOM, "it is an option of the recording"},
};

void sw_fix_call(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	*out = (struct sw_fix_lines){0};
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].fix == finding->fix)
			out->why = reasons[i].why;
	if (sw_names_torch(names) || !finding->accesses)
		return;
	switch (finding->fix) {
	case SW_FIX_ASYNC:
		copy_on_stream(names, finding, out);
		break;
	case SW_FIX_PIN:
		pin_host_side(names, finding, out);
		break;
	case SW_FIX_NARROW:
		narrow_wait(names, finding, out);
		break;
	case SW_FIX_REMOVE:
	case SW_FIX_UNNEEDED:
		remove_call(names, finding, out);
		break;
	case SW_FIX_FREE_LATER:
	case SW_FIX_FREE_LATER_ASYNC:
		if (finding->accesses > 1)
			free_later(names, finding, out);
		break;
	case SW_FIX_JOIN:
		if (finding->accesses > 1)
			edge_in_capture(names, finding->access[1], finding->access[0], out);
		break;
	case SW_FIX_DEPEND:
	case SW_FIX_USE_NODE_LATER:
	case SW_FIX_FREE_NODE_LATER:
		sw_fix_node_lines(names, finding, out);
		break;
	case SW_FIX_EVENT_CAPTURED:
		if (finding->accesses > 1)
			edge_in_capture(names, finding->access[0], finding->access[1], out);
		break;
	default:
		break;
	}
}

/* ---- bodies without braces --------------------------------------------------------------------------------------- */

void sw_fix_mind_bodies(struct sw_names *names, const struct sw_frame *first, struct sw_fix_lines *lines)
{
	for (uint32_t i = 0; i < lines->n; i++) {
		struct sw_fix_line *line = &lines->line[i];
		bool movable = false;
		int head = 0;
		if (line->where != SW_FIX_INSTEAD && has_place(line->frame) && !sw_frame_is_python(line->frame))
			head = sw_source_bare_head(names, line->frame->file, line->frame->line, line->code, &movable);
		if (!head)
			continue;
		if (line->where == SW_FIX_BEFORE && movable && first && first->line < head &&
		    same_function(first, line->frame)) {
			struct sw_frame *moved = sw_arena_alloc(&names->arena, sizeof *moved);
			*moved = *line->frame;
			moved->line = head;
			line->frame = moved;
			i--; /* the loop may be the body of another */
			continue;
		}
		line->bare = true;
		const char *place = sw_place_brief(names, line->frame);
		const char *note = line->where == SW_FIX_WITHOUT
					   ? sw_names_format(names, "leave a `;` at %s, a body without braces", place)
					   : sw_names_format(names, "put braces around %s and the new line", place);
		lines->note = lines->note ? sw_names_format(names, "%s; %s", lines->note, note) : note;
	}
}
