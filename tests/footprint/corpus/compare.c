/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Fake buffers lie far apart, so that an address outside one is not taken for another. */
#define FIRST  0x7f0000000000ull
#define APART  0x10000000ull
#define SYMBOL_BYTES 4096 /* no variable of the corpus is larger */
#define AROUND (APART / 2) /* what lies up to so far before a buffer counts as its own */

enum { ROLES = 3, EXTENTS = 3 };
static const char *const role_text[ROLES] = {"read", "write", "atomic"};
/* One bit for each role and extent. */
static uint16_t bit(int role, int extent)
{
	return (uint16_t)(1u << (role * EXTENTS + extent));
}

/* What is said of one buffer. */
struct side {
	uint16_t *byte;	 /* bits */
	uint8_t object, map, via, polls; /* roles */
};
struct touched {
	size_t bytes;
	struct side is, want;
	uint16_t *loose; /* what machine code may say instead */
	uint8_t unknown; /* roles that machine code may have by unknown pointers */
	uint8_t whys[SW_WHYS]; /* extents that were seen with it, as 1 << extent */
};
struct state {
	const struct corpus_launch *launch;
	const struct sw_footprint *footprint;
	struct corpus_verdict *verdict;
	bool machine;
	struct touched *buffer;
	uint8_t unknown; /* roles */
};

__attribute__((format(printf, 2, 3))) static void say(struct corpus_verdict *verdict, const char *format, ...)
{
	size_t room = sizeof verdict->text - verdict->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(verdict->text + verdict->used, room, format, ap);
	va_end(ap);
	verdict->used += (size_t)n < room ? (size_t)n : room - 1;
}

static uint64_t fake_address(void *arg, int buffer)
{
	(void)arg;
	return FIRST + (uint64_t)buffer * APART;
}

static uint64_t fake_symbol(void *arg, const char *name)
{
	const struct corpus_launch *launch = arg;

	for (size_t i = 0; i < launch->buffers.n; i++)
		if (launch->buffers.at[i].name[0] == '@' && !strcmp(launch->buffers.at[i].name + 1, name))
			return fake_address(NULL, (int)i);
	return 0;
}

/* ---- marking ---------------------------------------------------------------------------------------------------- */

static void mark(uint16_t *byte, size_t bytes, const struct corpus_region *region, int roles, int extent)
{
	uint16_t bits = 0;

	for (int role = 0; role < ROLES; role++)
		if (roles & 1 << role)
			bits |= bit(role, extent);
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

static void mark_lines(struct state *state)
{
	for (size_t i = 0; i < state->launch->lines.n; i++) {
		const struct corpus_line *line = &state->launch->lines.at[i];
		struct touched *t = line->buffer < 0 ? NULL : &state->buffer[line->buffer];

		if (!t)
			continue;
		if (line->polls)
			t->want.polls |= line->role;
		if (line->is.extent == CORPUS_OBJECT)
			t->want.object |= line->role;
		else if (line->is.extent == CORPUS_BY_MAP)
			t->want.map |= line->role;
		else if (line->is.extent == CORPUS_VIA)
			t->want.via |= line->role;
		else if (line->is.extent != CORPUS_NONE)
			mark(t->want.byte, t->bytes, &line->is, line->role, (int)(line->is.extent - CORPUS_BOX));
		if (line->sass_unknown)
			t->unknown |= line->role;
		if (line->sass.extent != CORPUS_NONE)
			mark(t->loose, t->bytes, &line->sass, line->role, (int)(line->sass.extent - CORPUS_BOX));
	}
}

/* ---- layouts ------------------------------------------------------------------------------------------------------ */

/* Machine code may have its parameters elsewhere than PTX: a tensor map, aligned to 128 bytes in the constant bank, lies
   at offset 112 of sm_90's block. */
static void place_params(const struct corpus_launch *launch, const struct sw_footprint *footprint, const uint8_t *from,
			 uint8_t *to)
{
	for (size_t i = 0; i < launch->n_params && i < footprint->params; i++)
		if (footprint->param[i].offset + launch->param[i].bytes <= CORPUS_MAX_BLOCK)
			memcpy(to + footprint->param[i].offset, from + launch->param[i].offset, launch->param[i].bytes);
}

/* The offset in the table's layout. */
static size_t table_offset(const struct state *state, uint32_t at)
{
	for (size_t i = 0; i < state->launch->n_params && i < state->footprint->params; i++)
		if (at >= state->footprint->param[i].offset &&
		    at < state->footprint->param[i].offset + state->launch->param[i].bytes)
			return at - state->footprint->param[i].offset + state->launch->param[i].offset;
	return at;
}

/* ---- what the footprint says -------------------------------------------------------------------------------------- */

static bool lies_in(const struct state *state, const struct sw_root *root, size_t at)
{
	size_t from = table_offset(state, root->param);

	return at >= from && at < from + (root->span ? root->span : 1);
}

static const char *root_name(const struct state *state, const struct sw_root *root)
{
	return root->symbol < state->footprint->symbols
		       ? state->footprint->string + state->footprint->symbol[root->symbol].name
		       : "?";
}

/* Does a line `x ROLE via y` mean this root? */
static bool is_via(const struct state *state, const struct corpus_line *line, const struct sw_root *root)
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

static void take_indirect(struct state *state, const struct sw_reach *reach)
{
	bool expected = false;

	for (size_t i = 0; i < state->launch->lines.n; i++)
		if (is_via(state, &state->launch->lines.at[i], &reach->root)) {
			/* Each buffer that the table names behind this pointer. */
			state->buffer[state->launch->lines.at[i].buffer].is.via |= reach->role;
			expected = true;
		}
	if (!expected)
		say(state->verdict, "\tindirect through parameter byte %u or %s: not in the table\n", reach->root.param,
		    root_name(state, &reach->root));
}

static void take_object(struct state *state, const struct sw_reach *reach)
{
	bool found = false;

	for (size_t i = 0; i < state->launch->handles.n; i++) {
		const struct corpus_handle *handle = &state->launch->handles.at[i];
		struct side *is = &state->buffer[handle->buffer].is;

		if (!lies_in(state, &reach->root, handle->at))
			continue;
		found = true;
		if (reach->root.kind == SW_ROOT_MAP)
			is->map |= reach->role;
		else
			is->object |= reach->role;
	}
	if (!found)
		say(state->verdict, "\tobject in parameter byte %u: there is none\n", reach->root.param);
}

/* May a hull go that far beyond the buffer? */
static bool is_told(const struct state *state, int buffer, int64_t from, uint64_t end)
{
	for (size_t i = 0; i < state->launch->lines.n; i++) {
		const struct corpus_line *line = &state->launch->lines.at[i];
		const struct corpus_region *told = line->sass.extent == CORPUS_HULL && state->machine ? &line->sass : &line->is;

		if (line->buffer == buffer && told->extent == CORPUS_HULL && (int64_t)told->offset <= from &&
		    end <= told->offset + told->width)
			return true;
	}
	return false;
}

static void take_bytes(struct state *state, const struct sw_reach *reach)
{
	static const enum corpus_extent extents[] = {CORPUS_BOX, CORPUS_HULL, CORPUS_OPEN};
	struct corpus_region region = {.width = reach->width, .rows = reach->rows, .pitch = reach->pitch,
				       .slices = reach->slices, .slice = reach->slice};
	uint64_t buffer = (reach->address - FIRST + AROUND) / APART;
	uint64_t end = reach->address + (reach->slices - 1) * reach->slice + (reach->rows - 1) * reach->pitch +
		       reach->width;
	struct touched *t;
	int64_t from;

	if (reach->address < FIRST - AROUND || buffer >= state->launch->buffers.n) {
		/* Words that hold no pointer are told apart by what is allocated. */
		if (reach->extent == SW_EXTENT_OPEN)
			return;
		say(state->verdict, "\t%#llx: no buffer there\n", (unsigned long long)reach->address);
		return;
	}
	t = &state->buffer[buffer];
	from = (int64_t)(reach->address - fake_address(NULL, (int)buffer));
	t->whys[reach->why] |= (uint8_t)(1u << reach->extent);
	if (reach->polls)
		t->is.polls |= reach->role;
	region.extent = extents[reach->extent];
	if (reach->extent == SW_EXTENT_OPEN) {
		region.offset = from < 0 ? 0 : (uint64_t)from;
	} else {
		region.offset = (uint64_t)from;
		if ((from < 0 || end > fake_address(NULL, (int)buffer) + t->bytes) &&
		    !(reach->extent == SW_EXTENT_HULL && is_told(state, (int)buffer, from, end - fake_address(NULL, (int)buffer)))) {
			say(state->verdict, "\t%s: %s [%lld, %lld) goes beyond its %zu bytes\n",
			    state->launch->buffers.at[buffer].name, reach->extent ? "hull" : "box", (long long)from,
			    (long long)(end - fake_address(NULL, (int)buffer)), t->bytes);
			if (reach->extent == SW_EXTENT_BOX)
				state->verdict->false_certain++;
		}
	}
	mark(t->is.byte, t->bytes, &region, reach->role, reach->extent);
}

/* One of several pointers of the parameter block. */
static void take_table(struct state *state, const struct sw_reach *reach)
{
	for (size_t i = 0; i < state->launch->words.n; i++) {
		const struct corpus_word *word = &state->launch->words.at[i];
		struct sw_reach one = *reach;

		if (!lies_in(state, &reach->root, word->at) || word->bytes != 8)
			continue;
		one.address = fake_address(NULL, word->buffer) + (uint64_t)word->addend;
		take_bytes(state, &one);
	}
}

static void take(struct state *state, const struct sw_reach *reach)
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

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* NULL: this byte is right.  better: machine code may know a box where PTX does not. */
static const char *wrong_with(unsigned is, unsigned want, unsigned loose, bool better)
{
	enum { BOX = 1 << SW_EXTENT_BOX, HULL = 1 << SW_EXTENT_HULL, OPEN = 1 << SW_EXTENT_OPEN, UNKNOWN = OPEN << 1 };

	if (want && !is && loose & UNKNOWN)
		return NULL;
	if (!is && better && !(want & BOX))
		return loose & BOX ? "MISSED" : NULL;
	if (want && !is)
		return want & BOX ? "MISSED" : "narrower than the table says";
	if (is & BOX && !(want & BOX) && !(loose & BOX))
		return want ? "box, though not certain" : "box, though NOT TOUCHED";
	if (is & HULL && !(want & HULL) && !(loose & HULL) && !(want & is & BOX))
		return want ? "hull, not as narrow as can be" : "hull, too wide";
	if (is & OPEN && !(want & OPEN) && !(loose & OPEN))
		return want ? "open, though bounded" : "open, though not touched";
	if (want & BOX && !(is & BOX) && !(loose & (HULL | OPEN)))
		return "not a box";
	if (want && !(want & BOX) && !(want & is) && !(loose & (is | HULL | OPEN)))
		return "narrower than the table says";
	return NULL;
}

static void compare_bytes(struct state *state, int buffer, int role)
{
	const struct touched *t = &state->buffer[buffer];
	const char *said = NULL;
	bool better = false;
	size_t from = 0;
	int runs = 0;

	for (size_t at = 0; at < t->bytes && state->machine; at++)
		better |= t->loose[at] & bit(role, SW_EXTENT_BOX) && t->want.byte[at];

	for (size_t at = 0; at <= t->bytes; at++) {
		const char *wrong = NULL;

		if (at < t->bytes) {
			int shift = role * EXTENTS, low = (1 << EXTENTS) - 1;

			wrong = wrong_with(t->is.byte[at] >> shift & low, t->want.byte[at] >> shift & low,
					   !state->machine ? 0
							   : (t->loose[at] >> shift & low) |
								     (t->unknown & state->unknown & 1 << role ? 1u << EXTENTS
													      : 0),
					   better);
		}
		if (wrong == said)
			continue;
		if (said && ++runs <= 3)
			say(state->verdict, "\t%s: %s of bytes [%zu, %zu): %s\n",
			    state->launch->buffers.at[buffer].name, role_text[role], from, at, said);
		if (said && !strcmp(said, "MISSED"))
			state->verdict->missed++;
		if (said && !strncmp(said, "box", 3))
			state->verdict->false_certain++;
		said = wrong;
		from = at;
	}
	if (runs > 3)
		say(state->verdict, "\t... and %d more of this kind\n", runs - 3);
}

static void compare_roles(struct state *state, const char *name, const char *what, uint8_t is, uint8_t want)
{
	for (int role = 0; role < ROLES; role++) {
		if (want & ~is & 1 << role) {
			say(state->verdict, "\t%s: %s %s: MISSED\n", name, what, role_text[role]);
			state->verdict->missed++;
		}
		if (is & ~want & 1 << role)
			say(state->verdict, "\t%s: %s %s: not in the table\n", name, what, role_text[role]);
	}
}

/* The reason that the table gives should be among those that the analysis gives.  Told, but no failure: which of several
   reasons is named is a matter of taste. */
static void compare_whys(struct state *state)
{
	for (size_t i = 0; i < state->launch->lines.n; i++) {
		const struct corpus_line *line = &state->launch->lines.at[i];
		const struct touched *t;

		if (line->buffer < 0 || line->why < 0 || state->machine)
			continue;
		t = &state->buffer[line->buffer];
		if (line->is.extent != CORPUS_HULL && line->is.extent != CORPUS_OPEN)
			continue;
		if (t->whys[line->why] & ~(1u << SW_EXTENT_BOX))
			continue;
		for (int why = 0; why < SW_WHYS; why++)
			if (t->whys[why] & ~(1u << SW_EXTENT_BOX))
				printf("\t%s: the reason is \"%s\", the table says \"%s\"\n",
				       state->launch->buffers.at[line->buffer].name, sw_why_text((enum sw_why)why),
				    sw_why_text((enum sw_why)line->why));
	}
}

static void compare_all(struct state *state)
{
	uint8_t unknown = 0, may = 0;

	for (size_t i = 0; i < state->launch->lines.n; i++)
		if (state->launch->lines.at[i].buffer < 0 && !state->launch->lines.at[i].machine)
			unknown |= state->launch->lines.at[i].role;
		else if (state->machine && state->launch->lines.at[i].machine)
			may |= state->launch->lines.at[i].role;
	if (state->machine)
		unknown &= state->unknown; /* may be better known there */
	compare_roles(state, "unknown pointers", "", state->unknown & (uint8_t)~may, unknown);
	for (size_t i = 0; i < state->launch->buffers.n; i++) {
		const char *name = state->launch->buffers.at[i].name;
		const struct touched *t = &state->buffer[i];

		for (int role = 0; role < ROLES; role++)
			compare_bytes(state, (int)i, role);
		compare_roles(state, name, "by object", t->is.object, t->want.object);
		compare_roles(state, name, "by tensor map", t->is.map, t->want.map);
		compare_roles(state, name, "by loaded pointer", t->is.via,
			      t->want.via & (uint8_t)~(state->machine ? t->unknown & state->unknown : 0));
		/* In machine code a strong load need not be a volatile one, and acquire is not part of an atomic operation. */
		if (state->machine)
			compare_roles(state, name, "polling", t->is.polls & t->want.polls & (uint8_t)~SW_TOUCH_ATOMIC,
				      t->want.polls & (uint8_t)~SW_TOUCH_ATOMIC);
		else
			compare_roles(state, name, "polling", t->is.polls, t->want.polls);
	}
	compare_whys(state);
	if (!!state->footprint->wild != state->launch->wild &&
	    !(state->machine && (state->launch->wild_machine || state->launch->wild)))
		say(state->verdict, "\twild: \"%s\", the table says %s\n",
		    state->footprint->string + state->footprint->wild, state->launch->wild ? "wild" : "it is not");
}

static void compare_layout(struct state *state)
{
	const struct sw_footprint *footprint = state->footprint;
	const struct corpus_launch *launch = state->launch;

	if (footprint->params != launch->n_params)
		say(state->verdict, "\t%u parameters, the table has %zu\n", footprint->params, launch->n_params);
	for (size_t i = 0; i < launch->n_params && i < footprint->params; i++)
		if ((!state->machine && footprint->param[i].offset != launch->param[i].offset) ||
		    footprint->param[i].bytes != launch->param[i].bytes)
			say(state->verdict, "\tparameter %zu: %u bytes at %u, the table has %u at %u\n", i,
			    footprint->param[i].bytes, footprint->param[i].offset, launch->param[i].bytes,
			    launch->param[i].offset);
}

static size_t bytes_of(const struct state *state, const struct corpus_buffer *buffer)
{
	for (uint32_t i = 0; i < state->footprint->symbols && buffer->name[0] == '@'; i++)
		if (!strcmp(state->footprint->string + state->footprint->symbol[i].name, buffer->name + 1))
			return state->footprint->symbol[i].bytes;
	/* A variable that the footprint does not know: missed, if the table says anything of it. */
	return buffer->name[0] == '@' ? SYMBOL_BYTES : buffer->bytes;
}

static void make_touched(struct state *state)
{
	state->buffer = sw_calloc(state->launch->buffers.n + 1, sizeof *state->buffer);
	for (size_t i = 0; i < state->launch->buffers.n; i++) {
		struct touched *t = &state->buffer[i];

		t->bytes = bytes_of(state, &state->launch->buffers.at[i]);
		t->is.byte = sw_calloc(t->bytes + 1, sizeof(uint16_t));
		t->want.byte = sw_calloc(t->bytes + 1, sizeof(uint16_t));
		t->loose = sw_calloc(t->bytes + 1, sizeof(uint16_t));
	}
}

static void free_touched(struct state *state)
{
	for (size_t i = 0; i < state->launch->buffers.n; i++) {
		free(state->buffer[i].is.byte);
		free(state->buffer[i].want.byte);
		free(state->buffer[i].loose);
	}
	free(state->buffer);
}

void corpus_compare(const struct corpus_launch *launch, const struct sw_footprint *footprint, bool machine,
		    void (*spoil)(struct sw_reaches *reaches), struct corpus_verdict *verdict)
{
	struct state state = {.launch = launch, .footprint = footprint, .verdict = verdict, .machine = machine};
	uint8_t told[CORPUS_MAX_BLOCK], params[CORPUS_MAX_BLOCK] = {0};
	struct sw_geometry geometry = {.cluster = launch->cluster, .shared_bytes = launch->shared, .params = params,
				       .param_bytes = footprint->param_bytes, .symbol = fake_symbol,
				       .arg = (void *)(uintptr_t)launch};
	struct sw_reaches reaches = {0};

	*verdict = (struct corpus_verdict){0};
	memcpy(geometry.grid, launch->grid, sizeof geometry.grid);
	memcpy(geometry.block, launch->block, sizeof geometry.block);
	corpus_params(launch, told, fake_address, NULL);
	place_params(launch, footprint, told, params);
	make_touched(&state);
	mark_lines(&state);
	compare_layout(&state);
	sw_footprint_evaluate(footprint, &geometry, &reaches);
	if (spoil)
		spoil(&reaches);
	for (size_t i = 0; i < reaches.n; i++)
		take(&state, &reaches.at[i]);
	compare_all(&state);
	free(reaches.at);
	free_touched(&state);
}
