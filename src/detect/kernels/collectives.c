/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/collectives.h"

#include <stdlib.h>

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/model/call.h"
#include "detect/model/model.h"

/* Ranks put so many operations into a group at most (an all-to-all of 2,048 ranks by hand); a thread with more is given
   up until the group ends: its launches are judged by their code. */
#define MAX_OPEN 4096u

#define MAX_RANGES 4

/* One operation that was said and is not launched yet, or whose call has not returned. */
struct open_op {
	uint32_t thread;
	uint64_t stream, handle;
	uint32_t n; /* ranges; 0 with `vague` */
	bool vague; /* the arguments do not say: a type or a size that is unknown */
	struct sw_range ranges[MAX_RANGES];
};

/* A thread inside a call that launches: a collective of its own, or the end of a group. */
struct launching {
	uint32_t thread;
	uint64_t begin; /* its record */
};

struct sw_collectives {
	SW_VEC(struct open_op) open;
	SW_VEC(struct launching) launching;
	SW_VEC(uint32_t) overflowed; /* threads whose group has more than MAX_OPEN */
};

/* The collectives (NCCL) that threads asked for and that are not launched yet. */
struct sw_collectives *sw_collectives_new(void)
{
	return sw_calloc(1, sizeof(struct sw_collectives));
}

void sw_collectives_free(struct sw_collectives *c)
{
	free(c->open.at);
	free(c->launching.at);
	free(c->overflowed.at);
	free(c);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Bytes of ncclDataType_t (wrappers.c 2.30); 0: a type of later versions. */
static uint64_t type_bytes(uint32_t type)
{
	static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
	return type < sizeof bytes ? bytes[type] : 0;
}

/* Adds a buffer of the operation; none for a null pointer or an empty one. */
static void add_range(struct open_op *op, uint64_t address, uint64_t bytes, enum sw_role role)
{
	if (address && bytes && op->n < MAX_RANGES)
		op->ranges[op->n++] = sw_range_bytes(address, bytes, role, SW_EV_EXACT);
}

/* Adds the write of the parts of all ranks, which lie one after the other; an own part that is sent in place is not
   written. */
static void add_parts(struct open_op *op, const struct sw_rec_collective *c, uint64_t part)
{
	const uint64_t own = c->receive + c->rank * part;
	if (c->send != own) {
		add_range(op, c->receive, part * c->size, SW_WRITE);
		return;
	}
	add_range(op, c->receive, c->rank * part, SW_WRITE);
	add_range(op, own + part, (c->size - c->rank - 1) * part, SW_WRITE);
}

/* Adds the ranges that a collective reads and writes on this rank.  NCCL's user guide, "Collective Operations": which
   buffers each operation uses, and what "in-place" means for it. */
static void find_ranges(struct open_op *op, const struct sw_rec_collective *c)
{
	const uint64_t bytes = c->count * type_bytes(c->type);
	const bool root = c->root >= 0 && (uint32_t)c->root == c->rank, all = c->op == SW_COLLECTIVE_ALL_TO_ALL;
	switch (c->op) {
	case SW_COLLECTIVE_ALL_REDUCE:
		add_range(op, c->send, bytes, SW_READ);
		add_range(op, c->receive, bytes, SW_WRITE);
		break;
	case SW_COLLECTIVE_BROADCAST:
		if (root)
			add_range(op, c->send, bytes, SW_READ);
		if (!root || c->send != c->receive)
			add_range(op, c->receive, bytes, SW_WRITE);
		break;
	case SW_COLLECTIVE_REDUCE:
		add_range(op, c->send, bytes, SW_READ);
		if (root)
			add_range(op, c->receive, bytes, SW_WRITE);
		break;
	case SW_COLLECTIVE_ALL_GATHER:
		add_range(op, c->send, bytes, SW_READ);
		add_parts(op, c, bytes);
		break;
	case SW_COLLECTIVE_REDUCE_SCATTER:
		add_range(op, c->send, bytes * c->size, SW_READ);
		add_range(op, c->receive, bytes, SW_WRITE);
		break;
	case SW_COLLECTIVE_ALL_TO_ALL:
	case SW_COLLECTIVE_SCATTER:
		if (all || root)
			add_range(op, c->send, bytes * c->size, SW_READ);
		add_range(op, c->receive, all ? bytes * c->size : bytes, SW_WRITE);
		break;
	case SW_COLLECTIVE_GATHER:
		add_range(op, c->send, bytes, SW_READ);
		if (root)
			add_parts(op, c, bytes);
		break;
	case SW_COLLECTIVE_SEND:
		add_range(op, c->send, bytes, SW_READ);
		break;
	case SW_COLLECTIVE_RECEIVE:
		add_range(op, c->receive, bytes, SW_WRITE);
		break;
	default:
		op->vague = true;
	}
}

/* Do the arguments tell which bytes the operation uses: a known element type, and numbers that make sense? */
static bool tells_ranges(const struct sw_rec_collective *c)
{
	const uint64_t bytes = type_bytes(c->type);
	const bool paired = c->op == SW_COLLECTIVE_SEND || c->op == SW_COLLECTIVE_RECEIVE;
	return bytes && c->count <= UINT64_C(1) << 48 &&
	       (paired || (c->size && c->size <= 1u << 20 && c->rank < c->size));
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Forgets all that the thread has open: its call, or its group, has ended. */
static void drop_thread(struct sw_collectives *c, uint32_t thread)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->open.n; i++)
		if (c->open.at[i].thread != thread)
			c->open.at[kept++] = c->open.at[i];
	c->open.n = kept;
	for (size_t i = kept = 0; i < c->launching.n; i++)
		if (c->launching.at[i].thread != thread)
			c->launching.at[kept++] = c->launching.at[i];
	c->launching.n = kept;
	for (size_t i = kept = 0; i < c->overflowed.n; i++)
		if (c->overflowed.at[i] != thread)
			c->overflowed.at[kept++] = c->overflowed.at[i];
	c->overflowed.n = kept;
}

/* Does the thread's group have more operations than are kept?  Its launches are then judged by their code. */
static bool has_overflowed(const struct sw_collectives *c, uint32_t thread)
{
	for (size_t i = 0; i < c->overflowed.n; i++)
		if (c->overflowed.at[i] == thread)
			return true;
	return false;
}

/* Keeps a collective that the thread asked for until the launch that carries it out. */
static void open_op(struct sw_collectives *c, const struct sw_record *r, const struct sw_rec_collective *what)
{
	struct open_op op = {.thread = r->thread, .stream = what->stream, .handle = what->handle};
	if (c->open.n >= MAX_OPEN) {
		if (!has_overflowed(c, r->thread))
			*sw_vec_push(&c->overflowed) = r->thread;
		return;
	}
	op.vague = !tells_ranges(what);
	if (!op.vague)
		find_ranges(&op, what);
	*sw_vec_push(&c->open) = op;
}

void sw_collective_take(struct sw_model *m, const struct sw_record *r)
{
	const struct sw_rec_collective *what = (const struct sw_rec_collective *)(const void *)r->rec;
	struct sw_collectives *c = m->collectives;
	if (r->rec->flags & SW_RF_END) {
		const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
		for (size_t i = 0; i < c->launching.n; i++)
			if (c->launching.at[i].begin == end->begin_seq)
				drop_thread(c, c->launching.at[i].thread);
		return;
	}
	if (what->flags & SW_COLLECTIVE_SIMULATED)
		drop_thread(c, r->thread);
	if (what->op < SW_COLLECTIVE_GROUP_END)
		open_op(c, r, what);
	if (!(what->flags & SW_COLLECTIVE_IN_GROUP) && what->op <= SW_COLLECTIVE_GROUP_END)
		*sw_vec_push(&c->launching) = (struct launching){.thread = r->thread, .begin = r->seq};
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Is the thread in a call that launches its collectives, and are these all known? */
static bool is_launching(const struct sw_collectives *c, uint32_t thread)
{
	for (size_t i = 0; i < c->launching.n; i++)
		if (c->launching.at[i].thread == thread)
			return !has_overflowed(c, thread);
	return false;
}

/*
 * Is the operation one of those that a launch on this stream is made for?  NCCL launches what a communicator was given
 * on several streams of a group on the first of them, and makes the others wait before and after.
 */
static bool launched_with(const struct sw_collectives *c, const struct open_op *op, uint32_t thread, uint64_t stream)
{
	if (op->thread != thread)
		return false;
	if (op->stream == stream)
		return true;
	for (size_t i = 0; i < c->open.n; i++)
		if (c->open.at[i].thread == thread && c->open.at[i].stream == stream &&
		    c->open.at[i].handle == op->handle)
			return true;
	return false;
}

bool sw_collective_launch(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_collectives *c = m->collectives;
	bool any = false;
	if (!c->launching.n || !is_launching(c, r->thread))
		return false;
	for (size_t i = 0; i < c->open.n; i++)
		if (launched_with(c, &c->open.at[i], r->thread, l->stream)) {
			if (c->open.at[i].vague)
				return false;
			any = true;
		}
	/* Several kernels of one call: each counts as touching all, since nothing of the program comes between them. */
	for (size_t i = 0; any && i < c->open.n; i++)
		for (uint32_t k = 0; launched_with(c, &c->open.at[i], r->thread, l->stream) && k < c->open.at[i].n; k++)
			sw_model_touch(m, &w->what, &c->open.at[i].ranges[k], &(struct sw_touch){0});
	return any;
}
