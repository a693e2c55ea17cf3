/* SPDX-License-Identifier: Apache-2.0 */
#include "cover.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t all_roles[] = {SW_TOUCH_READ, SW_TOUCH_WRITE, SW_TOUCH_ATOMIC};

/* ---- from reaches to boxes --------------------------------------------------------------------------------------- */

static void add_open(struct cover *cover, uint64_t address, const struct sw_reach *reach,
		     const struct cover_memory *memory)
{
	uint64_t end = memory->end_of(memory->arg, address);
	if (end <= address)
		return;
	if (reach->below)
		address = memory->start_of(memory->arg, address);
	*sw_vec_push(&cover->box) = (struct cover_box){
		.address = address, .width = end - address, .rows = 1, .slices = 1, .role = reach->role};
}

/* An open reach of a struct or a table of pointers: from each word that points into memory. */
static void add_words(struct cover *cover, const struct sw_reach *reach, const struct cover_memory *memory)
{
	uint64_t word;
	for (uint64_t at = reach->root.param, end = at + reach->root.span;
	     at + 8 <= end && at + 8 <= memory->param_bytes; at += 8) {
		memcpy(&word, memory->params + at, sizeof word);
		add_open(cover, word, reach, memory);
	}
}

static bool has_place(const struct sw_reach *reach)
{
	return reach->root.kind == SW_ROOT_PARAM || (reach->root.kind == SW_ROOT_SYMBOL && reach->address);
}

static bool is_outside(const struct sw_reach *reach)
{
	return reach->root.kind == SW_ROOT_SYMBOL || reach->root.kind == SW_ROOT_ENVIRONMENT;
}

void cover_make(struct cover *cover, const struct sw_reaches *reaches, bool wild, const struct cover_memory *memory)
{
	*cover = (struct cover){.wild = wild, .memory = memory};
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		if (!has_place(r) && is_outside(r))
			cover->outside |= r->role;
		else if (!has_place(r))
			cover->elsewhere |= r->role;
		else if (r->extent != SW_EXTENT_OPEN)
			*sw_vec_push(&cover->box) = (struct cover_box){r->address, r->width,
								       r->pitch,   r->rows ? r->rows : 1,
								       r->slice,   r->slices ? r->slices : 1,
								       r->role};
		else if (r->address)
			add_open(cover, r->address, r, memory);
		else
			add_words(cover, r, memory);
	}
}

void cover_free(struct cover *cover)
{
	free(cover->box.at);
	*cover = (struct cover){0};
}

/* ---- bytes in boxes ---------------------------------------------------------------------------------------------- */

/* End of the row of one plane that holds the byte at `offset`, 0: none. Rows may overlap: the last that starts
   before. */
static uint64_t row_end(const struct cover_box *box, uint64_t offset)
{
	uint64_t row = box->rows > 1 && box->pitch ? offset / box->pitch : 0;
	row = row < box->rows ? row : box->rows - 1;
	uint64_t start = row * box->pitch;
	return offset - start < box->width ? start + box->width : 0;
}

/* End of the run of bytes of the box that holds the address, 0: none. */
static uint64_t box_end(const struct cover_box *box, uint64_t address)
{
	if (address < box->address)
		return 0;
	uint64_t offset = address - box->address, best = 0;
	uint64_t plane = (box->rows - 1) * box->pitch + box->width;
	uint64_t slice = box->slices > 1 && box->slice ? offset / box->slice : 0;
	slice = slice < box->slices ? slice : box->slices - 1;
	/* Planes may interleave: every one that starts before the byte and is long enough. */
	for (;; slice--) {
		uint64_t start = slice * box->slice;
		if (offset - start >= plane)
			break;
		uint64_t end = row_end(box, offset - start);
		if (end && start + end > best)
			best = start + end;
		if (!slice)
			break;
	}
	/* A box up to the end of the address space ends there. */
	return !best ? 0 : best > UINT64_MAX - box->address ? UINT64_MAX : box->address + best;
}

/* End of what covers the byte in this role, 0: nothing does. */
static uint64_t covered_to(const struct cover *cover, uint64_t address, uint8_t role)
{
	uint64_t best = 0;
	for (size_t i = 0; i < cover->box.n; i++) {
		uint64_t end = cover->box.at[i].role & role ? box_end(&cover->box.at[i], address) : 0;
		best = end > best ? end : best;
	}
	return best;
}

/*
 * An atomic operation reads and writes: a footprint may say it either way.  A plain read or write must be there as
 * such, because two kernels whose atomics meet are no race.
 */
static uint64_t touched_to(const struct cover *cover, uint64_t address, uint8_t role)
{
	uint64_t end = covered_to(cover, address, role);
	if (!end && cover->ptx && role == SW_TOUCH_READ)
		return covered_to(cover, address, SW_TOUCH_ATOMIC);
	if (end || role != SW_TOUCH_ATOMIC)
		return end;
	uint64_t read = covered_to(cover, address, SW_TOUCH_READ), write = covered_to(cover, address, SW_TOUCH_WRITE);
	return read < write ? read : write;
}

static bool is_excused(const struct cover *cover, uint64_t address, uint8_t role)
{
	return (cover->elsewhere & role) ||
	       ((cover->outside & role) && !cover->memory->end_of(cover->memory->arg, address));
}

/* The rest of a copy of 16 bytes at most whose source is shorter (zeros are filled in; the patching API tells the
   destination's size): something before it is read. */
static bool is_rest_of_copy(const struct cover *cover, const struct seen_rows *row, uint64_t address)
{
	uint64_t first = address & ~UINT64_C(15);
	for (uint64_t at = first; row->copy && at < address; at++)
		if (covered_to(cover, at, SW_TOUCH_READ))
			return true;
	return false;
}

static void check_row(const struct cover *cover, const struct seen_rows *row, uint64_t start,
		      struct cover_result *result)
{
	uint64_t end = start + row->width;
	result->observed += row->width;
	while (start < end) {
		uint64_t to = touched_to(cover, start, row->role);
		if (to) {
			start = to;
			continue;
		}
		if (is_rest_of_copy(cover, row, start)) {
			start++;
			continue;
		}
		if (cover->wild) {
			result->wild++;
		} else if (is_excused(cover, start, row->role)) {
			result->elsewhere++;
		} else if (!result->escaped++) {
			result->first = (struct seen_rows){
				.address = start, .width = end - start, .rows = 1, .role = row->role};
		}
		start++;
	}
}

void cover_check(const struct cover *cover, const struct seen_rows *rows, size_t n, struct cover_result *result)
{
	for (size_t i = 0; i < n; i++)
		for (uint64_t k = 0; k < rows[i].rows; k++)
			check_row(cover, &rows[i], rows[i].address + k * rows[i].pitch, result);
}

/* ---- size -------------------------------------------------------------------------------------------------------- */

#define MAX_ROWS 1000000u

struct run {
	uint64_t start, end;
};

static int by_start(const void *x, const void *y)
{
	const struct run *a = x, *b = y;
	return a->start < b->start ? -1 : a->start > b->start;
}

static uint64_t union_of(struct run *run, size_t n)
{
	uint64_t bytes = 0, end = 0;
	if (n)
		qsort(run, n, sizeof *run, by_start);
	for (size_t i = 0; i < n; i++) {
		uint64_t start = run[i].start > end ? run[i].start : end;
		if (run[i].end > start) {
			bytes += run[i].end - start;
			end = run[i].end;
		}
	}
	return bytes;
}

static uint64_t bytes_in_role(const struct cover *cover, uint8_t role)
{
	SW_VEC(struct run) runs = {0};
	uint64_t sum = 0, bytes;
	bool exact = true;
	for (size_t i = 0; i < cover->box.n; i++) {
		const struct cover_box *b = &cover->box.at[i];
		if (!(b->role & role))
			continue;
		/* Not to overflow: a sum that large says enough. */
		if (b->rows > MAX_ROWS || b->slices > MAX_ROWS || runs.n + b->rows * b->slices > MAX_ROWS) {
			exact = false;
			if (__builtin_mul_overflow(b->width, b->rows, &bytes) ||
			    __builtin_mul_overflow(bytes, b->slices, &bytes) ||
			    __builtin_add_overflow(sum, bytes, &sum))
				sum = UINT64_MAX;
			continue;
		}
		for (uint64_t s = 0; s < b->slices; s++)
			for (uint64_t r = 0; r < b->rows; r++) {
				uint64_t start = b->address + s * b->slice + r * b->pitch;
				*sw_vec_push(&runs) = (struct run){start, start + b->width};
			}
	}
	bytes = union_of(runs.at, runs.n);
	free(runs.at);
	if (!exact && __builtin_add_overflow(bytes, sum, &bytes))
		bytes = UINT64_MAX;
	return bytes;
}

uint64_t cover_bytes(const struct cover *cover)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < sizeof all_roles; i++)
		if (__builtin_add_overflow(bytes, bytes_in_role(cover, all_roles[i]), &bytes))
			return UINT64_MAX;
	return bytes;
}
