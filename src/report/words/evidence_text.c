/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/evidence_text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/names.h"
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

/* The name on the left side of a Python line that makes a stream, "self.copies" of "  self.copies =
   torch.cuda.Stream()"; *length 0: the line makes no stream, or gives it no name. */
static const char *assigned_name(const char *line, size_t *length)
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

/* Length of the scope in a Python function's qualified name: that of "Trainer" in "Trainer.step", 0 for "step". */
static size_t scope_length(const char *function)
{
	const char *dot = strrchr(function, '.');
	return dot ? (size_t)(dot - function) : 0;
}

/* Is a name that one frame's line assigns known at the other? */
static bool is_visible(const struct sw_frame *from, const struct sw_frame *at, bool attribute)
{
	if (!from->file || !at->file || strcmp(from->file, at->file) != 0 || !from->function || !at->function)
		return false;
	if (strcmp(from->function, at->function) == 0)
		return true;
	const size_t class = scope_length(from->function);
	if (attribute)
		return class && class == scope_length(at->function) &&
		       strncmp(from->function, at->function, class) == 0;
	return strcmp(from->function, "<module>") == 0;
}

/* The stream in the words of PyTorch or CuPy: by the name that the program gave it, as far as it is visible at
   `place`. */
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
	const char *name = line ? assigned_name(line, &length) : "";
	if (length && is_visible(made, place, memchr(name, '.', length)))
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

#define SW_WORD(words, index) ((size_t)(index) < sizeof(words) / sizeof((words)[0]) ? (words)[index] : "unknown")

const char *sw_name_source(enum sw_evidence_source_kind source)
{
	static const char *const words[] = {"ptx",     "sass",	  "other_code", "signature",
					    "assumed", "nothing", "annotation"};
	return SW_WORD(words, source);
}

const char *sw_name_via(enum sw_via via)
{
	static const char *const words[] = {"parameter",  "variable", "texture",   "surface",
					    "tensor map", "memory",   "workspace", "operand"};
	return SW_WORD(words, via);
}

const char *sw_name_extent(enum sw_extent extent)
{
	static const char *const words[] = {"box", "hull", "open"};
	return SW_WORD(words, extent);
}

/* ---- which bytes ------------------------------------------------------------------------------------------------- */

/* Was the code read, and does it not say where the access ends? */
static bool open_by_code(const struct sw_access *access)
{
	return !access->extent_known && access->evidence_detail && access->evidence_detail->source;
}

/* Says which texels of an array the access touches: "bytes 0 to 255 of rows 16 to 31 of array 2". */
static const char *texels_of(struct sw_names *names, const struct sw_access *access, const char *name)
{
	if (access->bytes >= SW_ARRAY_LEVEL || !access->bytes)
		return sw_names_format(names, "anywhere in %s", name);
	uint64_t last = access->place + access->bytes - 1, x = access->place % SW_ARRAY_PITCH;
	uint64_t y = access->place % SW_ARRAY_SLICE / SW_ARRAY_PITCH, y1 = last % SW_ARRAY_SLICE / SW_ARRAY_PITCH;
	uint64_t z = access->place % SW_ARRAY_LEVEL / SW_ARRAY_SLICE, z1 = last % SW_ARRAY_LEVEL / SW_ARRAY_SLICE;
	uint64_t level = access->place / SW_ARRAY_LEVEL;
	const char *text = sw_names_format(names, "bytes %" PRIu64 " to %" PRIu64 " of rows %" PRIu64 " to %" PRIu64, x,
					   x + (access->width ? access->width : access->bytes) - 1, y, y1);
	if (z1)
		text = sw_names_format(names, "%s of slices %" PRIu64 " to %" PRIu64, text, z, z1);
	if (level)
		text = sw_names_format(names, "%s of level %" PRIu64, text, level);
	return sw_names_format(names, "%s of %s", text, name);
}

/* Does the access lie in an array (cudaMallocArray), where bytes have no addresses? */
static bool is_array(const struct sw_names *names, const struct sw_access *access)
{
	return names->judgement->allocations.at[access->allocation - 1].memory == SW_MEM_ARRAY;
}

/* The bytes of an access: "bytes 0 to 1023 of allocation 2", or from where on where the end is not known. */
static const char *bytes_of(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_judgement *judgement = names->judgement;
	bool open = open_by_code(access);
	if (access->allocation == 0 || access->allocation > judgement->allocations.n)
		return open ? sw_names_format(names, "from 0x%" PRIx64 " on", access->address)
			    : sw_names_format(names, "%s at 0x%" PRIx64, sw_name_bytes(names, access->bytes),
					      access->address);
	if (is_array(names, access))
		return texels_of(names, access, sw_name_allocation(names, access->allocation));
	uint64_t base = judgement->allocations.at[access->allocation - 1].address;
	uint64_t from = access->address >= base ? access->address - base : 0;
	const char *name = sw_name_allocation(names, access->allocation);
	if (open)
		return sw_names_format(names, "from byte %" PRIu64 " of %s on", from, name);
	const char *text = sw_names_format(names, "bytes %" PRIu64 " to %" PRIu64 " of %s", from,
					   from + (access->bytes ? access->bytes - 1 : 0), name);
	return access->used_at ? sw_names_format(names, "%s, the same memory as at 0x%" PRIx64, text, access->used_at)
			       : text;
}

/* The text with the reason why the code did not show more. */
static const char *with_reason(struct sw_names *names, const char *text, const struct sw_evidence_detail *ground)
{
	const char *why = ground ? sw_why_text(ground->why) : "";
	return *why ? sw_names_format(names, "%s: %s", text, why) : text;
}

/* "within bytes 0 to 255 of array 2"; what is anywhere is loose already. */
static const char *loosely(struct sw_names *names, const char *word, const char *text)
{
	return strncmp(text, "anywhere ", 9) == 0 ? text : sw_names_format(names, "%s %s", word, text);
}

const char *sw_evidence_extent(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_evidence_detail *ground = access->evidence_detail;
	const char *text = bytes_of(names, access);
	if (open_by_code(access))
		return with_reason(names, loosely(names, "somewhere", text), ground);
	if (!access->extent_known)
		return sw_names_format(names, "%s at most", text);
	if (access->width && access->pitch > access->width && access->pitch != SW_ARRAY_PITCH)
		text = sw_names_format(names, "%s, %" PRIu64 " of every %" PRIu64, text, access->width, access->pitch);
	if (ground && ground->via == SW_VIA_WORKSPACE)
		return loosely(names, "within", text);
	if (ground && ground->source && ground->extent != SW_EXTENT_BOX)
		return with_reason(names, loosely(names, "within", text), ground);
	return text;
}

/* ---- which of them both sides touch -------------------------------------------------------------------------------
 */

/* Bytes of an element of the type that `length` characters name, and *name without what follows them; 0: not one of
   these. */
static size_t element_bytes(const char *type, size_t length, const char **name)
{
	static const struct {
		const char *name;
		size_t bytes;
	} elements[] = {{"float", 4},
			{"double", 8},
			{"int", 4},
			{"unsigned int", 4},
			{"long", 8},
			{"short", 2},
			{"unsigned short", 2},
			{"unsigned long", 8},
			{"__half", 2},
			{"__nv_bfloat16", 2},
			{"float2", 8},
			{"float4", 16},
			{"int4", 16},
			{"double2", 16},
			{"long long", 8},
			{"unsigned long long", 8}};
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
		if (strlen(elements[i].name) == length && strncmp(type, elements[i].name, length) == 0) {
			*name = elements[i].name;
			return elements[i].bytes;
		}
	return 0;
}

/* Bytes of an element of the parameter that an access goes through, by the kernel's signature; 0 unknown.
 *name: the element's type. */
static size_t element_of(struct sw_names *names, const struct sw_access *access, const char **name)
{
	const char *whole = access->function ? sw_name_kernel(names, access->function, true) : "";
	const struct sw_evidence_detail *ground = access->evidence_detail;
	const char *at = strrchr(whole, '(');
	if (!at || access->param < 0 || (ground && ground->via != SW_VIA_PARAMETER))
		return 0;
	int depth = 0, index = 0;
	const char *type = ++at;
	for (; *at && (depth || (*at != ')' && (*at != ',' || index < access->param))); at++) {
		depth += *at == '<';
		depth -= *at == '>';
		if (!depth && *at == ',') {
			index++;
			type = at + 1;
		}
	}
	if (index != access->param || at == type || at[-1] != '*')
		return 0;
	while (*type == ' ')
		type++;
	size_t length = (size_t)(at - 1 - type);
	if (length > 6 && strncmp(type + length - 6, " const", 6) == 0)
		length -= 6;
	return element_bytes(type, length, name);
}

const char *sw_evidence_overlap(struct sw_names *names, const struct sw_finding *finding)
{
	const struct sw_access *a = finding->access[0], *b = finding->access[1];
	const uint32_t n = names->judgement->allocations.n < UINT32_MAX ? (uint32_t)names->judgement->allocations.n : 0;
	if (finding->accesses < 2 || !a->ranged || !b->ranged || !a->allocation || a->allocation != b->allocation ||
	    a->allocation > n || is_array(names, a))
		return "";
	uint64_t from = a->address > b->address ? a->address : b->address;
	uint64_t a_end = a->address + a->bytes, b_end = b->address + b->bytes, end = a_end < b_end ? a_end : b_end;
	uint64_t base = names->judgement->allocations.at[a->allocation - 1].address;
	bool known = a->extent_known && b->extent_known && !a->width && !b->width;
	const char *element = NULL;
	if (from >= end || from < base)
		return "";
	size_t bytes = element_of(names, b, &element);
	bytes = bytes ? bytes : element_of(names, a, &element);
	const char *text = sw_names_format(names, "%sbytes %" PRIu64 "-%" PRIu64 " of %s", known ? "" : "within ",
					   from - base, end - 1 - base, sw_name_allocation(names, a->allocation));
	uint64_t count = bytes && known && (end - from) % bytes == 0 ? (end - from) / bytes : 0;
	if (count == 1)
		return sw_names_format(names, "%s (one %s)", text, element);
	return count ? sw_names_format(names, "%s (%" PRIu64 " of type %s)", text, count, element) : text;
}

/* ---- how that is known ------------------------------------------------------------------------------------------- */

/* Says through what the access came: "parameter 3", "the texture in parameter 2", "variable counter"; "" if unknown. */
static const char *way_of(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_evidence_detail *ground = access->evidence_detail;
	const char *parameter = access->param >= 0 ? sw_names_format(names, "parameter %d", access->param) : "";
	if (!ground || ground->via == SW_VIA_PARAMETER)
		return parameter;
	if (ground->via == SW_VIA_SYMBOL) {
		char *name = ground->symbol ? sw_demangle(ground->symbol) : NULL;
		const char *way = name ? sw_names_format(names, "variable %s", name) : "a variable";
		free(name);
		return way;
	}
	if (ground->via == SW_VIA_MEMORY)
		return sw_names_format(names, "a pointer in memory%s%s", *parameter ? " at " : "", parameter);
	const char *object = sw_name_via(ground->via);
	return *parameter ? sw_names_format(names, "the %s in %s", object, parameter)
			  : sw_names_format(names, "a %s", object);
}

/* How the kernel's code shows the access: the source, the instruction, and the parameter. */
static const char *by_code(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_evidence_detail *ground = access->evidence_detail;
	const char *way = way_of(names, access), *mnemonic = ground->mnemonic ? ground->mnemonic : "";
	const char *via = *way ? sw_names_format(names, "%svia %s", *mnemonic ? " " : "", way) : "";
	const char *text =
		sw_names_format(names, "%s sm_%u", ground->source == SW_SOURCE_PTX ? "PTX" : "SASS", ground->arch);
	if (*mnemonic || *via)
		text = sw_names_format(names, "%s (%s%s)", text, mnemonic, via);
	if (ground->polls)
		text = sw_names_format(names, "%s, may poll or signal", text);
	if (ground->other_code)
		text = sw_names_format(names, "%s, not the code that ran", text);
	if (!ground->polls && access->signals)
		text = sw_names_format(names,
				       "%s; the kernel may signal by a flag elsewhere: who waits for it is in "
				       "order, which is not followed",
				       text);
	return text;
}

const char *sw_evidence_instruction(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_evidence_detail *ground = access->evidence_detail;
	if (!ground || !ground->source || !ground->mnemonic || !*ground->mnemonic)
		return "its first access of that memory";
	const char *way = way_of(names, access);
	const char *text = sw_names_format(names, "its %s%s%s", ground->mnemonic, *way ? " via " : "", way);
	return ground->source == SW_SOURCE_PTX
		       ? sw_names_format(names, "%s (line %u of its PTX)", text, ground->place)
		       : sw_names_format(names, "%s (at 0x%x of its machine code)", text, ground->place);
}

/* The evidence of an access whose kernel's code is not known: what was assumed, and why there was no code. */
static const char *by_name(struct sw_names *names, const struct sw_access *access, const char *what)
{
	const char *way = way_of(names, access);
	const char *unread =
		access->evidence_detail && access->evidence_detail->unread ? access->evidence_detail->unread : "";
	if (!*way && !*unread)
		return what;
	return sw_names_format(names, "%s (%s%s%s)", what, unread, *way && *unread ? ", " : "", way);
}

const char *sw_evidence_source(struct sw_names *names, const struct sw_access *access)
{
	if (access->evidence_detail && access->evidence_detail->source)
		return by_code(names, access);
	if (access->evidence_detail && access->evidence_detail->via == SW_VIA_WORKSPACE)
		return "a workspace that the library was given: by its documentation any call may write all of it";
	if (access->evidence_detail && access->evidence_detail->via == SW_VIA_OPERAND)
		return "an operand of the library's call, by its arguments";
	switch (access->evidence) {
	case SW_EV_ASSUMED:
		return by_name(names, access, "assumed read+write");
	case SW_EV_SIGNATURE:
		return by_name(names, access,
			       access->role == SW_READ ? "const pointer in signature" : "pointer in signature");
	default:
		return sw_name_evidence(access->evidence);
	}
}

const char *sw_evidence_coverage(struct sw_names *names, const struct sw_coverage *coverage)
{
	static const char *const words[] = {"PTX",	 "SASS",    "code that is not what ran",
					    "signature", "assumed", "without code and without pointers",
					    "annotated"};
	const char *text = "";
	for (int i = 0; i < SW_BY_SOURCES; i++)
		if (coverage->kernels_by_source[i])
			text = sw_names_format(names, "%s%s%" PRIu64 " %s", text, *text ? ", " : "",
					       coverage->kernels_by_source[i], words[i]);
	uint64_t bounded = coverage->kernels_by_evidence[SW_EV_FOOTPRINT] + coverage->kernels_by_evidence[SW_EV_EXACT];
	return bounded ? sw_names_format(names, "%s; all extents known for %" PRIu64, text, bounded) : text;
}
