/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/access.h"

#include <stdbool.h>

#include "base/hash.h"
#include "base/saturate.h"

struct sw_interval *sw_intervals_from(const struct sw_intervals *set, uint64_t x)
{
	struct sw_interval *best = NULL;
	for (struct sw_interval *at = set->root; at;) {
		if (at->hi > x) {
			best = at;
			at = at->left;
		} else {
			at = at->right;
		}
	}
	return best;
}

/* Cuts a tree into what starts before the node and the rest, and links the node to its neighbours. */
static void split_tree(struct sw_interval *tree, struct sw_interval *node)
{
	struct sw_interval **before = &node->left, **after = &node->right;
	while (tree) {
		if (tree->lo < node->lo) {
			*before = node->before = tree;
			before = &tree->right;
			tree = tree->right;
		} else {
			*after = node->after = tree;
			after = &tree->left;
			tree = tree->left;
		}
	}
	*before = *after = NULL;
}

void sw_intervals_insert(struct sw_intervals *set, struct sw_interval *node)
{
	struct sw_interval **at = &set->root;
	node->priority = sw_hash_u64(++set->made);
	node->before = node->after = NULL;
	while (*at && (*at)->priority >= node->priority) {
		bool above = node->lo < (*at)->lo;
		*(above ? &node->after : &node->before) = *at;
		at = above ? &(*at)->left : &(*at)->right;
	}
	split_tree(*at, node);
	*at = node;
	if (node->before)
		node->before->after = node;
	if (node->after)
		node->after->before = node;
	set->n++;
}

/* Removes the node from the set; nothing happens if it is not there. */
void sw_intervals_remove(struct sw_intervals *set, struct sw_interval *node)
{
	struct sw_interval **at = &set->root, *left = node->left, *right = node->right;
	while (*at && *at != node)
		at = node->lo < (*at)->lo ? &(*at)->left : &(*at)->right;
	if (!*at)
		return;
	if (node->before)
		node->before->after = node->after;
	if (node->after)
		node->after->before = node->before;
	while (left && right) {
		if (left->priority >= right->priority) {
			*at = left;
			at = &left->right;
			left = left->right;
		} else {
			*at = right;
			at = &right->left;
			right = right->left;
		}
	}
	*at = left ? left : right;
	set->n--;
}

/* Hostile traces describe boxes of 2^64 rows: more than this is not walked (header: missed, never invented). */
#define SW_MAX_ROWS 65536u

struct sw_range sw_range_bytes(uint64_t address, uint64_t bytes, enum sw_role role, enum sw_evidence evidence)
{
	return (struct sw_range){.address = address,
				 .base = address,
				 .width = bytes,
				 .pitch = bytes,
				 .rows = 1,
				 .slice = bytes,
				 .slices = 1,
				 .role = role,
				 .evidence = evidence,
				 .param = -1,
				 .bounded = true};
}

struct sw_range sw_range_open(uint64_t address, enum sw_role role, enum sw_evidence evidence, int32_t param)
{
	struct sw_range range = sw_range_bytes(address, 0, role, evidence);
	range.param = param;
	range.bounded = false;
	return range;
}

struct sw_range sw_range_box(uint64_t address, const uint64_t size[3], uint64_t pitch, uint64_t slice,
			     enum sw_role role, enum sw_evidence evidence)
{
	struct sw_range range = sw_range_bytes(address, size[0], role, evidence);
	if (size[1] > 1 && pitch != size[0]) {
		range.rows = size[1];
		range.pitch = pitch;
		range.slice = sw_saturate_mul(pitch, size[1]);
	} else if (size[1] > 1) {
		range.width = range.pitch = range.slice = sw_saturate_mul(size[0], size[1]);
	}
	if (size[2] > 1 && (range.rows > 1 || slice != range.width)) {
		range.slices = size[2];
		range.slice = slice;
	} else if (size[2] > 1) {
		range.width = range.pitch = range.slice = sw_saturate_mul(range.width, size[2]);
	}
	return range;
}

uint64_t sw_range_span(const struct sw_range *r)
{
	if (!r->width)
		return 0;
	return sw_saturate_add(r->width, sw_saturate_add(sw_saturate_mul(r->pitch, r->rows - 1),
							 sw_saturate_mul(r->slice, r->slices - 1)));
}

/* Does a row of one slice share a byte with [lo, lo + bytes)?  All offsets are from the first byte of the slice. */
static bool rows_meet(const struct sw_range *r, __int128 lo, __int128 bytes)
{
	if (lo + bytes <= 0)
		return false;
	if (r->rows == 1 || !r->pitch)
		return lo < (__int128)r->width;
	__int128 row = lo > 0 ? lo / r->pitch : 0;
	for (int i = 0; i < 2; i++, row++)
		if (row < r->rows && lo < row * r->pitch + r->width && row * r->pitch < lo + bytes)
			return true;
	return false;
}

/* Does a box share a byte with the absolute addresses [lo, lo + bytes)? */
static bool box_meets(const struct sw_range *r, __int128 lo, __int128 bytes)
{
	__int128 at = lo - r->address, plane = sw_saturate_add(sw_saturate_mul(r->pitch, r->rows - 1), r->width);
	if (r->slices == 1 || !r->slice)
		return rows_meet(r, at, bytes);
	__int128 first = at > plane ? (at - plane) / r->slice : 0;
	for (__int128 s = first; s < r->slices && s - first < SW_MAX_ROWS && s * r->slice < at + bytes; s++)
		if (rows_meet(r, at - s * r->slice, bytes))
			return true;
	return false;
}

/* a / b rounded down, for b > 0. */
static __int128 floor_div(__int128 a, __int128 b)
{
	return a / b - (a % b < 0);
}

/* Do rows of two planes (2D boxes) with one pitch share a byte, where b's first byte lies d bytes after a's?  They do
   if some k, a row of a less a row of b, has k * pitch between d - a's width and d + b's width. */
static bool planes_meet(const struct sw_range *a, const struct sw_range *b, __int128 d)
{
	__int128 pitch = a->rows > 1 ? a->pitch : b->pitch;
	if (!pitch)
		pitch = 1;
	__int128 low = floor_div(d - a->width, pitch) + 1, high = floor_div(d + b->width - 1, pitch);
	if (low < 1 - (__int128)b->rows)
		low = 1 - (__int128)b->rows;
	if (high > (__int128)a->rows - 1)
		high = (__int128)a->rows - 1;
	return low <= high;
}

/* Do the rows and slices of the two boxes repeat at the same distances? */
static bool same_grid(const struct sw_range *a, const struct sw_range *b)
{
	return (a->rows == 1 || b->rows == 1 || a->pitch == b->pitch) &&
	       (a->slices == 1 || b->slices == 1 || a->slice == b->slice);
}

bool sw_range_overlap(const struct sw_range *a, const struct sw_range *b)
{
	uint64_t spans[] = {sw_range_span(a), sw_range_span(b)};
	__int128 d = (__int128)b->address - a->address;
	if (!spans[0] || !spans[1] || d >= spans[0] || -d >= spans[1])
		return false;
	if (sw_range_dense(a))
		return sw_range_dense(b) || box_meets(b, a->address, a->width);
	if (sw_range_dense(b))
		return box_meets(a, b->address, b->width);
	if (same_grid(a, b) && a->slices < SW_MAX_ROWS && b->slices < SW_MAX_ROWS) {
		__int128 slice = a->slices > 1 ? a->slice : b->slice;
		for (__int128 s = 1 - (__int128)b->slices; s < (__int128)a->slices; s++)
			if (planes_meet(a, b, d - s * slice))
				return true;
		return false;
	}
	const struct sw_range *few = sw_saturate_mul(a->rows, a->slices) < sw_saturate_mul(b->rows, b->slices) ? a : b,
			      *many = few == a ? b : a;
	uint64_t left = SW_MAX_ROWS;
	for (uint64_t s = 0; s < few->slices && left; s++)
		for (uint64_t r = 0; r < few->rows && left; r++, left--)
			if (box_meets(many,
				      (__int128)few->address + (__int128)s * few->slice + (__int128)r * few->pitch,
				      few->width))
				return true;
	return false;
}

bool sw_range_has_rows_apart(const struct sw_range *range)
{
	return sw_range_dense(range) ||
	       (range->pitch >= range->width && (range->slices == 1 || range->slice / range->rows >= range->pitch));
}

/* ---- within a part of the memory --------------------------------------------------------------------------------- */

/* Do consecutive bytes and another range share a byte in [lo, hi)? */
static bool bytes_meet_within(const struct sw_range *bytes, const struct sw_range *other, uint64_t lo, uint64_t hi)
{
	uint64_t from = bytes->address, to = sw_saturate_add(from, bytes->width);
	from = from > lo ? from : lo;
	to = to < hi ? to : hi;
	/* Role and evidence do not matter to an overlap: other's fill the places. */
	struct sw_range part = sw_range_bytes(from, to - from, other->role, other->evidence);
	return from < to && sw_range_overlap(&part, other);
}

/* Do a box with rows apart and another range share a byte in [lo, hi)?  Slices, then rows, that are cut by the bounds
   are compared by their parts; those between are whole. */
static bool box_meets_within(const struct sw_range *box, const struct sw_range *other, uint64_t lo, uint64_t hi)
{
	const bool sliced = box->slices > 1;
	const uint64_t n = sliced ? box->slices : box->rows, apart = sliced ? box->slice : box->pitch;
	if (hi <= box->address)
		return false;
	if (n == 1)
		return bytes_meet_within(box, other, lo, hi);
	uint64_t first = lo > box->address ? (lo - box->address) / apart : 0, last = (hi - 1 - box->address) / apart;
	last = last < n ? last : n - 1;
	if (first > last)
		return false;
	struct sw_range part = *box;
	uint64_t *parts = sliced ? &part.slices : &part.rows;
	*parts = 1;
	for (int i = 0; i < 2; i++) {
		part.address = box->address + (i ? last : first) * apart;
		if (box_meets_within(&part, other, lo, hi))
			return true;
	}
	part.address = box->address + (first + 1) * apart;
	*parts = last - first - 1;
	return last > first + 1 && sw_range_overlap(&part, other);
}

bool sw_range_overlap_within(const struct sw_range *a, const struct sw_range *b, uint64_t lo, uint64_t hi)
{
	const struct sw_range *cut = sw_range_dense(b) || !sw_range_has_rows_apart(a) ? b : a;
	if (!a->width || !b->width)
		return false;
	return sw_range_has_rows_apart(cut) ? box_meets_within(cut, cut == a ? b : a, lo, hi) : sw_range_overlap(a, b);
}
