/* SPDX-License-Identifier: Apache-2.0 */
/* Reaches that adjoin become one where the union is exactly a reach again. */
#include <stdlib.h>

#include "footprint/launch/evaluation/eval.h"

/* A reach is compared with so many after it: a launch on lists of tensors has thousands. */
#define NEIGHBOURS 128

bool sw_root_equal(const struct sw_root *a, const struct sw_root *b)
{
	return a->kind == b->kind && a->weak == b->weak && a->param == b->param && a->span == b->span &&
	       a->symbol == b->symbol;
}

/* Do both do the same kind of access through the same pointer, so that they may become one reach? */
static bool same_kind(const struct sw_reach *a, const struct sw_reach *b)
{
	return a->role == b->role && a->polls == b->polls && a->order == b->order && a->content == b->content &&
	       sw_root_equal(&a->root, &b->root);
}

/* Is it one run of bytes, without gaps? */
static bool is_dense(const struct sw_reach *a)
{
	return a->rows == 1 && a->slices == 1;
}

uint64_t sw_reach_end(const struct sw_reach *a)
{
	return a->address + a->width + a->pitch * (a->rows - 1) + a->slice * (a->slices - 1);
}

/* Makes the reach the run of bytes [from, to). */
static void make_dense(struct sw_reach *a, uint64_t from, uint64_t to)
{
	a->address = from;
	a->width = a->pitch = a->slice = to - from;
	a->rows = a->slices = 1;
}

/* Writes a reach in the simplest way: rows that touch are one, slices of one row each are rows. */
static void normalise_reach(struct sw_reach *a)
{
	if (a->rows > 1 && a->pitch == a->width) {
		a->width *= a->rows;
		a->rows = 1;
		a->pitch = a->width;
	}
	if (a->rows == 1 && a->slices > 1) {
		a->rows = a->slices;
		a->pitch = a->slice;
		a->slices = 1;
		a->slice = a->pitch * a->rows;
		if (a->pitch == a->width)
			make_dense(a, a->address, a->address + a->width * a->rows);
	}
}

/* Extends a row of *count steps by `more` steps that begin `distance` bytes later; false: they are not on the same
   raster, or leave a gap. */
static bool join_steps(uint64_t distance, uint64_t pitch, uint64_t *count, uint64_t more)
{
	if (!pitch || distance % pitch || distance / pitch > *count)
		return false;
	uint64_t last = distance / pitch + more;
	*count = last > *count ? last : *count;
	return true;
}

/* Makes *a the union of both boxes; a's address is not after b's.  False: the union is no box. */
static bool join_boxes(struct sw_reach *a, const struct sw_reach *b)
{
	uint64_t distance = b->address - a->address;
	if (is_dense(a) && is_dense(b)) {
		if (b->address > sw_reach_end(a))
			return false;
		make_dense(a, a->address, sw_reach_end(b) > sw_reach_end(a) ? sw_reach_end(b) : sw_reach_end(a));
		return true;
	}
	bool slices = a->slices == b->slices && (a->slices == 1 || a->slice == b->slice);
	bool rows = a->rows == b->rows && (a->rows == 1 || a->pitch == b->pitch);
	if (slices && rows && distance <= a->width) {
		uint64_t width = distance + b->width > a->width ? distance + b->width : a->width;
		if (width > (a->rows > 1 ? a->pitch : a->slice))
			return false;
		a->width = width;
	} else if (slices && a->width == b->width && (a->rows > 1 || b->rows > 1) &&
		   (a->rows == 1 || b->rows == 1 || a->pitch == b->pitch)) {
		uint64_t count = a->rows, pitch = a->rows > 1 ? a->pitch : b->pitch;
		if (!join_steps(distance, pitch, &count, b->rows) ||
		    (a->slices > 1 && pitch * (count - 1) + a->width > a->slice))
			return false;
		a->pitch = pitch;
		a->rows = count;
		if (a->slices == 1)
			a->slice = a->pitch * a->rows;
	} else if (rows && a->width == b->width && (a->slices > 1 || b->slices > 1) &&
		   (a->slices == 1 || b->slices == 1 || a->slice == b->slice)) {
		uint64_t count = a->slices, slice = a->slices > 1 ? a->slice : b->slice;
		if (!join_steps(distance, slice, &count, b->slices))
			return false;
		a->slice = slice;
		a->slices = count;
	} else {
		return false;
	}
	normalise_reach(a);
	return true;
}

/* Makes *a the union of both reaches; false: that is not one reach. */
static bool join_two(struct sw_reach *a, const struct sw_reach *b)
{
	if (!same_kind(a, b))
		return false;
	if (a->extent == SW_EXTENT_OPEN || b->extent == SW_EXTENT_OPEN) {
		if (a->extent != b->extent || a->address != b->address || a->layer != b->layer ||
		    a->layers != b->layers)
			return false;
		a->below |= b->below;
		return true;
	}
	struct sw_reach first = a->address <= b->address ? *a : *b, second = a->address <= b->address ? *b : *a;
	if (a->extent == b->extent) {
		if (!join_boxes(&first, &second))
			return false;
		first.site = a->site;
		if (first.why == SW_WHY_RAGGED) /* says least of the two */
			first.why = second.why;
		*a = first;
		return true;
	}
	/* A hull inside a dense box says nothing new. */
	const struct sw_reach *box = a->extent == SW_EXTENT_BOX ? a : b, *hull = box == a ? b : a;
	if (!is_dense(box) || hull->address < box->address || sw_reach_end(hull) > sw_reach_end(box))
		return false;
	*a = *box;
	return true;
}

/* The order of reaches before they are joined: those of one root and role follow each other, by address. */
static int by_address(const void *left, const void *right)
{
	const struct sw_reach *a = left, *b = right;
#define COMPARE(x)                                                                                                     \
	if (a->x != b->x)                                                                                              \
	return a->x < b->x ? -1 : 1
	COMPARE(root.kind);
	COMPARE(root.param);
	COMPARE(root.symbol);
	COMPARE(root.span);
	COMPARE(root.weak);
	COMPARE(role);
	COMPARE(polls);
	COMPARE(order);
	COMPARE(content);
	COMPARE(address);
	COMPARE(extent);
	COMPARE(width);
	COMPARE(rows);
	COMPARE(layer);
	COMPARE(layers);
	COMPARE(site);
#undef COMPARE
	return 0;
}

/* Joins to reach i what it can of the reaches of its kind that follow; those that were joined have role 0 then.
   True: there were some. */
static bool join_next(struct sw_reach *at, size_t i, size_t n)
{
	bool any = false;
	for (size_t j = i + 1, seen = 0; j < n && seen < NEIGHBOURS; j++) {
		if (!at[j].role)
			continue;
		if (!same_kind(&at[i], &at[j]))
			break;
		seen++;
		if (join_two(&at[i], &at[j])) {
			at[j].role = 0;
			any = true;
		}
	}
	return any;
}

/* Joins reaches until nothing changes any more, and closes the gaps that those leave which were joined. */
static void join_all(struct sw_reach *at, size_t *n)
{
	bool again = true;
	for (int round = 0; again && round < 16; round++) {
		size_t kept = 0;
		again = false;
		for (size_t i = 0; i < *n; i++) {
			if (!at[i].role)
				continue;
			again |= join_next(at, i, *n);
			at[kept++] = at[i];
		}
		*n = kept;
	}
}

/* Makes one hull of the two neighbours of one kind, both bounded, with the smallest gap; false: there are none.
   hulls: only of two hulls. */
static bool hull_nearest(struct sw_reach *at, size_t *n, bool hulls)
{
	size_t best = SIZE_MAX;
	uint64_t gap = UINT64_MAX;
	for (size_t i = 0; i + 1 < *n; i++) {
		struct sw_reach *a = &at[i], *b = &at[i + 1];
		if (!same_kind(a, b) || a->extent == SW_EXTENT_OPEN || b->extent == SW_EXTENT_OPEN ||
		    (hulls && (a->extent != SW_EXTENT_HULL || b->extent != SW_EXTENT_HULL)))
			continue;
		uint64_t between = b->address > sw_reach_end(a) ? b->address - sw_reach_end(a) : 0;
		if (best == SIZE_MAX || between < gap) {
			best = i;
			gap = between;
		}
	}
	if (best == SIZE_MAX)
		return false;
	struct sw_reach *a = &at[best], *b = a + 1;
	make_dense(a, a->address, sw_reach_end(a) > sw_reach_end(b) ? sw_reach_end(a) : sw_reach_end(b));
	a->extent = SW_EXTENT_HULL;
	a->why = a->why ? a->why : SW_WHY_COMPLEX;
	a->content = SW_CONTENT_UNKNOWN; /* between two pointers lies what belongs to neither */
	for (size_t i = best + 1; i + 1 < *n; i++)
		at[i] = at[i + 1];
	--*n;
	return true;
}

/* Cuts the list to `most` reaches.  The last one stands for all that do not fit: unbounded, through any pointer. */
static void give_up(struct sw_reach *at, size_t *n, size_t most)
{
	struct sw_reach *last = &at[most - 1];
	for (size_t i = most; i < *n; i++) {
		last->role |= at[i].role;
		last->polls |= at[i].polls;
		last->order = last->order == at[i].order ? last->order : SW_ORDER_UNSURE;
	}
	last->extent = SW_EXTENT_OPEN;
	last->why = SW_WHY_COMPLEX;
	last->root = (struct sw_root){.kind = SW_ROOT_UNKNOWN};
	last->address = last->width = last->pitch = last->slice = 0;
	last->rows = last->slices = 1;
	last->layer = last->layers = 0;
	*n = most;
}

/* Hulls of one launch that are kept apart: a GEMM of 500 sites with a guard that is loaded makes thousands of strided
   ones, and joining compares all with all. */
#define MOST_HULLS 64

/* How many of the reaches from index `from` on are hulls. */
static size_t count_hulls(const struct sw_reach *at, size_t n)
{
	size_t hulls = 0;
	for (size_t i = 0; i < n; i++)
		hulls += at[i].extent == SW_EXTENT_HULL;
	return hulls;
}

void sw_reaches_join(struct sw_reaches *reaches, size_t from, size_t most)
{
	size_t n = reaches->n - from;
	if (n < 2)
		return;
	struct sw_reach *at = reaches->at + from;
	qsort(at, n, sizeof *at, by_address);
	join_all(at, &n);
	for (size_t hulls = count_hulls(at, n); hulls > MOST_HULLS && hull_nearest(at, &n, true); hulls--)
		;
	while (n > most && hull_nearest(at, &n, false))
		;
	if (n > most)
		give_up(at, &n, most);
	reaches->n = from + n;
}
