/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/places.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "report/symbols/stack.h"

/* Code that is compiled into the program, but that its author did not write. */
static bool foreign(const char *file)
{
	static const char *const files[] = {"/usr/include/*", "/usr/local/cuda*", "/opt/cuda*",	 "*/include/c++/*",
					    "*/thrust/*",     "*/cub/*",	  "*/cuda/std/*"};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (fnmatch(files[i], file, 0) == 0)
			return true;
	return false;
}

static bool shares(const struct sw_stack_view *view, const struct sw_frame *frame)
{
	for (size_t i = 0; i < view->n; i++)
		if (view->at[i].frame->ip == frame->ip)
			return true;
	return false;
}

/* A line of one's own beats a library's, a name beats none; Python's line leads, it is where the program was written.
 */
enum { NAMELESS, MACHINERY, NAMED, PYTHON_LIBRARY, OWN, OWN_PYTHON };
static int quality(const struct sw_frame *frame)
{
	if (frame->file && frame->line && frame->role == SW_FRAME_USER)
		return foreign(frame->file) ? NAMED : OWN;
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

/* A frame that the other side does not have beats one that both have, unless that one is the author's alone. */
static bool beats(const struct sw_frame *best, const struct sw_frame *shared)
{
	const int a = quality(best), b = quality(shared);
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
		const struct sw_frame **slot = shares(&against, frame) ? &shared : &best;
		if (quality(frame) > (*slot ? quality(*slot) : 0))
			*slot = frame;
	}
	return best && (!shared || beats(best, shared)) ? best : shared;
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

/* Of native frames the addresses will do: stacks that no report shows need no names. */
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

/* Alone, there is nothing to differ from: the innermost frame in the file that the report is about. */
static const struct sw_frame *at_home(const struct sw_names *names, const struct sw_stack_view *view)
{
	for (size_t i = 0; i < view->n && names->home; i++)
		if (view->at[i].frame->file && strcmp(view->at[i].frame->file, names->home) == 0)
			return view->at[i].frame;
	return NULL;
}

/* The first frame of this role that the other stacks do not have. */
static const struct sw_frame *alone_here(const struct sw_names *names, const struct sw_stack_view *view,
					 enum sw_frame_role role, uint32_t stack, const uint32_t *stacks, size_t n)
{
	for (size_t i = 0; i < view->n; i++) {
		const struct sw_frame *frame = view->at[i].frame;
		bool shared = !frame->base || frame->role != role;
		for (size_t k = 0; k < n && !shared; k++)
			shared = stacks[k] != stack && in_stack(names, stacks[k], frame);
		if (!shared)
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
