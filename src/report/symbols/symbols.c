/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/symbols.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "report/symbols/names.h"
#include "report/symbols/module_names.h"

/* The frames at one address: one, or more where functions are inlined. */
struct place {
	struct sw_frame *frames;
	size_t n;
};

struct sw_symbols {
	const struct sw_reader *reader;
	struct sw_arena arena;
	struct sw_map stacks; /* stack -> struct sw_symbol_frames */
	struct sw_map places; /* module and address -> struct place */
	struct sw_module_names names;
	struct sw_map asked; /* struct sw_named_file -> 1 */
	SW_VEC(const struct sw_named_file *) unusable;
	SW_VEC(const char *) complaints;
};

/* Names for the frames of a trace. */
struct sw_symbols *sw_symbols_new(const struct sw_reader *reader)
{
	struct sw_symbols *symbols = sw_calloc(1, sizeof *symbols);
	symbols->reader = symbols->names.reader = reader;
	return symbols;
}

/* Frees all names; NULL is allowed. */
void sw_symbols_free(struct sw_symbols *symbols)
{
	if (!symbols)
		return;
	sw_module_names_free(&symbols->names);
	sw_map_free(&symbols->stacks);
	sw_map_free(&symbols->places);
	sw_map_free(&symbols->asked);
	free(symbols->unusable.at);
	sw_arena_free(&symbols->arena);
	free(symbols->complaints.at);
	free(symbols);
}

const char *sw_symbols_complaint(const struct sw_symbols *symbols, size_t index)
{
	return index < symbols->complaints.n ? symbols->complaints.at[index] : NULL;
}

/* Files whose names could not be used, by index; NULL ends. */
const struct sw_named_file *sw_symbols_unusable(const struct sw_symbols *symbols, size_t index)
{
	return index < symbols->unusable.n ? symbols->unusable.at[index] : NULL;
}

/* The last part of the path. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Moves a malloc'ed string into the arena. */
static const char *keep_text(struct sw_symbols *symbols, char *text)
{
	const char *kept = sw_arena_strndup(&symbols->arena, text, strlen(text));
	free(text);
	return kept;
}

/* The role of a native frame in a stack (the program's own, a runtime's, a library's), by module, function and file. */
static enum sw_frame_role role_of(const struct sw_frame *frame)
{
	static const struct {
		enum sw_frame_role role;
		const char *module, *function, *file;
	} rules[] = {
#define SW_FRAME(role, module, function, file) {SW_FRAME_##role, module, function, file},
#include "report/symbols/frames.def"
#undef SW_FRAME
	};
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (fnmatch(rules[i].module, frame->module, 0) == 0 &&
		    fnmatch(rules[i].function, frame->base ? frame->base : "", 0) == 0 &&
		    fnmatch(rules[i].file, frame->file ? frame->file : "", 0) == 0)
			return rules[i].role;
	return SW_FRAME_USER;
}

/* Is the module a file?  An object that the kernel maps into every process ("linux-vdso.so.1", "[vdso]") is none that
   could be missing. */
static bool is_file(const struct sw_trace_module *module)
{
	return module->path[0] == '/';
}

/* Notes, once, that the file of a module gives no names. */
static void note_file(struct sw_symbols *symbols, const struct sw_trace_module *module)
{
	const struct sw_named_file *file = sw_module_names_file(&symbols->names, module);
	uint64_t *asked = sw_map_put(&symbols->asked, (uint64_t)(uintptr_t)file);
	if (*asked || file->state == SW_OBJECT_USABLE)
		return;
	*asked = 1;
	if (is_file(module))
		*sw_vec_push(&symbols->unusable) = file;
	if (file->state == SW_OBJECT_CHANGED)
		*sw_vec_push(&symbols->complaints) = keep_text(
			symbols, sw_format("%s was changed since the run (other build-id): its frames have no names",
					   module->path));
}

/* Notes, once, that reading the module's file was given up: it is damaged, or made to harm. */
static void note_trouble(struct sw_symbols *symbols, const struct sw_trace_module *module)
{
	const struct sw_named_file *file = sw_module_names_file(&symbols->names, module);
	const char *trouble = file->object ? sw_object_trouble(file->object) : NULL;
	if (!trouble)
		return;
	uint64_t *asked = sw_map_put(&symbols->asked, (uint64_t)(uintptr_t)file | 1);
	if (!*asked)
		*sw_vec_push(&symbols->complaints) =
			keep_text(symbols, sw_format("%s: its names cannot be read: %s", module->path, trouble));
	*asked = 1;
}

struct collect {
	struct sw_symbols *symbols;
	SW_VEC(struct sw_frame) frames;
};

/* Adds a frame that the debug information has at the address. */
static void collect_place(void *arg, const struct sw_object_place *place)
{
	struct collect *c = arg;
	struct sw_frame *frame = sw_vec_push(&c->frames);
	*frame = (struct sw_frame){.line = place->line, .inlined = place->inlined};
	if (place->file)
		frame->file = sw_arena_strndup(&c->symbols->arena, place->file, strlen(place->file));
	if (place->symbol) {
		frame->symbol = sw_arena_strndup(&c->symbols->arena, place->symbol, strlen(place->symbol));
		frame->function = keep_text(c->symbols, sw_demangle(place->symbol));
		frame->base = keep_text(c->symbols, sw_demangled_base(frame->function));
	}
}

/* A key for an address of a module, by which its frames are kept. */
static uint64_t place_key(const struct sw_trace_module *module, uint64_t ip)
{
	return sw_hash_u64(ip) ^ (uint64_t)(uintptr_t)module;
}

/* Asks of an address of a stack without waiting, unless its frames are known: all new ones of a stack then take one
   turn of the process that reads symbols. */
static void ask_ahead(struct sw_symbols *symbols, uint64_t ip, uint64_t seq)
{
	const struct sw_trace_module *module = sw_reader_module(symbols->reader, ip, seq);
	if (module && !sw_map_ptr(&symbols->places, place_key(module, ip)) && !sw_reader_names(symbols->reader, module))
		sw_object_ahead(module, ip - 1);
}

/* The frames at an address of record `seq`, made at the first question. */
static const struct place *place_of(struct sw_symbols *symbols, uint64_t ip, uint64_t seq)
{
	const struct sw_trace_module *module = sw_reader_module(symbols->reader, ip, seq);
	const uint64_t key = place_key(module, ip);
	struct place *place = sw_map_ptr(&symbols->places, key);
	if (place)
		return place;

	struct collect c = {.symbols = symbols};
	if (module) {
		note_file(symbols, module);
		sw_module_names_at(&symbols->names, module, ip, collect_place, &c);
		note_trouble(symbols, module);
	}
	if (c.frames.n == 0)
		*sw_vec_push(&c.frames) = (struct sw_frame){0};
	place = sw_arena_alloc(&symbols->arena, sizeof *place);
	place->n = c.frames.n;
	place->frames = sw_arena_alloc(&symbols->arena, c.frames.n * sizeof *place->frames);
	for (size_t i = 0; i < c.frames.n; i++) {
		struct sw_frame *frame = &c.frames.at[i];
		frame->ip = ip;
		frame->module = module ? file_name(module->path) : "";
		frame->offset = module ? ip - module->base : 0;
		frame->role = role_of(frame);
		place->frames[i] = *frame;
	}
	free(c.frames.at);
	sw_map_put_ptr(&symbols->places, key, place);
	return place;
}

const struct sw_symbol_frames *sw_symbols_stack(struct sw_symbols *symbols, uint32_t stack)
{
	static const struct sw_symbol_frames none;
	const struct sw_trace_stack *recorded = stack ? sw_reader_stack(symbols->reader, stack) : NULL;
	if (!recorded)
		return &none;
	struct sw_symbol_frames *frames = sw_map_ptr(&symbols->stacks, stack);
	if (frames)
		return frames;

	sw_frame_vec all = {0};
	for (uint32_t i = 0; i < recorded->depth; i++)
		ask_ahead(symbols, recorded->ips[i], recorded->seq);
	for (uint32_t i = 0; i < recorded->depth; i++) {
		const struct place *place = place_of(symbols, recorded->ips[i], recorded->seq);
		for (size_t k = 0; k < place->n; k++)
			*sw_vec_push(&all) = place->frames[k];
	}
	frames = sw_arena_alloc(&symbols->arena, sizeof *frames);
	frames->python = sw_python_frames_join(symbols->reader, recorded, &all);
	frames->n = all.n;
	frames->skipped = !frames->python ? recorded->skipped : recorded->python_cut ? UINT32_MAX : 0;
	if (all.n) {
		struct sw_frame *copy = sw_arena_alloc(&symbols->arena, all.n * sizeof *copy);
		memcpy(copy, all.at, all.n * sizeof *copy);
		frames->at = copy;
	}
	free(all.at);
	sw_map_put_ptr(&symbols->stacks, stack, frames);
	return frames;
}

void sw_symbols_ahead(const struct sw_reader *reader, uint32_t stack)
{
	const struct sw_trace_stack *recorded = stack ? sw_reader_stack(reader, stack) : NULL;
	for (uint32_t i = 0; recorded && i < recorded->depth; i++) {
		const struct sw_trace_module *module = sw_reader_module(reader, recorded->ips[i], recorded->seq);
		if (module && !sw_reader_names(reader, module))
			sw_object_ahead(module, recorded->ips[i] - 1);
	}
}
