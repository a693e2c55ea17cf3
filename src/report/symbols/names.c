/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/names.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/demangle.h"
#include "report/symbols/places.h"
#include "report/symbols/source_text.h"
#include "report/symbols/stack.h"
#include "report/symbols/template_names.h"

#define LONG_FUNCTION 64 /* letters of a name that is printed whole */

void sw_names_init(struct sw_names *names, const struct sw_reader *reader, const struct sw_judgement *judgement)
{
	*names = (struct sw_names){.reader = reader, .judgement = judgement, .symbols = sw_symbols_new(reader)};
}

void sw_names_free(struct sw_names *names)
{
	sw_symbols_free(names->symbols);
	sw_template_names_free(names->templates);
	sw_source_free(names->sources);
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

/* ---- the program ---------------------------------------------------------------------------------------------------
 */

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
		/* These two have a value. */
		i += strcmp(argument, "-X") == 0 || strcmp(argument, "-W") == 0;
	}
	return name;
}

/* ---- the function that the user called --------------------------------------------------------------------------- */

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

/* cublas_v2.h defines cublasSgemm as cublasSgemm_v2, and cublasSgemm_64 as cublasSgemm_v2_64. */
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

/* cuBLAS and cuDNN name their kernels by all they are made of, in one word of 120 letters. */
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
		text = sw_names_format(names, "kernel %s", sw_name_kernel_particular(names, access->function));
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
	if (info->name)
		return sw_names_format(names, "stream %u '%s'", info->number, info->name);
	return sw_names_format(names, "stream %u", info->number);
}

#define MOST_COMPARED 64 /* places that one is distinguished from */

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
		return sw_names_format(names, "%llu byte%s", (unsigned long long)bytes, bytes == 1 ? "" : "s");
	for (value /= 1024; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
		value /= 1024;
	return sw_names_format(names, "%.1f %s", value, units[unit]);
}
