/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/stack.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"

/* Is the frame left out of the stacks that reports show?  `python`: the stack has Python frames, and the interpreter's
   functions say less. */
static bool is_hidden(const struct sw_frame *frame, const char *kernel, bool python)
{
	switch (frame->role) {
	case SW_FRAME_RUNTIME:
	case SW_FRAME_DRIVER:
	case SW_FRAME_RECORDER:
	case SW_FRAME_STUB:
	case SW_FRAME_START:
		return true;
	case SW_FRAME_USER:
		/* The host function that carries the kernel's name is nvcc's: it only launches. */
		return kernel && frame->symbol && strcmp(frame->symbol, kernel) == 0;
	case SW_FRAME_INTERPRETER:
		return python;
	case SW_FRAME_DISPATCH:
	case SW_FRAME_PYTHON:
	case SW_FRAME_PYTHON_LIBRARY:
	case SW_FRAME_PYTHON_GENERATED:
	case SW_FRAME_AUTOGRAD:
		return false;
	}
	return false;
}

#define OWN_NAMELESS 8u /* lines of the program's own frames without names */

/* Is it a frame in a C library without symbols? */
static bool nameless_libc(const struct sw_frame *frame)
{
	return !frame->function && strncmp(frame->module, "libc.so", 7) == 0;
}

/*
 * How many frames remain without those that every program starts with, where a stripped C library does not name them:
 * two in libc and the program's own _start around them, or libc's alone around a thread.
 */
static size_t without_start(const struct sw_symbol_frames *frames)
{
	size_t n = frames->n;
	if (frames->skipped)
		return n;
	if (n >= 2 && !frames->at[n - 1].function && nameless_libc(&frames->at[n - 2]))
		n--;
	while (n && nameless_libc(&frames->at[n - 1]))
		n--;
	return n;
}

bool sw_stack_is_own(const struct sw_names *names, const struct sw_frame *frame)
{
	const struct sw_trace_process *process = sw_reader_process(names->reader);
	const char *slash = process && process->exe ? strrchr(process->exe, '/') : NULL;
	return slash && frame->role == SW_FRAME_USER && strcmp(slash + 1, frame->module) == 0;
}

/* Does the frame go into the line of the one before it? */
static bool folds_into(const struct sw_frame *line, const struct sw_frame *frame)
{
	if (line->role != frame->role || frame->role == SW_FRAME_PYTHON || frame->role == SW_FRAME_PYTHON_GENERATED)
		return false;
	if (frame->role == SW_FRAME_PYTHON_LIBRARY && !line->base)
		return false; /* its code was lost */
	if (frame->role != SW_FRAME_USER)
		return true;
	return !line->function && !frame->function && strcmp(line->module, frame->module) == 0 && frame->module[0];
}

struct sw_stack_view sw_stack_view(struct sw_names *names, uint32_t stack, uint32_t function)
{
	const struct sw_symbol_frames *frames = sw_symbols_stack(names->symbols, stack);
	const struct sw_trace_function *info = function ? sw_reader_function(names->reader, function) : NULL;
	struct sw_stack_view view = {.skipped = frames->skipped};
	if (frames->n == 0)
		return view;
	struct sw_stack_line *lines = sw_arena_alloc(&names->arena, frames->n * sizeof *lines);
	uint32_t own = 0;
	for (size_t i = 0, n = without_start(frames); i < n; i++) {
		const struct sw_frame *frame = &frames->at[i];
		struct sw_stack_line *last = view.n ? &lines[view.n - 1] : NULL;
		if (is_hidden(frame, info ? info->name : NULL, frames->python))
			continue;
		/* The program's own frames are what its author looks for: addr2line names them. */
		own += !frame->function && sw_stack_is_own(names, frame);
		if (last && folds_into(last->frame, frame) && (own > OWN_NAMELESS || !sw_stack_is_own(names, frame))) {
			last->folded++;
			last->mixed |= !frame->module[0] || strcmp(last->frame->module, frame->module) != 0;
		} else {
			lines[view.n++] = (struct sw_stack_line){.frame = frame};
		}
	}
	if (view.n == 0)
		for (; view.n < frames->n; view.n++)
			lines[view.n] = (struct sw_stack_line){.frame = &frames->at[view.n]};
	view.at = lines;
	return view;
}

const struct sw_frame *sw_stack_site(struct sw_names *names, uint32_t stack, uint32_t function)
{
	static const enum sw_frame_role order[] = {SW_FRAME_PYTHON, SW_FRAME_PYTHON_GENERATED, SW_FRAME_PYTHON_LIBRARY,
						   SW_FRAME_AUTOGRAD, SW_FRAME_USER};
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		for (size_t i = 0; i < view.n; i++)
			if (view.at[i].frame->base && view.at[i].frame->role == order[k])
				return view.at[i].frame;
	for (size_t i = 0; i < view.n; i++)
		if (view.at[i].frame->base)
			return view.at[i].frame;
	return NULL;
}

const struct sw_frame *sw_stack_module(struct sw_names *names, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	for (size_t i = 0; i < view.n; i++)
		if (view.at[i].frame->module[0])
			return view.at[i].frame;
	return NULL;
}

/* Is it code that is compiled into the program, but that its author did not write? */
static bool is_foreign_file(const char *file)
{
	static const char *const files[] = {"/usr/include/*", "/usr/local/cuda*", "/opt/cuda*",	 "*/include/c++/*",
					    "*/thrust/*",     "*/cub/*",	  "*/cuda/std/*"};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (fnmatch(files[i], file, 0) == 0)
			return true;
	return false;
}

/* Does the other stack pass the same address? */
static bool is_shared(const struct sw_stack_view *view, const struct sw_frame *frame)
{
	for (size_t i = 0; i < view->n; i++)
		if (view->at[i].frame->ip == frame->ip)
			return true;
	return false;
}

/* A line of one's own beats a library's, a name beats none; Python's line leads, it is where the program was written.
 */
enum { NAMELESS, MACHINERY, NAMED, PYTHON_LIBRARY, OWN, OWN_PYTHON };

/* How well the frame names the place in the program, by the scale above. */
static int frame_quality(const struct sw_frame *frame)
{
	if (frame->file && frame->line && frame->role == SW_FRAME_USER)
		return is_foreign_file(frame->file) ? NAMED : OWN;
	if (!frame->base)
		return NAMELESS;
	switch (frame->role) {
	case SW_FRAME_PYTHON:
		return OWN_PYTHON;
	case SW_FRAME_PYTHON_LIBRARY:
	case SW_FRAME_PYTHON_GENERATED:
	case SW_FRAME_AUTOGRAD:
		return PYTHON_LIBRARY;
	case SW_FRAME_USER:
		return NAMED;
	default:
		return MACHINERY;
	}
}

/* Does a frame that the other side does not have (`best`) beat one that both have?  Yes, unless that one is the
   author's alone. */
static bool is_better(const struct sw_frame *best, const struct sw_frame *shared)
{
	const int a = frame_quality(best), b = frame_quality(shared);
	return a >= b || (a >= OWN && b >= OWN);
}

const struct sw_frame *sw_place_forward(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_trace_stack *own = access->forward ? sw_reader_stack(names->reader, access->stack) : NULL;
	if (!access->forward || (own && own->python_depth && !own->python_waiting))
		return NULL;
	const struct sw_frame *site = sw_stack_site(names, access->forward, 0);
	return site && site->role == SW_FRAME_PYTHON ? site : NULL;
}

const struct sw_frame *sw_place_of(struct sw_names *names, const struct sw_access *access,
				   const struct sw_access *other)
{
	const struct sw_frame *forward = sw_place_forward(names, access);
	if (forward)
		return forward;
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function), against = {0};
	const struct sw_frame *best = NULL, *shared = NULL;
	if (other && other->stack != access->stack)
		against = sw_stack_view(names, other->stack, other->function);
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		const struct sw_frame **slot = is_shared(&against, frame) ? &shared : &best;
		if (frame_quality(frame) > (*slot ? frame_quality(*slot) : 0))
			*slot = frame;
	}
	return best && (!shared || is_better(best, shared)) ? best : shared;
}

const struct sw_frame *sw_place_collective(struct sw_names *names, const struct sw_access *access)
{
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
	const struct sw_frame *outermost = NULL;
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		if (frame->role == SW_FRAME_PYTHON_LIBRARY && frame->file && frame->function &&
		    fnmatch("*/torch/distributed/distributed_c10d.py", frame->file, 0) == 0)
			outermost = frame;
	}
	return outermost;
}

struct sw_access sw_place_launch(const struct sw_access *access)
{
	struct sw_access launch = *access;
	if (!access->node || !access->launch_api)
		return launch;
	launch.kind = SW_REC_GRAPH_LAUNCH;
	launch.api = access->launch_api;
	launch.stack = access->launch_stack;
	launch.function = 0;
	launch.forward = 0;
	launch.node = 0;
	return launch;
}

/* A call that a finding names, in the form of an access. */
static struct sw_access access_of(const struct sw_named_call *call)
{
	return (struct sw_access){.role = SW_CALL,
				  .api = call->api,
				  .flags = call->flags,
				  .seq = call->seq,
				  .stack = call->stack,
				  .param = -1};
}

const char *sw_place_named(struct sw_names *names, const struct sw_named_call *call)
{
	const struct sw_access access = access_of(call);
	const struct sw_frame *place = call->stack ? sw_place_of(names, &access, NULL) : NULL;
	if (place && place->file && place->line)
		return sw_place_brief(names, place);
	return sw_names_format(names, "call %" PRIu64, call->seq);
}

const char *sw_place_brief(struct sw_names *names, const struct sw_frame *frame)
{
	if (!frame)
		return "";
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	if (frame->file && frame->line)
		return sw_names_format(names, "%s:%d", slash ? slash + 1 : frame->file, frame->line);
	if (frame->base && frame->module[0])
		return sw_names_format(names, "%s, %s", frame->base, frame->module);
	return frame->base ? frame->base : "";
}

const char *sw_place_full(struct sw_names *names, const struct sw_frame *frame)
{
	if (frame->file && frame->line)
		return sw_names_format(names, "%s:%d", frame->file, frame->line);
	if (!frame->module[0])
		return sw_names_format(names, "0x%" PRIx64, frame->ip);
	return sw_names_format(names, "(%s+0x%" PRIx64 ")", frame->module, frame->offset);
}

uint64_t sw_place_hash(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_frame *frame = sw_place_of(names, access, NULL);
	if (frame && frame->file && frame->line && (frame->role == SW_FRAME_USER || frame->role == SW_FRAME_PYTHON)) {
		uint64_t hash = sw_hash_bytes(SW_FNV_START, frame->file, strlen(frame->file));
		return sw_hash_u64(hash + (uint64_t)frame->line);
	}
	/* Without a line: the whole stack, as one function of a library serves many callers. */
	return access->stack ? sw_hash_u64((uint64_t)access->stack << 8 | 1) : 0;
}

/* Has the other stack the frame?  Native frames are compared by their addresses: stacks that no report shows need no
   names. */
static bool in_stack(const struct sw_names *names, uint32_t stack, const struct sw_frame *frame)
{
	const struct sw_trace_stack *other = sw_reader_stack(names->reader, stack);
	for (uint32_t i = 0; other && i < other->depth; i++)
		if (other->ips[i] == frame->ip)
			return true;
	if (!other || !other->python_depth ||
	    (frame->role != SW_FRAME_PYTHON && frame->role != SW_FRAME_PYTHON_LIBRARY))
		return false;
	const struct sw_symbol_frames *frames = sw_symbols_stack(names->symbols, stack);
	for (size_t i = 0; i < frames->n; i++)
		if (frames->at[i].ip == frame->ip)
			return true;
	return false;
}

/* The innermost frame in the file that the finding is about, to name the place of a stack with which no other is
   compared; NULL: none is in it. */
static const struct sw_frame *at_home(const struct sw_names *names, const struct sw_stack_view *view)
{
	for (size_t i = 0; i < view->n && names->home; i++)
		if (view->at[i].frame->file && strcmp(view->at[i].frame->file, names->home) == 0)
			return view->at[i].frame;
	return NULL;
}

/* The first frame of this role whose function has a name and that the other stacks do not have; NULL: none. */
static const struct sw_frame *alone_here(const struct sw_names *names, const struct sw_stack_view *view,
					 enum sw_frame_role role, uint32_t stack, const uint32_t *stacks, size_t n)
{
	for (size_t i = 0; i < view->n; i++) {
		const struct sw_frame *frame = view->at[i].frame;
		bool passed_over = !frame->base || frame->role != role;
		for (size_t k = 0; k < n && !passed_over; k++)
			passed_over = stacks[k] != stack && in_stack(names, stacks[k], frame);
		if (!passed_over)
			return frame;
	}
	return NULL;
}

const struct sw_frame *sw_place_made(struct sw_names *names, uint32_t stack, const uint32_t *stacks, size_t n)
{
	struct sw_stack_view view = sw_stack_view(names, stack, 0);
	const struct sw_frame *site = sw_stack_site(names, stack, 0);
	const bool python = site && sw_frame_is_python(site);
	bool alone = true;
	for (size_t k = 0; k < n; k++)
		alone &= stacks[k] == stack;
	const struct sw_frame *made = alone ? at_home(names, &view) : NULL;
	if (!made)
		made = alone_here(names, &view, python ? site->role : SW_FRAME_USER, stack, stacks, n);
	return made ? made : site;
}

/* Adds a text to a hash with its terminator, so that "ab" "c" and "a" "bc" differ. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	return sw_hash_bytes(hash, text, strlen(text) + 1);
}

/* The hash with a number added. */
static uint64_t add_number(uint64_t hash, uint64_t number)
{
	return sw_hash_bytes(hash, &number, sizeof number);
}

/* The hash with a frame added: without addresses, which differ from run to run. */
static uint64_t add_frame(uint64_t hash, const struct sw_frame *frame)
{
	hash = add_text(hash, frame->module);
	if (!frame->function)
		return add_number(hash, frame->offset);
	hash = add_text(hash, frame->function);
	/* The folder of a source file belongs to the machine that built it. */
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	if (frame->file)
		hash = add_text(hash, slash ? slash + 1 : frame->file);
	return add_number(hash, (uint64_t)frame->line);
}

uint64_t sw_fingerprint(struct sw_names *names, const struct sw_finding *finding)
{
	uint64_t hash = add_number(SW_FNV_START, (uint64_t)finding->id);
	for (uint32_t i = 0; i < finding->accesses; i++) {
		const struct sw_access *access = sw_finding_access(finding, i);
		struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
		hash = add_text(hash, sw_name_operation(names, access));
		for (size_t k = 0; k < view.n; k++)
			hash = add_frame(hash, view.at[k].frame);
	}
	return hash;
}

/* Orders two stacks by all their frames, also those that are not shown. */
static int stack_order(struct sw_names *names, uint32_t a, uint32_t b)
{
	const struct sw_symbol_frames *x = sw_symbols_stack(names->symbols, a),
				      *y = sw_symbols_stack(names->symbols, b);
	for (size_t i = 0; i < x->n && i < y->n; i++) {
		int module = strcmp(x->at[i].module, y->at[i].module);
		if (module)
			return module;
		if (x->at[i].offset != y->at[i].offset)
			return x->at[i].offset < y->at[i].offset ? -1 : 1;
		if (x->at[i].line != y->at[i].line)
			return x->at[i].line < y->at[i].line ? -1 : 1;
	}
	return x->n < y->n ? -1 : x->n > y->n;
}

int sw_fingerprint_order(struct sw_names *names, const struct sw_finding *a, const struct sw_finding *b)
{
	int order = 0;
	for (uint32_t i = 0; i < a->accesses && i < b->accesses && !order; i++)
		order = stack_order(names, sw_finding_access(a, i)->stack, sw_finding_access(b, i)->stack);
	return order;
}

uint64_t sw_fingerprint_of_twin(uint64_t fingerprint, uint64_t number)
{
	return number ? add_number(fingerprint, number) : fingerprint;
}
