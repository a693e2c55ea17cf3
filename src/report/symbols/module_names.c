/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/module_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Is the frame CPython's evaluation loop?  Compilers split off what it rarely does: "_PyEval_EvalFrameDefault.cold". */
static bool is_loop(const struct sw_frame *frame)
{
	static const char name[] = "_PyEval_EvalFrameDefault";
	return frame->symbol && strncmp(frame->symbol, name, sizeof name - 1) == 0 &&
	       (!frame->symbol[sizeof name - 1] || frame->symbol[sizeof name - 1] == '.');
}

/* The role of a Python frame in a stack (the program's own, a library's, generated), by file and function. */
static enum sw_frame_role role_of(const struct sw_trace_python_frame *frame)
{
	static const struct {
		enum sw_frame_role role;
		const char *file, *function;
	} rules[] = {
#define SW_PYTHON_FILE(role, file, function) {SW_FRAME_##role, file, function},
#include "report/symbols/python_frames.def"
#undef SW_PYTHON_FILE
	};
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (fnmatch(rules[i].file, frame->file, 0) == 0 && fnmatch(rules[i].function, frame->function, 0) == 0)
			return rules[i].role;
	return SW_FRAME_PYTHON;
}

/* Is it a frame of Python code? */
bool sw_frame_is_python(const struct sw_frame *frame)
{
	return frame->role == SW_FRAME_PYTHON || frame->role == SW_FRAME_PYTHON_LIBRARY ||
	       frame->role == SW_FRAME_PYTHON_GENERATED;
}

/* A number that stands for the place of a Python frame, as an address does for a native one: frames of the same line
   are the same.  No address has bit 63. */
static uint64_t frame_identity(const struct sw_trace_python_frame *frame)
{
	const uint64_t file = sw_hash_bytes(SW_FNV_START, frame->file, strlen(frame->file));
	return sw_hash_u64(sw_hash_bytes(file, frame->function, strlen(frame->function)) + frame->line) | 1ull << 63;
}

/* A Python frame in the form of native ones. */
static struct sw_frame frame_of(const struct sw_trace_python_frame *frame)
{
	return (struct sw_frame){
		.ip = frame_identity(frame),
		.function = frame->function[0] ? frame->function : "(Python)",
		.base = frame->function[0] ? frame->function : NULL,
		.file = frame->file[0] ? frame->file : NULL,
		.line = (int)frame->line,
		.module = "",
		.role = role_of(frame),
	};
}

/* Adds the Python frames of one evaluation loop, from the i-th on; returns the index after them. */
static uint32_t put_loop(const struct sw_trace_stack *stack, uint32_t i, sw_frame_vec *out)
{
	while (i < stack->python_depth) {
		*sw_vec_push(out) = frame_of(&stack->python[i]);
		if (stack->python[i++].entry)
			break;
	}
	return i;
}

/* Index behind the interpreter's last frame, where Python frames go when fewer loops were found than there are. */
static size_t end_of_interpreter(const sw_frame_vec *frames)
{
	size_t n = frames->n;
	while (n && frames->at[n - 1].role != SW_FRAME_INTERPRETER && !is_loop(&frames->at[n - 1]))
		n--;
	return n ? n : frames->n;
}

/* Puts the Python frames where the interpreter's evaluation loops are in the native stack. */
static void join_python(const struct sw_trace_stack *stack, sw_frame_vec *frames)
{
	sw_frame_vec all = {0};
	uint32_t next = 0;
	const size_t end = end_of_interpreter(frames);
	for (size_t i = 0; i < frames->n; i++) {
		if (i == end)
			while (next < stack->python_depth)
				next = put_loop(stack, next, &all);
		if (is_loop(&frames->at[i]))
			next = put_loop(stack, next, &all);
		else
			*sw_vec_push(&all) = frames->at[i];
	}
	while (next < stack->python_depth)
		next = put_loop(stack, next, &all);
	free(frames->at);
	*frames = all;
}

/* Is the frame the outermost of an autograd thread: Engine::thread_init() or thread_main() of
   torch/csrc/autograd/engine.cpp, PythonEngine::thread_init()? */
static bool is_autograd(const struct sw_frame *frame)
{
	return frame->role == SW_FRAME_DISPATCH && frame->base &&
	       fnmatch("torch::autograd::*Engine::thread_*", frame->base, 0) == 0;
}

/* Names the frame that says that it is an autograd thread of PyTorch: such a thread has no Python frame that names a
   place.  False: it is none. */
static bool name_autograd(sw_frame_vec *frames)
{
	for (size_t i = frames->n; i-- > 0;) {
		struct sw_frame *frame = &frames->at[i];
		if (!is_autograd(frame))
			continue;
		frame->role = SW_FRAME_AUTOGRAD;
		frame->function = frame->base = "autograd thread";
		return true;
	}
	return false;
}

/* Adds the Python frames of the thread that called backward(), and waits, after all of its helper thread's.  False: it
   is no such helper. */
static bool join_waiting(const struct sw_trace_stack *stack, sw_frame_vec *frames)
{
	if (!name_autograd(frames))
		return false;
	/* Below the engine there is only what every thread starts with. */
	while (frames->at[frames->n - 1].role != SW_FRAME_AUTOGRAD)
		frames->n--;
	for (uint32_t i = 0; i < stack->python_depth;)
		i = put_loop(stack, i, frames);
	return true;
}

bool sw_python_frames_join(const struct sw_reader *reader, const struct sw_trace_stack *stack, sw_frame_vec *frames)
{
	if (!sw_reader_has_python(reader))
		return false;
	if (stack->python_depth && stack->python_waiting)
		return join_waiting(stack, frames);
	if (stack->python_depth)
		join_python(stack, frames);
	else
		name_autograd(frames);
	return stack->python_depth != 0;
}

/* Key of a module's file: path and build id. */
static uint64_t key_of(const struct sw_trace_module *module)
{
	uint64_t hash = sw_hash_bytes(SW_FNV_START, module->path, strlen(module->path) + 1);
	return sw_hash_bytes(hash, module->build_id, module->build_id_bytes);
}

/* Is this the file of the module? */
static bool is_of(const struct sw_named_file *file, const struct sw_trace_module *module)
{
	uint32_t bytes = module->build_id_bytes;
	return !strcmp(file->path, module->path) && file->build_id_bytes == bytes &&
	       (!bytes || !memcmp(file->build_id, module->build_id, bytes));
}

/* The state of a file whose names were packed. */
static enum sw_object_state state_of(uint32_t packed)
{
	return packed == SW_PACKED_WHOLE     ? SW_OBJECT_USABLE
	       : packed == SW_PACKED_CHANGED ? SW_OBJECT_CHANGED
					     : SW_OBJECT_MISSING;
}

/* Finds where the names of a module come from: those packed in the trace count before this machine's file, so that a
   report is the same everywhere. */
static void open_file(struct sw_module_names *names, struct sw_named_file *file, const struct sw_trace_module *module)
{
	file->packed = sw_reader_names(names->reader, module);
	file->state = file->packed ? state_of(file->packed->state) : SW_OBJECT_MISSING;
	if (file->packed && file->state == SW_OBJECT_USABLE)
		return;
	enum sw_object_state here;
	file->object = sw_object_open(module, &here);
	file->base = module->base;
	if (!file->packed || here == SW_OBJECT_USABLE) {
		file->state = here;
		file->packed = NULL;
	}
}

const struct sw_named_file *sw_module_names_file(struct sw_module_names *names, const struct sw_trace_module *module)
{
	struct sw_named_file *file = sw_map_ptr(&names->modules, (uint64_t)(uintptr_t)module);
	if (file)
		return file;
	uint64_t key = key_of(module);
	/* Different files with one hash take the keys that follow. */
	while ((file = sw_map_ptr(&names->files, key)) && !is_of(file, module))
		key++;
	if (!file) {
		file = sw_calloc(1, sizeof *file);
		*file = (struct sw_named_file){
			.path = module->path, .build_id = module->build_id, .build_id_bytes = module->build_id_bytes};
		open_file(names, file, module);
		*sw_vec_push(&names->all) = file;
		sw_map_put_ptr(&names->files, key, file);
	}
	sw_map_put_ptr(&names->modules, (uint64_t)(uintptr_t)module, file);
	return file;
}

void sw_module_names_at(struct sw_module_names *names, const struct sw_trace_module *module, uint64_t ip,
			void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	const struct sw_named_file *file = sw_module_names_file(names, module);
	uint64_t offset = ip - module->base;
	/* A return address may be the first byte of the next line, or even of the next function: look one byte before.
	 */
	if (file->object) {
		sw_object_places(file->object, file->base + offset - 1, each, arg);
		return;
	}
	const struct sw_trace_frame *frame = sw_trace_names_at(file->packed, offset);
	for (; frame; frame = frame->next)
		each(arg, &(struct sw_object_place){.symbol = frame->symbol,
						    .file = frame->file,
						    .line = (int)frame->line,
						    .inlined = frame->inlined});
}

/* Closes all objects. */
void sw_module_names_free(struct sw_module_names *names)
{
	for (size_t i = 0; i < names->all.n; i++) {
		if (names->all.at[i]->object)
			sw_object_close(names->all.at[i]->object);
		free(names->all.at[i]);
	}
	free(names->all.at);
	sw_map_free(&names->modules);
	sw_map_free(&names->files);
}
