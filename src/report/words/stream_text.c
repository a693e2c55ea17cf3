/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/stream_text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "report/symbols/source_text.h"

bool sw_names_torch(const struct sw_names *names)
{
	const struct sw_trace_module *module;
	for (size_t i = 0; (module = sw_reader_module_at(names->reader, i)); i++)
		if (fnmatch("*/libtorch_python*.so*", module->path, 0) == 0)
			return true;
	return false;
}

/* The library that calls CUDA is among the innermost frames. */
#define CALLER_FRAMES 8u

bool sw_call_of_cupy(const struct sw_names *names, const struct sw_access *access)
{
	const struct sw_trace_stack *stack = sw_reader_stack(names->reader, access->stack);
	for (uint32_t i = 0; stack && i < stack->depth && i < CALLER_FRAMES; i++) {
		const struct sw_trace_module *module = sw_reader_module(names->reader, stack->ips[i], stack->seq);
		if (module && (strstr(module->path, "/cupy/") || strstr(module->path, "/cupy_backends/")))
			return true;
	}
	return false;
}

/* "self.copies" of "    self.copies = torch.cuda.Stream()"; length 0: the line makes no stream, or gives it no name. */
static const char *assigned(const char *line, size_t *length)
{
	const char *name = line + strspn(line, " \t");
	size_t letters = 0;
	while (isalnum((unsigned char)name[letters]) || name[letters] == '_' || name[letters] == '.')
		letters++;
	const char *value = name + letters + strspn(name + letters, " ");
	const bool gives = *value == '=' && value[1] != '=' && !isdigit((unsigned char)*name);
	/* One call alone: of several streams on a line it is not known which is meant. */
	const char *makes = gives ? strstr(value, "Stream(") : NULL;
	const bool one = makes && !strpbrk(value, "[,") && !strstr(makes + 1, "Stream(");
	*length = one ? letters : 0;
	return name;
}

/* "Trainer" of "Trainer.step", "" of "step". */
static size_t scope(const char *function)
{
	const char *dot = strrchr(function, '.');
	return dot ? (size_t)(dot - function) : 0;
}

/* Is a name that one frame's line assigns known at the other? */
static bool visible(const struct sw_frame *from, const struct sw_frame *at, bool attribute)
{
	if (!from->file || !at->file || strcmp(from->file, at->file) != 0 || !from->function || !at->function)
		return false;
	if (strcmp(from->function, at->function) == 0)
		return true;
	const size_t class = scope(from->function);
	if (attribute)
		return class && class == scope(at->function) && strncmp(from->function, at->function, class) == 0;
	return strcmp(from->function, "<module>") == 0;
}

static const char *python_text(struct sw_names *names, const struct sw_stream_info *info, uint32_t stream,
			       const struct sw_frame *place, bool cupy)
{
	if (info->kind == SW_LANE_LEGACY && cupy)
		return "cupy.cuda.Stream.null";
	if (info->kind == SW_LANE_PER_THREAD && cupy)
		return "cupy.cuda.Stream.ptds";
	if (info->kind == SW_LANE_LEGACY)
		return info->device > 0 ? sw_names_format(names, "torch.cuda.default_stream(%d)", info->device)
					: "torch.cuda.default_stream()";
	if (info->kind == SW_LANE_PER_THREAD)
		return sw_names_format(names, "thread%u_stream", info->thread);
	const struct sw_frame *made = place ? sw_name_stream_made(names, stream) : NULL;
	const char *line =
		made && made->file && sw_frame_is_python(made) ? sw_source_line(names, made->file, made->line) : NULL;
	size_t length = 0;
	const char *name = line ? assigned(line, &length) : "";
	if (length && visible(made, place, memchr(name, '.', length)))
		return sw_names_format(names, "%.*s", (int)length, name);
	return sw_names_format(names, "stream%u", info->number);
}

const char *sw_stream_text(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place)
{
	if (access->stream == 0 || access->stream >= names->judgement->streams.n)
		return "0";
	const struct sw_stream_info *info = &names->judgement->streams.at[access->stream];
	const bool cupy = sw_call_of_cupy(names, access);
	if (cupy || sw_names_torch(names))
		return python_text(names, info, access->stream, place, cupy);
	if (info->kind == SW_LANE_LEGACY)
		return "0";
	if (info->kind == SW_LANE_PER_THREAD)
		return sw_names_driver_api(names, access) ? "CU_STREAM_PER_THREAD" : "cudaStreamPerThread";
	return sw_names_format(names, "stream%u", info->number);
}
