/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses touch which bytes, and which two of them conflict: doc/findings.md, without regard to cost. */
#include <stdlib.h>
#include <string.h>

#include "chain.h"

static const uint64_t address[SLOTS] = {0x7f0000000000, 0x7f1000000000, 0x7e0000000000, 0x600000,
					0x7f2000000000, 0x7f3000000000, 0x7f4000000000};
static const enum sw_memory memory[SLOTS] = {SW_MEM_DEVICE, SW_MEM_DEVICE, SW_MEM_PINNED, SW_MEM_PAGEABLE,
					     SW_MEM_ASYNC,  SW_MEM_SYMBOL, SW_MEM_MAPPED};
#define ALIAS_OFFSET 0x100001000ull

uint64_t slot_address(const struct chain_range *range)
{
	return address[range->slot] + (range->alias ? ALIAS_OFFSET : 0) + range->at;
}

bool slot_is_device(uint8_t slot)
{
	return slot != SLOT_PINNED && slot != SLOT_PAGEABLE;
}

bool slot_is_pinned(const struct truth *truth, uint8_t slot)
{
	return slot == SLOT_PINNED && truth->slot[slot].alive;
}

static int alias_of(const struct truth *truth, const struct chain_range *range)
{
	return range->slot == SLOT_MAPPED && range->alias ? truth->aliases : 0;
}

static bool has(const struct touch *t, unsigned byte)
{
	return t->bytes[byte / 64] >> byte % 64 & 1;
}

static bool writes(const struct touch *t)
{
	return t->role != SW_READ;
}

static bool same_box(const struct touch *a, const struct touch *b)
{
	return a->start == b->start && a->width == b->width && a->pitch == b->pitch && a->rows == b->rows &&
	       a->bounded == b->bounded;
}

static int worth(const struct touch *t)
{
	return t->bounded ? 3 : (int)t->evidence;
}

/* May x stand for m on the bytes of x?  What conflicts with m there, and is not ordered after it, conflicts with x
   and is not ordered after x either; and is reported no weaker. */
static bool stands_for(const struct truth *truth, const struct touch *x, const struct touch *m)
{
	return oracle_ordered(&truth->order, m->node, x->node) == SW_ORDER_DOCUMENTED && (writes(x) || !writes(m)) &&
	       worth(x) >= worth(m) && (x->bounded || x->start == m->start) && (x->rows == 1 || same_box(x, m)) &&
	       (!x->may || m->may);
}

/* The one rule by which an access may be forgotten: of the bytes that m shares with y, each was touched after m by an
   access that may stand for m there.  Only the nearest conflicting accesses must be reported.  Nodes of
   one launch are one step: which of them comes last does not matter. */
static bool hidden(const struct truth *truth, const struct touch *m, const struct touch *y)
{
	for (unsigned byte = 0; byte < SLOT_BYTES; byte++) {
		bool taken = !has(m, byte) || !has(y, byte);
		for (const struct touch *x = truth->touch; x < truth->touch + truth->touches && !taken; x++)
			taken = x != y && x != m && (x > m || x->node == m->node) && x->block == m->block &&
				has(x, byte) && stands_for(truth, x, m);
		if (!taken)
			return false;
	}
	return true;
}

static bool starts_in(const struct touch *open, const struct touch *other)
{
	return !open->bounded && (open->start == other->start || (other->bounded && has(other, open->start)));
}

/* doc/findings.md, "Severity: the matrix". */
static int strength(const struct touch *m, const struct touch *y)
{
	if (m->bounded && y->bounded)
		return SW_ERROR * 3 + SW_CERTAIN;
	if (m->evidence == SW_EV_ASSUMED || y->evidence == SW_EV_ASSUMED || (!starts_in(m, y) && !starts_in(y, m)))
		return SW_NOTE * 3 + SW_POSSIBLE;
	return SW_WARNING * 3 + SW_LIKELY;
}

static void add_pair(struct truth *truth, struct pair pair)
{
	if (truth->pairs == MAX_PAIRS)
		abort();
	truth->pair[truth->pairs++] = pair;
}

static int hazard(const struct touch *m, const struct touch *y, enum sw_memory kind)
{
	if (y->role == SW_FREE)
		return kind == SW_MEM_PINNED ? SW_FINDING_HOST_IN_FLIGHT : SW_FINDING_USE_AFTER_FREE;
	if (m->host || y->host)
		return SW_FINDING_HOST_IN_FLIGHT;
	if (m->role == SW_READ)
		return SW_FINDING_RACE_WAR;
	return y->role == SW_WRITE ? SW_FINDING_RACE_WAW : SW_FINDING_RACE_RAW;
}

/* A release is judged as if its own wait for the device were over, by measurement. */
static bool release_covers(const struct truth *truth, const struct touch *m)
{
	for (int v = 0; truth->releasing && v < truth->order.nodes; v++)
		if (nodes_has(truth->releasing, v) && oracle_ordered(&truth->order, m->node, v) != SW_ORDER_NONE)
			return true;
	return false;
}

/* A function of the host's after kernels whose code is not known: they may have written a flag that it polled. */
static bool may_be_told(const struct truth *truth, const struct touch *y)
{
	return y->function && truth->kernels;
}

static void compare(struct truth *truth, const struct touch *m, const struct touch *y, enum sw_memory kind)
{
	bool share = false;
	for (size_t i = 0; i < SLOT_WORDS; i++)
		share |= m->bytes[i] & y->bytes[i];
	enum sw_order order = oracle_ordered(&truth->order, m->node, y->node);
	/* The accesses of a host function come before the work that waits for it, written down before or not. */
	if (y->function && oracle_ordered(&truth->order, y->function - 1, m->node) == SW_ORDER_DOCUMENTED)
		order = SW_ORDER_DOCUMENTED;
	if (y->role == SW_FREE && y->alias && y->alias != m->alias)
		return;
	if (m->block != y->block || !share || (!writes(m) && !writes(y)) || order == SW_ORDER_DOCUMENTED)
		return;
	truth->unordered++;
	struct pair pair = {hazard(m, y, kind), m->op, y->op, strength(m, y), false, false, hidden(truth, m, y)};
	if (y->role == SW_FREE && kind == SW_MEM_ASYNC && pair.strength / 3 != SW_ERROR)
		return; /* memory of pools goes back and forth: certain cases only */
	pair.unsure = may_be_told(truth, y);
	pair.measured = order == SW_ORDER_MEASURED || release_covers(truth, m);
	if (pair.measured)
		pair.strength = SW_NOTE * 3 + pair.strength % 3;
	add_pair(truth, pair);
}

/* Compares the touch with all before it; with `stay` it is there for those after it. */
static void enter(struct truth *truth, const struct touch *touch, enum sw_memory kind, bool stay)
{
	if (truth->touches == MAX_TOUCHES)
		abort();
	struct touch *y = &truth->touch[truth->touches];
	*y = *touch;
	for (size_t i = 0; i < truth->touches; i++)
		compare(truth, &truth->touch[i], y, kind);
	truth->touches += stay;
}

static void set_rows(struct touch *t)
{
	for (unsigned row = 0; row < t->rows; row++)
		for (unsigned i = 0, byte = t->start + row * t->pitch; i < t->width; i++, byte++)
			t->bytes[byte / 64] |= 1ull << byte % 64;
}

/* Freed memory whose place nothing has taken. */
static void after_free(struct truth *truth, const struct touch *t, const struct allocation *a)
{
	int how = t->bounded ? SW_ERROR * 3 + SW_CERTAIN : SW_WARNING * 3 + SW_LIKELY;
	if (a->memory != SW_MEM_ASYNC || t->bounded)
		add_pair(truth, (struct pair){SW_FINDING_USE_AFTER_FREE, a->freed_op, t->op, how, false, false, false});
}

void memory_alloc(struct truth *truth, int op, int node, uint8_t slot)
{
	const struct allocation *old = &truth->slot[slot];
	/* Memory that a pool allocates again comes after its free, in this run. */
	if (node >= 0 && old->freed && old->given_back >= 0)
		for (size_t i = 0; i < MAX_NODES / 64; i++)
			truth->order.node[node].before[1].bits[i] |=
				truth->order.node[old->given_back].before[1].bits[i];
	truth->slot[slot] = (struct allocation){
		.alive = true, .memory = memory[slot], .block = ++truth->blocks, .born = node, .born_op = op};
}

void memory_variable(struct truth *truth, uint8_t slot)
{
	truth->slot[slot] = (struct allocation){
		.alive = true, .memory = memory[slot], .block = ++truth->blocks, .born = -1, .born_op = -1};
}

/* A free that comes before its own allocation: reported where no use of the memory is. */
static void unborn(struct truth *truth, const struct touch *t, const struct allocation *a)
{
	if (!a->alive || a->memory != SW_MEM_ASYNC) /* others are there before any work: no node made them */
		return;
	const enum sw_order order = oracle_ordered(&truth->order, a->born, t->node);
	const bool measured = order == SW_ORDER_MEASURED;
	if (order != SW_ORDER_DOCUMENTED)
		add_pair(truth, (struct pair){.id = SW_FINDING_USE_BEFORE_ALLOC,
					      .a = a->born_op,
					      .b = t->op,
					      .strength = (measured ? SW_NOTE : SW_ERROR) * 3 + SW_CERTAIN,
					      .measured = measured});
}

void memory_free(struct truth *truth, int op, int node, uint8_t slot, bool ordered)
{
	struct allocation *a = &truth->slot[slot];
	struct touch all = {.op = op,
			    .node = node,
			    .block = a->block,
			    .role = SW_FREE,
			    .evidence = SW_EV_EXACT,
			    .bounded = true,
			    .width = SLOT_BYTES,
			    .rows = 1};
	int unordered = truth->unordered;
	set_rows(&all);
	enter(truth, &all, a->memory, false);
	if (ordered && unordered == truth->unordered)
		unborn(truth, &all, a);
	a->given_back = ordered ? node : -1;
	a->alive = false;
	a->freed = a->memory != SW_MEM_PINNED;
	a->freed_op = op;
}

void memory_unmap(struct truth *truth, int op, int node)
{
	struct touch all = {.op = op,
			    .node = node,
			    .block = truth->slot[SLOT_MAPPED].block,
			    .role = SW_FREE,
			    .evidence = SW_EV_EXACT,
			    .bounded = true,
			    .alias = truth->aliases,
			    .width = SLOT_BYTES,
			    .rows = 1};
	set_rows(&all);
	enter(truth, &all, SW_MEM_MAPPED, false);
}

static struct touch box(const struct truth *truth, const struct touch *like, const struct chain_range *range,
			unsigned bytes, unsigned rows)
{
	const struct allocation *a = &truth->slot[range->slot];
	struct touch t = *like;
	bool dense = rows == 1 || range->pitch == bytes;
	t.evidence = like->evidence ? like->evidence : SW_EV_EXACT;
	t.bounded = true;
	t.start = range->at;
	t.alias = alias_of(truth, range);
	t.width = dense ? bytes * rows : bytes;
	t.rows = dense ? 1 : rows;
	t.pitch = dense ? 0 : range->pitch;
	/* Memory that CUDA does not know is the host's: by its address, to the end. */
	t.block = a->alive ? a->block : -1 - 2 * range->slot - range->alias;
	set_rows(&t);
	return t;
}

void memory_beside(struct truth *truth, const struct chain_op *a, int a_op, const struct chain_op *b, int b_op)
{
	static const struct touch read = {.role = SW_READ}, write = {.role = SW_WRITE};
	bool meet = false;
	for (unsigned i = 0; i < 4; i++) {
		const struct chain_range *x = i & 1 ? &a->src : &a->dst, *y = i & 2 ? &b->src : &b->dst;
		if ((i & 1 && a->kind == CHAIN_SET) || (i & 2 && b->kind == CHAIN_SET) || i == 3 ||
		    truth->slot[x->slot].freed || truth->slot[y->slot].freed)
			continue;
		struct touch m = box(truth, i & 1 ? &read : &write, x, a->bytes, a->rows);
		struct touch n = box(truth, i & 2 ? &read : &write, y, b->bytes, b->rows);
		for (size_t w = 0; w < SLOT_WORDS; w++)
			meet |= m.block == n.block && m.bytes[w] & n.bytes[w];
	}
	if (meet)
		add_pair(truth, (struct pair){SW_FINDING_GRAPH_BRANCH_RACE, a_op, b_op, SW_ERROR * 3 + SW_CERTAIN,
					      false, false, false});
}

void memory_box(struct truth *truth, const struct touch *like, const struct chain_range *range, unsigned bytes,
		unsigned rows)
{
	struct allocation *a = &truth->slot[range->slot];
	struct touch t = box(truth, like, range, bytes, rows);
	if (a->freed) {
		after_free(truth, &t, a);
		return;
	}
	unborn(truth, &t, a);
	enter(truth, &t, a->alive ? a->memory : SW_MEM_PAGEABLE, true);
	/* Where the host came by is no start, nor is what code computes. */
	a->starts[range->slot == SLOT_MAPPED && range->alias][t.start] |=
		a->alive && !t.function && t.evidence == SW_EV_EXACT;
}

void memory_pointer(struct truth *truth, const struct touch *like, const struct chain_range *range)
{
	struct allocation *a = &truth->slot[range->slot];
	struct touch t = *like;
	bool *starts = a->starts[range->slot == SLOT_MAPPED && range->alias];
	truth->kernels++;
	t.start = range->at;
	t.alias = alias_of(truth, range);
	t.rows = 1;
	if (a->freed && t.evidence != SW_EV_ASSUMED)
		after_free(truth, &t, a);
	if (!a->alive)
		return;
	t.block = a->block;
	do
		t.width++;
	while (t.start + t.width < SLOT_BYTES && !starts[t.start + t.width]);
	set_rows(&t);
	enter(truth, &t, a->memory, true);
	starts[t.start] = true;
}
