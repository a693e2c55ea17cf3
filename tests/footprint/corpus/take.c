/* SPDX-License-Identifier: Apache-2.0 */
/* What a footprint says, entered byte by byte into fake buffers. */
#include "touched.h"

#include <string.h>

/* Fake buffers lie far apart, so that an address outside one is not taken for another. */
#define FIRST  0x7f0000000000ull
#define APART  0x10000000ull
#define AROUND (APART / 2) /* what lies up to so far before a buffer counts as its own */

uint64_t corpus_fake_address(void *arg, int buffer)
{
	(void)arg;
	return FIRST + (uint64_t)buffer * APART;
}

void corpus_mark(uint16_t *byte, size_t bytes, const struct corpus_region *region, int roles, int extent)
{
	uint16_t bits = 0;

	for (int role = 0; role < CORPUS_ROLES; role++)
		if (roles & 1 << role)
			bits |= corpus_bit(role, extent);
	if (region->extent == CORPUS_OPEN) {
		for (uint64_t at = region->offset; at < bytes; at++)
			byte[at] |= bits;
		return;
	}
	for (uint64_t z = 0; z < region->slices; z++)
		for (uint64_t y = 0; y < region->rows; y++) {
			int64_t from = (int64_t)(region->offset + z * region->slice + y * region->pitch);
			int64_t end = from + (int64_t)region->width;

			for (int64_t at = from < 0 ? 0 : from; at < end && at < (int64_t)bytes; at++)
				byte[at] |= bits;
		}
}

/* The offset in the table's layout. */
static size_t table_offset(const struct corpus_state *state, uint32_t at)
{
	for (size_t i = 0; i < state->launch->n_params && i < state->footprint->params; i++)
		if (at >= state->footprint->param[i].offset &&
		    at < state->footprint->param[i].offset + state->launch->param[i].bytes)
			return at - state->footprint->param[i].offset + state->launch->param[i].offset;
	return at;
}

static bool lies_in(const struct corpus_state *state, const struct sw_root *root, size_t at)
{
	size_t from = table_offset(state, root->param);

	return at >= from && at < from + (root->span ? root->span : 1);
}

static const char *root_name(const struct corpus_state *state, const struct sw_root *root)
{
	return root->symbol < state->footprint->symbols
		       ? state->footprint->string + state->footprint->symbol[root->symbol].name
		       : "?";
}

/* Does a line `x ROLE via y` mean this root? */
static bool is_via(const struct corpus_state *state, const struct corpus_line *line, const struct sw_root *root)
{
	if (line->is.extent != CORPUS_VIA)
		return false;
	if (line->via[0] == '@')
		return !root->span && !strcmp(root_name(state, root), line->via + 1);
	for (size_t i = 0; i < state->launch->words.n; i++)
		if (root->span && !strcmp(state->launch->words.at[i].name, line->via) &&
		    lies_in(state, root, state->launch->words.at[i].at))
			return true;
	return false;
}

static void take_indirect(struct corpus_state *state, const struct sw_reach *reach)
{
	bool expected = false;

	for (size_t i = 0; i < state->launch->lines.n; i++)
		if (is_via(state, &state->launch->lines.at[i], &reach->root)) {
			/* Each buffer that the table names through this pointer. */
			state->buffer[state->launch->lines.at[i].buffer].is.via |= reach->role;
			expected = true;
		}
	/* What is wild reaches for its tables of functions as it likes. */
	if (!expected && !state->launch->wild)
		corpus_say(state->verdict, "\tindirect through parameter byte %u or %s: not in the table\n",
			   reach->root.param, root_name(state, &reach->root));
}

static void take_object(struct corpus_state *state, const struct sw_reach *reach)
{
	bool found = false;

	for (size_t i = 0; i < state->launch->handles.n; i++) {
		const struct corpus_handle *handle = &state->launch->handles.at[i];
		struct corpus_side *is = &state->buffer[handle->buffer].is;

		if (!lies_in(state, &reach->root, handle->at))
			continue;
		found = true;
		if (reach->root.kind == SW_ROOT_MAP)
			is->map |= reach->role;
		else
			is->object |= reach->role;
	}
	if (!found)
		corpus_say(state->verdict, "\tobject in parameter byte %u: there is none\n", reach->root.param);
}

/* May a hull go that far beyond the buffer? */
static bool is_told(const struct corpus_state *state, int buffer, int64_t from, uint64_t end)
{
	for (size_t i = 0; i < state->launch->lines.n; i++) {
		const struct corpus_line *line = &state->launch->lines.at[i];
		const struct corpus_region *told =
			line->sass.extent == CORPUS_HULL && state->loose ? &line->sass : &line->is;

		if (line->buffer == buffer && told->extent == CORPUS_HULL && (int64_t)told->offset <= from &&
		    end <= told->offset + told->width)
			return true;
	}
	return false;
}

static void take_bytes(struct corpus_state *state, const struct sw_reach *reach)
{
	static const enum corpus_extent extents[] = {CORPUS_BOX, CORPUS_HULL, CORPUS_OPEN};
	struct corpus_region region = {.width = reach->width,
				       .rows = reach->rows,
				       .pitch = reach->pitch,
				       .slices = reach->slices,
				       .slice = reach->slice};
	uint64_t buffer = (reach->address - FIRST + AROUND) / APART;
	uint64_t end =
		reach->address + (reach->slices - 1) * reach->slice + (reach->rows - 1) * reach->pitch + reach->width;
	struct corpus_touched *t;
	int64_t from;

	if (reach->address < FIRST - AROUND || buffer >= state->launch->buffers.n) {
		/* Words that hold no pointer are recognised by what is allocated. */
		if (reach->extent == SW_EXTENT_OPEN)
			return;
		corpus_say(state->verdict, "\t%#llx: no buffer there\n", (unsigned long long)reach->address);
		return;
	}
	t = &state->buffer[buffer];
	from = (int64_t)(reach->address - corpus_fake_address(NULL, (int)buffer));
	t->whys[reach->why] |= (uint8_t)(1u << reach->extent);
	if (reach->polls)
		t->is.polls |= reach->role;
	if (state->footprint->grids && sw_grid_phase(&state->grid, reach->order) == SW_BEFORE_WAIT)
		t->is.before |= reach->role;
	if (state->footprint->grids && sw_grid_phase(&state->grid, reach->order) == SW_PERHAPS_AFTER_WAIT)
		t->is.perhaps |= reach->role;
	region.extent = extents[reach->extent];
	if (reach->extent == SW_EXTENT_OPEN) {
		region.offset = from < 0 || reach->below ? 0 : (uint64_t)from;
	} else {
		region.offset = (uint64_t)from;
		if ((from < 0 || end > corpus_fake_address(NULL, (int)buffer) + t->bytes) &&
		    !(reach->extent == SW_EXTENT_HULL &&
		      is_told(state, (int)buffer, from, end - corpus_fake_address(NULL, (int)buffer)))) {
			corpus_say(state->verdict, "\t%s: %s [%lld, %lld) goes beyond its %zu bytes\n",
				   state->launch->buffers.at[buffer].name, reach->extent ? "hull" : "box",
				   (long long)from, (long long)(end - corpus_fake_address(NULL, (int)buffer)),
				   t->bytes);
			if (reach->extent == SW_EXTENT_BOX)
				state->verdict->false_certain++;
		}
	}
	corpus_mark(t->is.byte, t->bytes, &region, reach->role, reach->extent);
}

/* One of several pointers of the parameter block. */
static void take_table(struct corpus_state *state, const struct sw_reach *reach)
{
	for (size_t i = 0; i < state->launch->words.n; i++) {
		const struct corpus_word *word = &state->launch->words.at[i];
		struct sw_reach one = *reach;

		if (!lies_in(state, &reach->root, word->at) || word->bytes != 8)
			continue;
		one.address = corpus_fake_address(NULL, word->buffer) + (uint64_t)word->addend;
		take_bytes(state, &one);
	}
}

void corpus_take(struct corpus_state *state, const struct sw_reach *reach)
{
	switch (reach->root.kind) {
	case SW_ROOT_ENVIRONMENT: /* the driver's own memory */
		return;
	case SW_ROOT_UNKNOWN:
		state->unknown |= reach->role;
		return;
	case SW_ROOT_INDIRECT:
		take_indirect(state, reach);
		return;
	case SW_ROOT_OBJECT:
	case SW_ROOT_MAP:
		take_object(state, reach);
		return;
	default:
		if (reach->extent == SW_EXTENT_OPEN && !reach->address)
			take_table(state, reach);
		else
			take_bytes(state, reach);
	}
}
