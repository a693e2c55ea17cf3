/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/wording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"
#include "report/words/expressions.h"
#include "report/words/fix_lines.h"

/* Less than this is reported as nothing: clocks are read to some microseconds. */
#define NOTHING_NS 5000u

/* Restricts the recoverable time where much of it is recoverable only if the host does not use what it waited for. */
static const char *if_not_needed(const struct sw_cost *cost)
{
	return cost->recoverable_high_ns - cost->recoverable_sure_ns > cost->recoverable_high_ns / 100
		       ? " if the host does not need the result right after the wait, which is not recorded"
		       : "";
}

/* The gain without the wait, by a replay: "; 1.2 ms to 1.5 ms of recoverable time", "" unknown.  Lives as long as the
   names. */
static const char *replay_gain(struct sw_names *names, const struct sw_cost *cost)
{
	const char *unsure = cost->reliable ? "" : ", but the replay of this run is inaccurate";
	if (!cost->replayed)
		return "";
	if (cost->vague)
		return sw_names_format(names,
				       "; recoverable: at most %s; how much depends on unknown times of work (needs "
				       "--gpu-timeline)%s",
				       sw_name_time(names, cost->recoverable_high_ns), unsure);
	if (cost->nothing || cost->recoverable_high_ns < NOTHING_NS)
		return sw_names_format(names, "; recoverable: nothing%s", unsure);
	if (cost->recoverable_low_ns < NOTHING_NS)
		return sw_names_format(names, "; recoverable: up to %s%s%s",
				       sw_name_time(names, cost->recoverable_high_ns), if_not_needed(cost), unsure);
	/* Both ends alike when they differ by less than a hundredth. */
	if (cost->recoverable_high_ns - cost->recoverable_low_ns <= cost->recoverable_high_ns / 100)
		return sw_names_format(names, "; recoverable: %s%s", sw_name_time(names, cost->recoverable_high_ns),
				       unsure);
	return sw_names_format(names, "; recoverable: %s to %s%s%s", sw_name_time(names, cost->recoverable_low_ns),
			       sw_name_time(names, cost->recoverable_high_ns), if_not_needed(cost), unsure);
}

const char *sw_replay_assumption(const struct sw_cost *cost, size_t index)
{
	static const char *const always[] = {
		"the host spends the same time between calls as before",
		("low: the host needs what it may need of the wait; high: nothing needs it before that thread's next "
		 "wait"),
		"low: kernels that may not fit on the device together run one after the other; high: all overlap",
		"copies in one direction are serialised; every operation takes as long as before",
	};
	size_t n = sizeof always / sizeof *always;
	if (index < n)
		return always[index];
	if (index == n && !cost->timed)
		return "durations of work are bounded by the waits that saw it complete";
	if (index == n + !cost->timed && !cost->reliable)
		return "a replay without any change differs from the run by more than 5 %";
	return NULL;
}

const char *sw_replay_stretch(enum sw_stretch_kind kind, enum sw_work_kind work)
{
	static const char *const kinds[SW_STRETCHES] = {
		[SW_STRETCH_HOST] = "host", [SW_STRETCH_CALL] = "call", [SW_STRETCH_LATENCY] = "latency"};
	static const char *const works[] = {[SW_DOES_KERNEL] = "kernel",
					    [SW_DOES_UPLOAD] = "copy to device",
					    [SW_DOES_DOWNLOAD] = "copy to host",
					    [SW_DOES_MOVE] = "copy on device",
					    [SW_DOES_SET] = "set",
					    [SW_DOES_GRAPH] = "graph",
					    [SW_DOES_HOST] = "host function",
					    [SW_DOES_OTHER] = "other work"};
	return kind == SW_STRETCH_WORK ? works[work] : kinds[kind];
}

const char *sw_replay_basis(struct sw_names *names, const struct sw_schedule_facts *facts)
{
	if (!facts->operations)
		return NULL;
	const char *times =
		facts->timed == facts->operations ? "times of the device" : "times of work estimated from waits";
	if (facts->timed && facts->timed < facts->operations)
		times = sw_names_format(names, "times of the device for %" PRIu64 " of them", facts->timed);
	/* A replay of estimated times repeats the run by construction: that says nothing of them. */
	const char *error = facts->timed == facts->operations
				    ? sw_names_format(names, "residual %u.%u %%", facts->residual_permille / 10,
						      facts->residual_permille % 10)
				    : "intervals over all that the waits allow";
	const char *text = sw_names_format(names, "replay of %" PRIu64 " %s, %s, %s", facts->operations,
					   sw_plural(facts->operations, "operation", "operations"), times, error);
	if (facts->kept_ns < facts->run_ns / 100 * 99 && facts->windows > 1)
		text = sw_names_format(names, "%s, of %" PRIu64 " %% of the run", text,
				       facts->kept_ns * 100 / facts->run_ns);
	return text;
}

const char *sw_name_library(enum sw_cuda_library library)
{
	static const char *const words[] = {
		[SW_CUDA_NONE] = "a library",
#define SW_LIBRARY_NAME(library, start, name) [SW_CUDA_##library] = (name),
#include "detect/libraries/library_arguments.def"
	};
	return (size_t)library < sizeof words / sizeof *words ? words[library] : words[SW_CUDA_NONE];
}

/* The library's word for its handle. */
static const char *handle_noun(const struct sw_library_call *call)
{
	return call->library == SW_CUDA_CUFFT ? "plan" : "handle";
}

const char *sw_name_library_call(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_library_call *call = sw_library_call_of(names, access);
	if (!call)
		return "";
	const char *handle = call->number ? sw_names_format(names, "%s %s %u", sw_name_library(call->library),
							    handle_noun(call), call->number)
					  : sw_name_library(call->library);
	const char *stream =
		access->stream ? sw_names_format(names, ", %s", sw_name_stream(names, access->stream)) : "";
	return sw_names_format(names, "part of %s (%s%s)", call->function, handle, stream);
}

/* Names the workspace that a hazard is in: "the workspace of cuBLAS handles 1 and 2". */
static const char *name_workspace(struct sw_names *names, const struct sw_finding *finding)
{
	const struct sw_library_call *a = sw_library_call_of(names, finding->access[0]);
	const struct sw_library_call *b = sw_library_call_of(names, finding->access[1]);
	if (!a || !b || !a->number || !b->number)
		return "a library's workspace";
	if (a->library == b->library && a->number == b->number)
		return sw_names_format(names, "the workspace of %s %s %u", sw_name_library(a->library), handle_noun(a),
				       a->number);
	if (a->library == b->library)
		return sw_names_format(names, "the workspace of %s %ss %u and %u", sw_name_library(a->library),
				       handle_noun(a), a->number, b->number);
	return sw_names_format(names, "the workspace of %s %s %u and %s %s %u", sw_name_library(a->library),
			       handle_noun(a), a->number, sw_name_library(b->library), handle_noun(b), b->number);
}

/* Says how the calls of the finding get a workspace each. */
static const char *name_workspace_fix(struct sw_names *names, const struct sw_finding *finding)
{
	const struct sw_library_call *call = sw_library_call_of(names, finding->access[1]);
	switch (call ? call->library : SW_CUDA_NONE) {
	case SW_CUDA_CUBLAS:
		return "a cuBLAS handle for each stream, or cublasSetWorkspace() with another buffer after each "
		       "cublasSetStream()";
	case SW_CUDA_CUFFT:
		return "a cuFFT plan for each stream, or cufftSetWorkArea() with another buffer";
	default:
		return "another buffer in one of the calls";
	}
}

/* ---- the tables -------------------------------------------------------------------------------------------------- */

enum { ROLE_ANY = -1, ROLE_FREE = SW_FREE, ROLE_READ = SW_READ };

static const struct {
	int id;
	uint32_t accesses;
	int role;
	const char *text;
} messages[] = {
#define SW_MESSAGE(name, accesses, role, text) {SW_FINDING_##name, accesses, ROLE_##role, text},
#include "detect/findings.def"
};

static const struct {
	const char *text, *torch;
} fixes[] = {
#define SW_FIX(name, text, torch) [SW_FIX_##name] = {text, torch},
#include "detect/findings.def"
};

/* From CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED on. */
#define REFUSED_FIRST 900
static const char *const refused[] = {
#define SW_REFUSED_TEXT(status, text) [status - REFUSED_FIRST] = text,
#include "report/words/wording.def"
};

static const char *const edges[] = {
#define SW_EDGE_TEXT(kind, text) [SW_EDGE_##kind] = text,
#include "report/words/wording.def"
};

static const char *const headings[] = {
#define SW_ROLE_TEXT(role, heading) [SW_##role] = heading,
#include "report/words/wording.def"
};
#define N(table) (sizeof(table) / sizeof((table)[0]))

const char *sw_wording_heading(enum sw_role role)
{
	return (size_t)role < N(headings) ? headings[role] : "Call of";
}

bool sw_is_hazard(const struct sw_finding *finding)
{
	return sw_finding_is(finding->id, SW_FAMILY_HAZARD) && finding->accesses >= 2;
}

/* ---- facts in braces --------------------------------------------------------------------------------------------- */

struct facts {
	struct sw_names *names;
	const struct sw_finding *finding;
};

/* "kernel fill on stream 1": the operation, and its stream if it has one. */
static const char *fact_operation(struct sw_names *names, const struct sw_access *access)
{
	const char *name = sw_name_operation_brief(names, access);
	if (access->stream == 0)
		return name;
	return sw_names_format(names, "%s on %s", name, sw_name_stream(names, access->stream));
}

/* Names the memory of a finding, by the first side that says what it is: "`frames` in allocation 2 (2.0 MiB, cudaMalloc
   at main.cu:16)". */
static const char *fact_memory(struct sw_names *names, const struct sw_finding *finding)
{
	uint32_t index = 0;
	const char *text = "";
	for (uint32_t i = finding->accesses; i-- > 0;) {
		const struct sw_access *access = sw_finding_access(finding, i);
		const struct sw_access *other = i < 2 && finding->accesses > 1 ? finding->access[!i] : NULL;
		if (!index)
			index = access->allocation;
		if (!*text && access->allocation && access->allocation == index)
			text = sw_pointer_expression(names, access, sw_place_of(names, access, other));
	}
	const char *name = sw_name_allocation_whole(names, index);
	return *text ? sw_names_format(names, "`%s` in %s", text, name) : name;
}

/* Names the buffer, and the workspace that it is: "the workspace of cuBLAS handles 1 and 2, allocation 2 (4.0 MiB,
   cudaMalloc at main.cu:16)". */
static const char *fact_buffer(struct sw_names *names, const struct sw_finding *finding)
{
	const char *memory = fact_memory(names, finding);
	return finding->workspace ? sw_names_format(names, "%s, %s", name_workspace(names, finding), memory) : memory;
}

/* Names a side by its call and line, "cudaMemcpyAsync (main.cu:23)"; without a line, by its stream. */
static const char *fact_who(struct sw_names *names, const struct sw_finding *finding, uint32_t index)
{
	const struct sw_access *access = sw_finding_access(finding, index);
	const struct sw_access *other = index < 2 && finding->accesses > 1 ? finding->access[!index] : NULL;
	const struct sw_frame *place = sw_place_of(names, access, other);
	if (!place || !place->file || !place->line)
		return fact_operation(names, access);
	/* The report's first line says where the later one is. */
	if (sw_is_hazard(finding) && index == 1)
		return sw_name_operation_brief(names, access);
	return sw_names_format(names, "%s (%s)", sw_name_operation_brief(names, access), sw_place_brief(names, place));
}

/* The fact {cuda:EventRecord}: the function, in the API of the first operation that was not a kernel, for kernels say
   nothing of it. */
static const char *fact_function(struct sw_names *names, const struct sw_finding *finding, const char *function)
{
	bool driver = finding->accesses > 0 && sw_names_driver_api(names, finding->access[0]);
	return sw_names_format(names, "%s%s", driver ? "cu" : "cuda", function);
}

/* The value of a fact {key0} or {key1} about one side of a finding, such as its stream or thread; other: the other
   side.  NULL: no such key. */
static const char *fact_about(struct sw_names *names, const struct sw_access *access, const struct sw_access *other,
			      const char *key)
{
	if (strcmp(key, "op") == 0)
		return fact_operation(names, access);
	if (strcmp(key, "name") == 0)
		return sw_name_operation_brief(names, access);
	if (strcmp(key, "call") == 0 && access->node) {
		const struct sw_named_call launch = {access->seq, access->launch_stack, access->launch_api,
						     access->flags};
		return sw_names_format(names, "the launch of the graph (%s)", sw_place_named(names, &launch));
	}
	if (strcmp(key, "call") == 0)
		return sw_name_operation_brief(names, access);
	if (strcmp(key, "stream") == 0)
		return sw_name_stream(names, access->stream);
	if (strcmp(key, "thread") == 0)
		return sw_names_format(names, "%u", access->thread);
	if (strcmp(key, "var") == 0)
		return sw_stream_expression(names, access, other);
	if (strcmp(key, "access") == 0)
		return sw_evidence_instruction(names, access);
	if (strcmp(key, "at") == 0) {
		const struct sw_frame *place = sw_place_of(names, access, NULL);
		return place && place->file && place->line
			       ? sw_names_format(names, " (%s)", sw_place_brief(names, place))
			       : "";
	}
	return NULL;
}

/* The number as text. */
static const char *fact_number(struct sw_names *names, uint64_t number)
{
	return sw_names_format(names, "%llu", (unsigned long long)number);
}

/* The kernel that a finding speaks of, as the subject of its sentence: by its name, else by the call that launched it.
 */
static const char *fact_subject(struct sw_names *names, const struct sw_finding *finding)
{
	if (finding->accesses == 0)
		return "a kernel";
	const char *name = sw_name_operation_brief(names, finding->access[0]);
	return finding->access[0]->function ? name : sw_names_format(names, "a kernel (in %s)", name);
}

/* Why a capture refused the call, by its status. */
static const char *fact_refused(uint32_t status)
{
	const char *why = status - REFUSED_FIRST < N(refused) ? refused[status - REFUSED_FIRST] : NULL;
	return why ? why : "a capture forbids it";
}

/* Says which waits are needed instead of a too wide one: "the host waits for stream 1 with cudaEventSynchronize on an
   event recorded after main.cu:7; stream 3 waits ...". */
static const char *fact_needs(struct sw_names *names, const struct sw_finding *finding)
{
	const char *text = "";
	for (uint32_t i = 0; i < sw_finding_details(finding)->needs; i++) {
		const struct sw_need *need = &sw_finding_details(finding)->need[i];
		const char *stream = sw_stream_made_as(names, need->stream, &need->work), *one;
		if (need->to)
			one = sw_names_format(names, "%s waits for %s with %s on an event recorded there",
					      sw_stream_made_as(names, need->to, NULL), stream,
					      fact_function(names, finding, "StreamWaitEvent"));
		else if (!need->whole)
			one = sw_names_format(names, "the host waits for %s with %s on an event recorded after %s",
					      stream, fact_function(names, finding, "EventSynchronize"),
					      sw_place_named(names, &need->work));
		else
			one = sw_names_format(names, "the host waits for %s with %s", stream,
					      fact_function(names, finding, "StreamSynchronize"));
		text = sw_names_format(names, "%s%s%s", text, i ? "; " : "", one);
	}
	return text;
}

/* Names, as an order, the call that allocated the memory. */
static const char *fact_allocate(struct sw_names *names, const struct sw_finding *finding)
{
	const struct sw_access *access = sw_finding_details(finding)->maker.seq	  ? &sw_finding_details(finding)->maker
					 : finding->id == SW_FINDING_DEVICE_ALLOC ? finding->access[0]
										  : NULL;
	const struct sw_frame *place = access ? sw_place_of(names, access, NULL) : NULL;
	if (!place || !place->file || !place->line)
		return "allocate";
	return sw_names_format(names, "call %s (%s)", sw_name_operation_brief(names, access),
			       sw_place_brief(names, place));
}

/* Names the option of a gate as it was given on the command line, for the finding that it made. */
static const char *fact_rule(struct sw_names *names, const struct sw_finding *finding)
{
	const struct sw_gate_result *rule = &names->judgement->gate.at[finding->rule];
	return sw_names_format(names, "'%s %s'", rule->option, rule->text);
}

/* "cudaGraphAddChildGraphNode (main.cu:12)": the node that a dependency begins ({node_first}) or ends at
   ({node_second}).  NULL: the key is neither. */
static const char *fact_node(struct sw_names *names, const struct sw_finding *finding, const char *key)
{
	const bool first = strcmp(key, "node_first") == 0;
	if (!first && strcmp(key, "node_second") != 0)
		return NULL;
	const struct sw_node_pair *nodes = &sw_finding_details(finding)->nodes;
	const struct sw_named_call *call = first ? &nodes->first : &nodes->second;
	if (!call->seq)
		return fact_operation(names, finding->access[!first]);
	/* A side itself has its kernel; what holds it, has the name of a call. */
	for (int i = 0; i < 2; i++)
		if (finding->access[i]->node == call->seq)
			return sw_names_format(names, "%s%s", sw_name_operation_brief(names, finding->access[i]),
					       fact_about(names, finding->access[i], NULL, "at"));
	return sw_names_format(names, "%s (%s)", sw_name_api(names, call->api, call->flags, call->stack),
			       sw_place_named(names, call));
}

/* Facts that findings of this id alone have (FACTS of findings.def); NULL: no such fact. */
static const char *fact_of_id(struct sw_names *names, const struct sw_finding *finding, const char *key)
{
	const struct sw_finding_info *info = sw_finding_info(finding->id);
	switch (info ? info->facts : SW_FACTS_NONE) {
	case SW_FACTS_MISSED:
		return strcmp(key, "hazard") == 0 ? sw_names_format(names, "SW%03d", finding->missed.hazard) : NULL;
	case SW_FACTS_REFUSED:
		return strcmp(key, "refused") == 0 ? fact_refused(finding->refused) : NULL;
	case SW_FACTS_BLOCKER:
		return strcmp(key, "blocker") == 0 ? sw_name_stream(names, finding->blocker.stream) : NULL;
	case SW_FACTS_QUEUED:
		return strcmp(key, "queued") == 0 ? fact_number(names, finding->queued) : NULL;
	case SW_FACTS_LOST:
		return strcmp(key, "lost") == 0 ? fact_number(names, finding->lost) : NULL;
	case SW_FACTS_RULE:
		return strcmp(key, "rule") == 0 ? fact_rule(names, finding) : NULL;
	case SW_FACTS_NONE:
	case SW_FACTS_COVERED:
	case SW_FACTS_POLLS:
		break;
	}
	return NULL;
}

/* The fact "reads|read": the first where the finding is certain, the second after "may" where it is not. */
static const char *fact_verb(struct sw_names *names, const struct sw_finding *finding, const char *key)
{
	const char *second = strchr(key, '|') + 1;
	if (finding->confidence == SW_CERTAIN)
		return sw_names_format(names, "%.*s", (int)(second - 1 - key), key);
	return sw_names_format(names, "may %s", second);
}

/* The value of a fact about the finding as a whole; NULL: no such fact. */
static const char *fact_whole(struct sw_names *names, const struct sw_finding *finding, const char *key)
{
	if (strncmp(key, "cuda:", 5) == 0)
		return fact_function(names, finding, key + 5);
	if (strcmp(key, "buffer") == 0)
		return fact_buffer(names, finding);
	if (strchr(key, '|'))
		return fact_verb(names, finding, key);
	if (strcmp(key, "fixstream") == 0)
		return sw_name_stream(names, finding->fix_stream);
	if (strcmp(key, "fixat") == 0)
		return sw_place_named(names, &finding->fix_call);
	if (strcmp(key, "allocate") == 0)
		return fact_allocate(names, finding);
	if (strncmp(key, "node_", 5) == 0 && finding->accesses > 1)
		return fact_node(names, finding, key);
	if (strcmp(key, "workspace") == 0)
		return name_workspace_fix(names, finding);
	if (strcmp(key, "needs") == 0)
		return fact_needs(names, finding);
	if (strcmp(key, "subject") == 0)
		return fact_subject(names, finding);
	if (strcmp(key, "work") == 0 && finding->accesses)
		return fact_who(names, finding, sw_is_hazard(finding) ? 0 : finding->accesses - 1);
	return fact_of_id(names, finding, key);
}

/* The value of a fact in a sentence of the table; NULL: the table asks for something that does not exist (a test
   expands every row). */
static const char *fact_text(const struct facts *facts, const char *key)
{
	static const struct sw_access unknown = {.role = SW_CALL, .param = -1};
	const struct sw_finding *finding = facts->finding;
	size_t length = strlen(key);
	const char *whole = fact_whole(facts->names, finding, key);
	if (whole || length < 2 || key[length - 1] < '0' || key[length - 1] > '2')
		return whole;
	uint32_t index = (uint32_t)(key[length - 1] - '0');
	char *stem = sw_arena_strndup(&facts->names->arena, key, length - 1);
	if (strcmp(stem, "who") == 0 && index < finding->accesses)
		return fact_who(facts->names, finding, index);
	return fact_about(facts->names, index < finding->accesses ? sw_finding_access(finding, index) : &unknown,
			  index < 2 && finding->accesses > 1 ? finding->access[!index] : NULL, stem);
}

/* The sentence with each fact {key} replaced by its value. */
static const char *expand_text(const struct facts *facts, const char *text)
{
	char *out = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&out, &bytes);
	if (!f)
		return text;
	for (const char *p = text; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;
		if (!end) {
			putc(*p, f);
			continue;
		}
		char *key = sw_arena_strndup(&facts->names->arena, p + 1, (size_t)(end - p - 1));
		const char *value = fact_text(facts, key);
		if (value)
			fputs(value, f);
		else
			fprintf(f, "{%s}", key);
		p = end;
	}
	fclose(f);
	const char *kept = sw_arena_strndup(&facts->names->arena, out, bytes);
	free(out);
	return kept;
}

/* ---- sentences --------------------------------------------------------------------------------------------------- */

/* The finding's sentence: the row of the table that its id and its accesses fit. */
static const char *message_of(const struct facts *facts)
{
	const struct sw_finding *finding = facts->finding;
	int role = finding->accesses > 1 ? (int)finding->access[1]->role : ROLE_ANY;
	for (size_t i = 0; i < N(messages); i++)
		if (messages[i].id == finding->id && finding->accesses >= messages[i].accesses &&
		    (messages[i].role == ROLE_ANY || messages[i].role == role))
			return expand_text(facts, messages[i].text);
	const struct sw_finding_info *info = sw_finding_info(finding->id);
	return info ? info->title : "";
}

/* The text of the advice.  Users of PyTorch and CuPy cannot call cudaStreamWaitEvent: theirs uses the functions of
   these. */
static const char *fix_of(const struct facts *facts)
{
	enum sw_fix fix = facts->finding->fix;
	if (fix == SW_FIX_EVENT && sw_call_of_cupy(facts->names, facts->finding->access[0]) &&
	    sw_call_of_cupy(facts->names, facts->finding->access[1]))
		fix = SW_FIX_EVENT_CUPY;
	if ((size_t)fix >= N(fixes) || !fixes[fix].text)
		return "";
	const bool torch = fixes[fix].torch && sw_names_torch(facts->names);
	return expand_text(facts, torch ? fixes[fix].torch : fixes[fix].text);
}

/* Were only windows of the run recorded?  Waits outside of them are not known. */
static bool in_windows(const struct sw_names *names)
{
	return names->judgement->coverage.windows;
}

/* Says what ordered the two sides so far: the last wait of the host for the earlier side's stream, and the wait that is
   missing. */
static const char *ordered_by_host(struct sw_names *names, const struct sw_finding *finding, const char *from,
				   const char *to)
{
	const char *work = fact_who(names, finding, 0);
	const struct sw_named_call *call = &finding->last_call;
	if (!finding->joined)
		return sw_names_format(names,
				       in_windows(names)
					       ? "nothing: the host had not waited for %s in this window; a wait "
						 "for %s is missing"
					       : "nothing: the host had never waited for %s; a wait for %s is "
						 "missing",
				       from, work);
	if (finding->last_kind != SW_EDGE_HOST_WAIT)
		return sw_names_format(
			names, "%s last waited for %s before this access: by %s, %s; the host did not wait for %s", to,
			from, (size_t)finding->last_kind < N(edges) ? edges[finding->last_kind] : "a call",
			sw_place_named(names, call), work);
	return sw_names_format(names,
			       "the host last waited for %s before this access: by %s, %s; it did not wait for %s",
			       from, call->api ? sw_name_api(names, call->api, call->flags, call->stack) : "a call",
			       sw_place_named(names, call), work);
}

/* The sentence on what ordered the two sides of a hazard, and what did not. */
static const char *ordered_by(const struct facts *facts)
{
	const struct sw_finding *finding = facts->finding;
	struct sw_names *names = facts->names;
	const char *from = sw_name_stream(names, finding->access[0]->stream);
	const char *to = sw_name_stream(names, finding->access[1]->stream);
	if (finding->id == SW_FINDING_PROGRAMMATIC_RACE && finding->measured_order)
		return "only as measured: the earlier kernel triggers after its last access, but a trigger makes no "
		       "memory visible (PTX ISA, griddepcontrol)";
	if (finding->id == SW_FINDING_PROGRAMMATIC_RACE)
		return "nothing: the later kernel may begin when the earlier one triggers, and this access comes "
		       "before "
		       "its wait";
	if (finding->measured_order && names->judgement->wait_rules.used.n)
		return "only by a wait that no CUDA document promises; measured on this machine; another driver may "
		       "not "
		       "wait here";
	if (finding->measured_order)
		return "only by a wait that no CUDA document promises: another driver may not wait here";
	if (finding->host_order)
		return "only by the order in which the host threads happened to run: no recorded lock, condition "
		       "or join orders them (atomics are not seen)";
	if (finding->id == SW_FINDING_GRAPH_BRANCH_RACE)
		return "nothing: no path of dependencies leads from one node to the other";
	if (finding->id == SW_FINDING_BATCH_COPY_RACE)
		return "nothing: they are copies of one batch";
	if (finding->host_flag)
		return "nothing that is seen: a flag in memory that the host can poll or write may order the two";
	if (finding->on_host)
		return ordered_by_host(names, finding, from, to);
	if (!finding->joined)
		return sw_names_format(names,
				       in_windows(names) ? "nothing: %s had not waited for %s in this window"
							 : "nothing: %s had never waited for %s",
				       to, from);
	return sw_names_format(names, "%s last waited for %s before this access: by %s, %s", to, from,
			       (size_t)finding->last_kind < N(edges) ? edges[finding->last_kind] : "a call",
			       sw_place_named(names, &finding->last_call));
}

/* The text with the parts of a wait's time added: other work, another thread, transfer, driver. */
static const char *parts_of(struct sw_names *names, const struct sw_cost_parts *parts, const char *text)
{
	const struct {
		uint64_t ns;
		const char *what;
	} part[] = {{parts->work_ns, "waiting for other work"},
		    {parts->lock_ns, "waiting for another thread's call"},
		    {parts->transfer_ns, "the transfer itself"},
		    {parts->driver_ns, "the driver"}};
	const char *between = "; about ";
	for (size_t i = 0; i < N(part); i++) {
		if (!part[i].ns)
			continue;
		text = sw_names_format(names, "%s%s%s %s", text, between, sw_name_time(names, part[i].ns),
				       part[i].what);
		between = ", ";
	}
	return text;
}

/* Says what the device lost by a serialisation (SW304); "" of all others. */
static const char *held_of(const struct facts *facts)
{
	const struct sw_held *held = &sw_finding_details(facts->finding)->held;
	struct sw_names *names = facts->names;
	if (!held->timed)
		return held->untimed ? "the delay is unknown without device times (--gpu-timeline)" : "";
	const char *text = sw_names_format(names, "%llu operation%s delayed, by at most %s in total",
					   (unsigned long long)held->timed, sw_plural(held->timed, "", "s"),
					   sw_name_time(names, held->ns));
	if (held->untimed)
		text = sw_names_format(names, "%s; for %llu more the delay is unknown", text,
				       (unsigned long long)held->untimed);
	return text;
}

/* SW307: so many calls of one place, in so short a time, that they belong out of a loop. */
#define STORM_CALLS	 20u
#define STORM_PER_SECOND 20u
/* SW307: how often a place allocated, where that was so often that it belongs out of a loop; "" otherwise. */
static const char *storm_of(struct sw_names *names, const struct sw_finding *finding)
{
	uint64_t calls = finding->cost->calls, ns = sw_finding_details(finding)->last_ns - finding->access[0]->t_ns;
	if (finding->id != SW_FINDING_HOST_PIN || calls < STORM_CALLS ||
	    sw_finding_details(finding)->last_ns <= finding->access[0]->t_ns)
		return "";
	double rate = (double)(calls - 1) * 1e9 / (double)ns;
	if (rate < STORM_PER_SECOND)
		return "";
	return sw_names_format(names, "; this call site made %.0f calls a second, %s each on average", rate,
			       sw_name_bytes(names, sw_finding_details(finding)->pinned / calls));
}

/* The sentence on the host time of a wait's calls, and what is recoverable; "" for other findings. */
static const char *cost_of(const struct facts *facts)
{
	const struct sw_cost *cost = facts->finding->cost;
	struct sw_names *names = facts->names;
	const char *held = held_of(facts);
	if (*held)
		return sw_names_format(names, "%s%s", held, replay_gain(names, cost));
	if (cost->calls == 0)
		return "";
	const char *text = sw_names_format(names, "%s of host time in %llu call%s, the longest %s",
					   sw_name_time(names, cost->total_ns), (unsigned long long)cost->calls,
					   sw_plural(cost->calls, "", "s"), sw_name_time(names, cost->worst_ns));
	if (cost->calls >= SW_LEAST_FOR_PERCENTILES)
		text = sw_names_format(names, "%s, median %s, p99 %s", text, sw_name_time(names, cost->p50_ns),
				       sw_name_time(names, cost->p99_ns));
	if (cost->share_ppm >= 1000)
		text = sw_names_format(names, "%s; %u.%u %% of the run", text, cost->share_ppm / 10000,
				       cost->share_ppm / 1000 % 10);
	text = parts_of(names, &cost->parts, text);
	text = sw_names_format(names, "%s%s", text, storm_of(names, facts->finding));
	if (cost->core_high_ns)
		text = sw_names_format(names,
				       "%s; a core was busy for %s (inside the queries) to %s (if the loop did "
				       "nothing else)",
				       text, sw_name_time(names, cost->core_low_ns),
				       sw_name_time(names, cost->core_high_ns));
	text = sw_names_format(names, "%s%s", text, replay_gain(names, cost));
	return text;
}

/* Whether CUDA's documents, or a measurement, say that the call waits; "" for other findings. */
static const char *basis_of(const struct sw_finding *finding)
{
	if (finding->not_waited)
		return "CUDA's documents promise a wait here that did not happen in this run";
	/* Only of calls that wait by themselves: the default stream's rules and polling are no question of documents.
	 */
	if (!sw_finding_is(finding->id, SW_FAMILY_WAIT) || finding->id == SW_FINDING_LEGACY_SERIALISATION)
		return "";
	switch (finding->basis) {
	case SW_BASIS_DOCUMENTED:
		return "CUDA's documents say that this call waits";
	case SW_BASIS_MAY:
		return "CUDA's documents leave open whether this call waits";
	case SW_BASIS_MEASURED:
		return "no CUDA document says so, but this call was measured to wait";
	}
	return "";
}

/* Makes all sentences of a finding; they live as long as the names. */
void sw_wording_of(struct sw_names *names, const struct sw_finding *finding, struct sw_wording *out)
{
	struct facts facts = {names, finding};
	*out = (struct sw_wording){.ordered_by = "", .missing_edge = ""};
	out->message = message_of(&facts);
	out->fix = fix_of(&facts);
	out->cost = cost_of(&facts);
	out->basis = basis_of(finding);
	/* Memory that was freed before cannot be ordered: no event would fix that. */
	if (sw_is_hazard(finding) && finding->access[0]->role != SW_FREE) {
		out->ordered_by = ordered_by(&facts);
		if (finding->id != SW_FINDING_BATCH_COPY_RACE) /* no edge leads from a call to itself */
			out->missing_edge = expand_text(&facts, "{op0} -> {op1}");
	}
}
