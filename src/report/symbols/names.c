/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "report/symbols/stack.h"
#include "report/symbols/source_text.h"

static const char *name_kernel_particular(struct sw_names *names, uint32_t function);
static void template_names_free(struct sw_template_names *templates);

#define LONG_FUNCTION 64 /* letters of a name that is printed whole */

void sw_names_init(struct sw_names *names, const struct sw_reader *reader, const struct sw_judgement *judgement)
{
	*names = (struct sw_names){.reader = reader, .judgement = judgement, .symbols = sw_symbols_new(reader)};
}

#define MOST_COMPARED 64 /* places that one is distinguished from, and streams that are named by their variables */

static void forget_variables(struct sw_names *names);

void sw_names_free(struct sw_names *names)
{
	sw_symbols_free(names->symbols);
	template_names_free(names->templates);
	sw_source_free(names->sources);
	forget_variables(names);
	sw_arena_free(&names->arena);
}

void sw_names_scope_begin(struct sw_names *names, struct sw_names_scope *scope)
{
	scope->outer = names->arena;
	names->arena = (struct sw_arena){0};
}

void sw_names_scope_end(struct sw_names *names, struct sw_names_scope *scope)
{
	sw_arena_free(&names->arena);
	names->arena = scope->outer;
}

const char *sw_names_format(struct sw_names *names, const char *format, ...)
{
	va_list ap;
	char *text;
	va_start(ap, format);
	int length = vasprintf(&text, format, ap);
	va_end(ap);
	if (length < 0)
		return "";
	const char *kept = sw_arena_strndup(&names->arena, text, (size_t)length);
	free(text);
	return kept;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* The name of a file without its folders. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

const char *sw_name_program(const struct sw_names *names)
{
	const struct sw_trace_process *process = sw_reader_process(names->reader);
	if (!process || !process->exe)
		return "the program";
	const char *name = last_part(process->exe);
	for (uint32_t i = 1; i < process->args && fnmatch("python*", name, 0) == 0; i++) {
		const char *argument = process->arg[i];
		if (argument[0] != '-')
			return *argument ? last_part(argument) : name;
		if (strcmp(argument, "-m") == 0)
			return i + 1 < process->args ? process->arg[i + 1] : name;
		if (strcmp(argument, "-c") == 0 || strcmp(argument, "-") == 0)
			break;
		/* -X and -W are followed by a value. */
		i += strcmp(argument, "-X") == 0 || strcmp(argument, "-W") == 0;
	}
	return name;
}

/* ---- the function that the user called --------------------------------------------------------------------------- */

/* Is it a function of the runtime's API, "cudaMemcpy", rather than one inside of it? */
static bool public_name(const char *symbol)
{
	return strncmp(symbol, "cuda", 4) == 0 && symbol[4] >= 'A' && symbol[4] <= 'Z';
}

/*
 * The outermost public function of the runtime's frames at the top of the stack.  Not the innermost: cudaMemcpy may be
 * built on another public function.  A header's inline template (cudaLaunchKernel<T>) is the user's own code and has
 * the same name.
 */
static const char *runtime_frame(struct sw_names *names, uint32_t stack)
{
	const struct sw_symbol_frames *frames = sw_symbols_stack(names->symbols, stack);
	const char *found = NULL;
	for (size_t i = 0; i < frames->n; i++) {
		const struct sw_frame *frame = &frames->at[i];
		if (frame->role == SW_FRAME_RUNTIME && frame->base && public_name(frame->base))
			found = frame->base;
		else if (frame->role == SW_FRAME_USER || frame->role > SW_FRAME_RECORDER)
			break;
	}
	return found;
}

/* "cudaMemcpyAsync_ptsz" is what the compiler made of cudaMemcpyAsync: users never wrote the suffix. */
static const char *without_suffix(struct sw_names *names, const char *name)
{
	static const char *const suffixes[] = {"_ptsz", "_ptds", "_v2", "_v3"};
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		size_t n = strlen(suffixes[i]);
		if (length > n && strcmp(name + length - n, suffixes[i]) == 0)
			return without_suffix(names, sw_arena_strndup(&names->arena, name, length - n));
	}
	return name;
}

const char *sw_name_api(struct sw_names *names, uint16_t api, uint16_t flags, uint32_t stack)
{
	const struct sw_trace_api *info = sw_reader_api(names->reader, api);
	const char *called = runtime_frame(names, stack);
	if (called)
		return without_suffix(names, called);
	if (!info)
		return "a call";
	if ((flags & SW_RF_RUNTIME) && info->runtime[0])
		return without_suffix(names, info->runtime);
	return info->driver[0] ? without_suffix(names, info->driver) : "a call";
}

bool sw_names_driver_api(struct sw_names *names, const struct sw_access *access)
{
	const char *api = sw_name_api(names, access->api, access->flags, access->stack);
	return api[0] == 'c' && api[1] == 'u' && !public_name(api);
}

/* ---- kernels and operations -------------------------------------------------------------------------------------- */

const char *sw_name_kernel(struct sw_names *names, uint32_t function, bool whole)
{
	const struct sw_trace_function *info = function ? sw_reader_function(names->reader, function) : NULL;
	if (!info)
		return "";
	if (!info->name[0])
		return sw_names_format(names, "(kernel without a name, function %u)", function);
	char *demangled = sw_demangle(info->name);
	char *base = whole ? NULL : sw_demangled_base(demangled);
	const char *kept = sw_names_format(names, "%s", whole ? demangled : base);
	free(demangled);
	free(base);
	return kept;
}

#define LONG_KERNEL 80
#define LONG_WORD   56

const char *sw_name_kernel_short(struct sw_names *names, uint32_t function)
{
	const char *whole = sw_name_kernel(names, function, true);
	if (strlen(whole) <= LONG_KERNEL)
		return whole;
	const char *base = sw_name_kernel(names, function, false), *found = strstr(whole, base);
	const char *rest = found ? found + strlen(base) : "";
	return sw_names_format(names, "%s%s%s", base, *rest == '<' ? "<...>" : "", *rest ? "(...)" : "");
}

const char *sw_name_operation(struct sw_names *names, const struct sw_access *access)
{
	const char *api = sw_name_api(names, access->api, access->flags, access->stack);
	if (access->function && access->kind == SW_REC_LAUNCH)
		return sw_names_format(names, "kernel %s", sw_name_kernel(names, access->function, false));
	if (access->kind == SW_REC_HOST_FUNC || access->kind == SW_REC_HOST_FUNC_RUN)
		return sw_names_format(names, "the host function of %s", api);
	if (access->kind == SW_REC_HOST_ACCESS)
		return "host code";
	return api;
}

/* ---- libraries ------------------------------------------------------------------------------------------------- */

const struct sw_library_call *sw_library_call_of(const struct sw_names *names, const struct sw_access *access)
{
	const struct sw_judgement *j = names->judgement;
	return access->library && access->library <= j->library_calls.n ? &j->library_calls.at[access->library - 1]
									: NULL;
}

/* The library call as programs write it: cublas_v2.h defines cublasSgemm_64 as cublasSgemm_v2_64. */
static const char *library_function_name(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_library_call *call = sw_library_call_of(names, access);
	if (!call)
		return "";
	const char *at = strstr(call->function, "_v2");
	const bool macro = call->library == SW_CUDA_CUBLAS && at && (!at[3] || strcmp(at, "_v2_64") == 0);
	return macro ? sw_names_format(names, "%.*s%s", (int)(at - call->function), call->function, at + 3)
		     : call->function;
}

/* Is the name one word of 120 letters, as cuBLAS and cuDNN give them to kernels? */
static bool is_one_long_word(const char *name)
{
	size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
	return letters > LONG_WORD && !name[letters];
}

const char *sw_name_operation_brief(struct sw_names *names, const struct sw_access *access)
{
	const char *text, *library = library_function_name(names, access);
	const bool launch = access->function && access->kind == SW_REC_LAUNCH;
	const char *name = launch ? sw_name_kernel(names, access->function, false) : "";
	if (is_one_long_word(name))
		text = sw_names_format(names, "kernel %.*s...%s", LONG_WORD / 2, name,
				       name + strlen(name) - LONG_WORD / 4);
	else if (launch)
		text = sw_names_format(names, "kernel %s", name_kernel_particular(names, access->function));
	else
		text = sw_name_operation(names, access);
	return *library ? sw_names_format(names, "%s of %s", text, library) : text;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

const char *sw_name_function(struct sw_names *names, const struct sw_frame *frame)
{
	if (!frame->function)
		return "";
	if (strlen(frame->function) <= LONG_FUNCTION)
		return frame->function;
	return sw_names_format(names, "%s(...)", frame->base);
}

bool sw_names_several_devices(struct sw_names *names)
{
	const struct sw_judgement *j = names->judgement;
	if (!sw_reader_device(names->reader, 1))
		return false;
	if (!names->streams_seen)
		names->streams_seen = 1; /* the first is the host */
	for (; !names->several_devices && names->streams_seen < j->streams.n; names->streams_seen++)
		names->several_devices = j->streams.at[names->streams_seen].device != j->streams.at[1].device;
	return names->several_devices;
}

const char *sw_name_stream(struct sw_names *names, uint32_t stream)
{
	if (stream == 0 || stream >= names->judgement->streams.n)
		return "the host";
	const struct sw_stream_info *info = &names->judgement->streams.at[stream];
	const char *device = info->device > 0 || sw_names_several_devices(names)
				     ? sw_names_format(names, " of device %d", info->device)
				     : "";
	switch (info->kind) {
	case SW_LANE_HOST:
	case SW_LANE_CALLBACK:
	case SW_LANE_VIEW: /* no stream */
		return "the host";
	case SW_LANE_LEGACY:
		return sw_names_format(names, "the legacy default stream%s", device);
	case SW_LANE_PER_THREAD:
		return sw_names_format(names, "the per-thread default stream of thread %u%s", info->thread, device);
	case SW_LANE_BLOCKING:
	case SW_LANE_NONBLOCKING:
		break;
	}
	if (info->many)
		return "one of many streams";
	const char *name = info->name ? info->name : sw_name_stream_variable(names, stream);
	return *name ? sw_names_format(names, "stream %u '%s'", info->number, name)
		     : sw_names_format(names, "stream %u", info->number);
}

/* Adds a stack to those that are in the list, if it is not there. */
static size_t add_stack(uint32_t *stacks, size_t n, uint32_t stack)
{
	for (size_t i = 0; i < n; i++)
		if (stacks[i] == stack)
			return n;
	if (stack && n < MOST_COMPARED)
		stacks[n++] = stack;
	return n;
}

const struct sw_frame *sw_name_stream_made(struct sw_names *names, uint32_t stream)
{
	uint32_t stacks[MOST_COMPARED];
	size_t n = 0;
	if (stream == 0 || stream >= names->judgement->streams.n)
		return NULL;
	for (size_t i = 1; i < names->judgement->streams.n && n < MOST_COMPARED; i++)
		n = add_stack(stacks, n, names->judgement->streams.at[i].create_stack);
	return sw_place_made(names, names->judgement->streams.at[stream].create_stack, stacks, n);
}

/* Lists the variables that the frame's line fills with streams; `callee`: the next frame in, NULL: the API itself. */
static size_t variables_at(struct sw_names *names, const struct sw_frame *frame, const struct sw_frame *callee,
			   const char *variable[SW_SOURCE_VARIABLES])
{
	static const char *const creators[] = {"cudaStreamCreateWithFlags", "cudaStreamCreate",
					       "cudaStreamCreateWithPriority", "cuStreamCreate",
					       "cuStreamCreateWithPriority"};
	size_t n = 0;
	if (!frame->file || !frame->line || sw_frame_is_python(frame))
		return 0;
	for (size_t i = 0; i < sizeof creators / sizeof *creators && !n; i++)
		n = sw_source_filled(names, frame, creators[i], variable);
	if (!n && callee && callee->base)
		n = sw_source_filled(names, frame, callee->base, variable);
	return n;
}

/* Does the stack go through this line of the source? */
static bool goes_through(struct sw_names *names, uint32_t stack, const struct sw_frame *line)
{
	const struct sw_stack_view view = sw_stack_view(names, stack, 0);
	for (size_t i = 0; i < view.n; i++)
		if (view.at[i].frame->line == line->line && view.at[i].frame->file &&
		    strcmp(view.at[i].frame->file, line->file) == 0)
			return true;
	return false;
}

/* Streams are matched with the line's variables in their order.  A line that makes more streams than it fills variables
   stands in a loop, or in a helper of several. */
static const char *variable_in_order(struct sw_names *names, uint32_t stream, const struct sw_frame *line,
				     const char *const *variable, size_t n)
{
	const struct sw_stream_info *at = names->judgement->streams.at;
	size_t rank = 0, made = 0;
	for (uint32_t i = 1; i < names->judgement->streams.n && i <= MOST_COMPARED; i++) {
		if (!at[i].create_stack || !goes_through(names, at[i].create_stack, line))
			continue;
		made++;
		rank += at[i].create_seq < at[stream].create_seq;
	}
	return made <= n && rank < n ? variable[rank] : "";
}

/* The variable of a stream, by the outermost line that fills one: a helper's own name for it says nothing. */
static const char *find_variable(struct sw_names *names, uint32_t stream)
{
	const struct sw_stack_view view = sw_stack_view(names, names->judgement->streams.at[stream].create_stack, 0);
	const char *variable[SW_SOURCE_VARIABLES];
	for (size_t i = view.n; i-- > 0;) {
		const struct sw_frame *frame = view.at[i].frame;
		const size_t n = variables_at(names, frame, i ? view.at[i - 1].frame : NULL, variable);
		if (n)
			return variable_in_order(names, stream, frame, variable, n);
	}
	return "";
}

/* Frees the variables that were found: more streams are known now. */
static void forget_variables(struct sw_names *names)
{
	for (size_t i = 0; names->variables && i <= MOST_COMPARED; i++)
		free(names->variables[i]);
	free(names->variables);
	names->variables = NULL;
}

const char *sw_name_stream_variable(struct sw_names *names, uint32_t stream)
{
	struct sw_names_scope scope;
	if (stream == 0 || stream >= names->judgement->streams.n || stream > MOST_COMPARED ||
	    !names->judgement->streams.at[stream].create_stack)
		return "";
	/* A timeline asks while streams are still being made. */
	if (names->variables_of != names->judgement->streams.n)
		forget_variables(names);
	names->variables_of = names->judgement->streams.n;
	if (!names->variables)
		names->variables = sw_calloc(MOST_COMPARED + 1, sizeof *names->variables);
	if (!names->variables[stream]) {
		sw_names_scope_begin(names, &scope);
		names->variables[stream] = sw_format("%s", find_variable(names, stream));
		sw_names_scope_end(names, &scope);
	}
	return sw_names_format(names, "%s", names->variables[stream]);
}

const char *sw_name_stream_site(struct sw_names *names, uint32_t stream)
{
	const struct sw_frame *made = sw_name_stream_made(names, stream);
	if (!made)
		return "";
	return made->file ? sw_place_brief(names, made) : made->base ? made->base : "";
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

const char *sw_name_allocation(struct sw_names *names, uint32_t allocation)
{
	if (allocation == 0 || allocation > names->judgement->allocations.n)
		return "the buffer";
	const struct sw_allocation *info = &names->judgement->allocations.at[allocation - 1];
	if (info->memory == SW_MEM_SYMBOL && info->name)
		return sw_names_format(names, "variable %s", info->name);
	if (info->memory == SW_MEM_PAGEABLE && !info->name)
		return "the pageable host buffer";
	if (info->pool_block)
		return sw_names_format(names, info->one_stream ? "array %u" : "tensor %u", info->number);
	if (info->name)
		return sw_names_format(names, "allocation %u '%s'", info->number, info->name);
	return sw_names_format(names, "allocation %u", info->number);
}

const char *sw_name_allocation_whole(struct sw_names *names, uint32_t allocation)
{
	uint32_t stacks[MOST_COMPARED];
	size_t n = 0;
	const char *name = sw_name_allocation(names, allocation);
	if (allocation == 0 || allocation > names->judgement->allocations.n)
		return name;
	const struct sw_allocation *info = &names->judgement->allocations.at[allocation - 1];
	if (info->memory == SW_MEM_PAGEABLE)
		return name;
	const char *bytes = sw_name_bytes(names, info->bytes);
	if (!info->seq)
		return sw_names_format(names, "%s (%s)", name, bytes);
	for (size_t i = 0; i < names->judgement->allocations.n && n < MOST_COMPARED; i++)
		n = add_stack(stacks, n, names->judgement->allocations.at[i].stack);
	const char *made = sw_place_brief(names, sw_place_made(names, info->stack, stacks, n));
	return sw_names_format(names, "%s (%s, %s%s%s)", name, bytes,
			       sw_name_api(names, info->api, info->flags, info->stack), *made ? " at " : "", made);
}

const char *sw_name_memory(enum sw_memory memory)
{
	static const char *const words[] = {
		[SW_MEM_UNKNOWN] = "memory",
		[SW_MEM_DEVICE] = "device memory",
		[SW_MEM_ASYNC] = "stream-ordered device memory",
		[SW_MEM_MANAGED] = "managed memory",
		[SW_MEM_PINNED] = "pinned host memory",
		[SW_MEM_REGISTERED] = "registered host memory",
		[SW_MEM_ARRAY] = "a CUDA array",
		[SW_MEM_MAPPED] = "mapped device memory",
		[SW_MEM_IPC] = "device memory of another process",
		[SW_MEM_SYMBOL] = "a module variable",
		[SW_MEM_PAGEABLE] = "pageable host memory",
	};
	return (size_t)memory < sizeof words / sizeof words[0] ? words[memory] : words[SW_MEM_UNKNOWN];
}

/* ---- words of the vocabulary ------------------------------------------------------------------------------------- */

#define SW_WORD(words, index) ((size_t)(index) < sizeof(words) / sizeof((words)[0]) ? (words)[index] : "unknown")

const char *sw_name_severity(enum sw_severity severity)
{
	static const char *const words[] = {"note", "warning", "error"};
	return SW_WORD(words, severity);
}

const char *sw_name_confidence(enum sw_confidence confidence)
{
	static const char *const words[] = {"possible", "likely", "certain"};
	return SW_WORD(words, confidence);
}

const char *sw_name_basis(enum sw_basis basis)
{
	static const char *const words[] = {"documented", "may", "measured"};
	return SW_WORD(words, basis);
}

const char *sw_name_evidence(enum sw_evidence evidence)
{
	static const char *const words[] = {"assumed", "signature", "direction", "footprint", "exact"};
	return SW_WORD(words, evidence);
}

const char *sw_name_role(enum sw_role role)
{
	static const char *const words[] = {
		[SW_READ] = "read", [SW_WRITE] = "write", [SW_READ_WRITE] = "read-write",
		[SW_FREE] = "free", [SW_ALLOC] = "alloc", [SW_RECORD] = "record",
		[SW_WAIT] = "wait", [SW_CALL] = "call",	  [SW_ATOMIC] = "atomic",
	};
	return SW_WORD(words, role);
}

const char *sw_name_time(struct sw_names *names, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} scale[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	for (size_t i = 0; i < sizeof scale / sizeof scale[0]; i++)
		if (ns >= scale[i].ns) {
			double value = (double)ns / (double)scale[i].ns;
			int decimals = (value < 10) + (value < 100);
			return sw_names_format(names, "%.*f %s", decimals, value, scale[i].unit);
		}
	return sw_names_format(names, "%llu ns", (unsigned long long)ns);
}

const char *sw_name_bytes(struct sw_names *names, uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t unit = 0;
	if (bytes < 10240)
		return sw_names_format(names, "%llu byte%s", (unsigned long long)bytes, sw_plural(bytes, "", "s"));
	for (value /= 1024; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
		value /= 1024;
	return sw_names_format(names, "%.1f %s", value, units[unit]);
}

/* ---- kernels of one template, which a name without its types does not distinguish -------------------------------- */

#define LONG_ARGUMENTS 32 /* letters of types that are printed whole */
#define MOST_WORDS     2

struct kernel {
	uint32_t function;
	size_t next;		/* another one of this short name: index + 1, 0 ends */
	const char *types;	/* what the short name leaves out: "<float, 4>(float*)" */
	const char *particular; /* NULL: not asked for yet */
};
struct sw_template_names {
	struct sw_map by_function, by_name; /* index + 1; of a short name the last one */
	SW_VEC(struct kernel) all;
	size_t findings;       /* those whose kernels are in it */
	struct sw_arena arena; /* what outlives the scope in which it was asked for */
};

/* Frees the kernels that are distinguished; NULL is allowed. */
static void template_names_free(struct sw_template_names *templates)
{
	if (!templates)
		return;
	sw_map_free(&templates->by_function);
	sw_map_free(&templates->by_name);
	free(templates->all.at);
	sw_arena_free(&templates->arena);
	free(templates);
}

/* A key for a short name, for by_name. */
static uint64_t name_key(const char *name)
{
	return sw_hash_u64(sw_hash_bytes(SW_FNV_START, name, strlen(name))) | 1;
}

/* Adds a kernel of a finding under its short name; what was particular to the others of that name is worked out
   anew. */
static void add_kernel(struct sw_names *names, uint32_t function)
{
	struct sw_template_names *t = names->templates;
	if (!function || sw_map_get(&t->by_function, function))
		return;
	const char *name = sw_name_kernel(names, function, false), *whole = sw_name_kernel(names, function, true);
	const char *found = strstr(whole, name), *types = found ? found + strlen(name) : "";
	uint64_t *last = sw_map_put(&t->by_name, name_key(name));
	*sw_vec_push(&t->all) = (struct kernel){
		.function = function, .next = *last, .types = sw_arena_strndup(&t->arena, types, strlen(types))};
	for (size_t i = *last; i; i = t->all.at[i - 1].next)
		t->all.at[i - 1].particular = NULL;
	*last = t->all.n;
	*sw_map_put(&t->by_function, function) = t->all.n;
}

/* Adds the kernels of findings that are new since the last call. */
static void add_kernels(struct sw_names *names)
{
	const struct sw_judgement *j = names->judgement;
	if (!names->templates)
		names->templates = sw_calloc(1, sizeof *names->templates);
	for (size_t i = names->templates->findings; i < j->findings.n; i++) {
		const struct sw_finding *finding = &j->findings.at[i];
		for (uint32_t k = 0; k < finding->accesses; k++)
			add_kernel(names, sw_finding_access(finding, k)->function);
		add_kernel(names, sw_finding_details(finding)->waited_for.function);
	}
	names->templates->findings = j->findings.n;
}

/* May the character be part of a C++ identifier? */
static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* How long the identifier is that begins here, 0: none does. */
static size_t word_length(const char *text)
{
	size_t n = 0;
	while (is_letter(text[n]))
		n++;
	return n;
}

/* Is the word one of the text's identifiers? */
static bool has_word(const char *text, const char *word, size_t length)
{
	for (const char *p = text; *p; p++) {
		size_t n = word_length(p);
		if (n == length && memcmp(p, word, n) == 0)
			return true;
		p += n ? n - 1 : 0;
	}
	return false;
}

/* Do all kernels of this short name have the word among their template arguments? */
static bool is_common(const struct sw_template_names *t, uint64_t key, const char *word, size_t length)
{
	for (size_t i = sw_map_get(&t->by_name, key); i; i = t->all.at[i - 1].next)
		if (!has_word(t->all.at[i - 1].types, word, length))
			return false;
	return true;
}

/* The first words of the types that not all kernels of this short name have, "...FillFunctor...int..."; scopes are no
   such words. */
static const char *particular_words(struct sw_names *names, const struct kernel *kernel, uint64_t key)
{
	const char *text = "", *seen[MOST_WORDS];
	size_t words = 0;
	for (const char *p = kernel->types; *p && words < MOST_WORDS; p++) {
		size_t n = word_length(p);
		if (!n)
			continue;
		bool scope = p[n] == ':' && p[n + 1] == ':';
		bool again = words && strncmp(seen[0], p, n) == 0 && !is_letter(seen[0][n]);
		if (!scope && !again && !is_common(names->templates, key, p, n)) {
			text = sw_names_format(names, "%s%.*s...", *text ? text : "...", (int)n, p);
			seen[words++] = p;
		}
		p += n - 1;
	}
	return text;
}

/* Length of the template arguments that the text begins with, "<float, 4>"; 0: it begins with none. */
static size_t arguments_length(const char *types)
{
	int depth = 0;
	for (size_t i = 0; types[0] == '<' && types[i]; i++) {
		depth += types[i] == '<';
		depth -= types[i] == '>' && types[i - 1] != '-';
		if (!depth)
			return i + 1;
	}
	return 0;
}

/* The short name of a kernel with what tells it from others of that name among the findings. */
static const char *particular_name(struct sw_names *names, const struct kernel *kernel)
{
	const char *name = sw_name_kernel(names, kernel->function, false);
	const uint64_t key = name_key(name);
	const size_t only = sw_map_get(&names->templates->by_name, key);
	if (&names->templates->all.at[only - 1] == kernel && !kernel->next)
		return name;
	const size_t length = arguments_length(kernel->types);
	if (length && length <= LONG_ARGUMENTS)
		return sw_names_format(names, "%s%.*s", name, (int)length, kernel->types);
	const char *words = particular_words(names, kernel, key);
	if (!*words)
		return name;
	return sw_names_format(names, length ? "%s<%s>" : "%s(%s)", name, words);
}

/*
 * The short name of a kernel; where the findings have other kernels of that name, with what is particular to this one:
 * "scale<float>", "at::native::vectorized_elementwise_kernel<...FillFunctor...>".  Lives as long as the names.
 */
static const char *name_kernel_particular(struct sw_names *names, uint32_t function)
{
	add_kernels(names);
	const size_t index = sw_map_get(&names->templates->by_function, function);
	if (!index)
		return sw_name_kernel(names, function, false);
	struct kernel *kernel = &names->templates->all.at[index - 1];
	if (!kernel->particular) {
		const char *name = particular_name(names, kernel);
		kernel->particular = sw_arena_strndup(&names->templates->arena, name, strlen(name));
	}
	return kernel->particular;
}
