/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "touched.h"

#define SYMBOL_BYTES 4096 /* no variable of the corpus is larger */

static const char *const role_text[CORPUS_ROLES] = {"read", "write", "atomic"};

void corpus_say(struct corpus_verdict *verdict, const char *format, ...)
{
	size_t room = sizeof verdict->text - verdict->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(verdict->text + verdict->used, room, format, ap);
	va_end(ap);
	verdict->used += (size_t)n < room ? (size_t)n : room - 1;
}

static uint64_t fake_symbol(void *arg, const char *name)
{
	const struct corpus_launch *launch = arg;

	for (size_t i = 0; i < launch->buffers.n; i++)
		if (launch->buffers.at[i].name[0] == '@' && !strcmp(launch->buffers.at[i].name + 1, name))
			return corpus_fake_address(NULL, (int)i);
	return 0;
}

/* ---- what the table says ---------------------------------------------------------------------------------------- */

static void mark_lines(struct corpus_state *state)
{
	for (size_t i = 0; i < state->launch->lines.n; i++) {
		const struct corpus_line *line = &state->launch->lines.at[i];
		struct corpus_touched *t = line->buffer < 0 ? NULL : &state->buffer[line->buffer];

		if (!t)
			continue;
		if (line->polls)
			t->want.polls |= line->role;
		if (line->before)
			t->want.before |= line->role;
		if (line->perhaps)
			t->want.perhaps |= line->role;
		if (line->is.extent == CORPUS_OBJECT)
			t->want.object |= line->role;
		else if (line->is.extent == CORPUS_BY_MAP)
			t->want.map |= line->role;
		else if (line->is.extent == CORPUS_VIA)
			t->want.via |= line->role;
		else if (line->is.extent != CORPUS_NONE)
			corpus_mark(t->want.byte, t->bytes, &line->is, line->role, (int)(line->is.extent - CORPUS_BOX));
		if (line->sass_unknown)
			t->unknown |= line->role;
		if (line->sass_nothing)
			t->nothing |= line->role;
		if (line->sass.extent != CORPUS_NONE)
			corpus_mark(t->loose, t->bytes, &line->sass, line->role, (int)(line->sass.extent - CORPUS_BOX));
	}
}

/* Machine code may have its parameters elsewhere than PTX: a tensor map, aligned to 128 bytes in the constant bank,
   lies at offset 112 of sm_90's block. */
static void place_params(const struct corpus_launch *launch, const struct sw_footprint *footprint, const uint8_t *from,
			 uint8_t *to)
{
	for (size_t i = 0; i < launch->n_params && i < footprint->params; i++)
		if (footprint->param[i].offset + launch->param[i].bytes <= CORPUS_MAX_BLOCK)
			memcpy(to + footprint->param[i].offset, from + launch->param[i].offset, launch->param[i].bytes);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* NULL: this byte is right.  better: machine code may know a box or hull where PTX does not. */
static const char *wrong_with(unsigned is, unsigned want, unsigned loose, bool better)
{
	enum { BOX = 1 << SW_EXTENT_BOX, HULL = 1 << SW_EXTENT_HULL, OPEN = 1 << SW_EXTENT_OPEN, UNKNOWN = OPEN << 1 };

	if (want && !is && loose & UNKNOWN)
		return NULL;
	if (!is && better && !(want & BOX))
		return loose & BOX ? "MISSED" : want && loose & HULL ? "narrower than the table says" : NULL;
	if (want && !is)
		return want & BOX ? "MISSED" : "narrower than the table says";
	if (is & BOX && !(want & BOX) && !(loose & BOX))
		return want ? "box, though not certain" : "box, though NOT TOUCHED";
	if (is & HULL && !(want & HULL) && !(loose & (HULL | OPEN)) && !(want & is & BOX))
		return want ? "hull, not as narrow as can be" : "hull, too wide";
	if (is & OPEN && !(want & OPEN) && !(loose & OPEN))
		return want ? "open, though bounded" : "open, though not touched";
	if (want & BOX && !(is & BOX) && !(loose & (HULL | OPEN)))
		return "not a box";
	if (want && !(want & BOX) && !(want & is) && !(loose & (is | HULL | OPEN)))
		return "narrower than the table says";
	return NULL;
}

static void compare_bytes(struct corpus_state *state, int buffer, int role)
{
	const struct corpus_touched *t = &state->buffer[buffer];
	const char *said = NULL;
	bool better = false;
	size_t from = 0;
	int runs = 0;

	for (size_t at = 0; at < t->bytes && state->loose; at++)
		better |= t->loose[at] & (corpus_bit(role, SW_EXTENT_BOX) | corpus_bit(role, SW_EXTENT_HULL)) &&
			  t->want.byte[at];

	for (size_t at = 0; at <= t->bytes; at++) {
		const char *wrong = NULL;

		if (at < t->bytes) {
			int shift = role * CORPUS_EXTENTS, low = (1 << CORPUS_EXTENTS) - 1;

			bool other = ((t->unknown & state->unknown) | t->nothing) & 1 << role;
			unsigned loose = (t->loose[at] >> shift & low) | (other ? 1u << CORPUS_EXTENTS : 0);

			wrong = wrong_with(t->is.byte[at] >> shift & low, t->want.byte[at] >> shift & low,
					   state->loose ? loose : 0, better);
		}
		if (wrong == said)
			continue;
		if (said && ++runs <= 3)
			corpus_say(state->verdict, "\t%s: %s of bytes [%zu, %zu): %s\n",
				   state->launch->buffers.at[buffer].name, role_text[role], from, at, said);
		if (said && !strcmp(said, "MISSED"))
			state->verdict->missed++;
		if (said && !strncmp(said, "box", 3))
			state->verdict->false_certain++;
		said = wrong;
		from = at;
	}
	if (runs > 3)
		corpus_say(state->verdict, "\t... and %d more of this kind\n", runs - 3);
}

static void compare_roles(struct corpus_state *state, const char *name, const char *what, uint8_t is, uint8_t want)
{
	for (int role = 0; role < CORPUS_ROLES; role++) {
		if (want & ~is & 1 << role) {
			corpus_say(state->verdict, "\t%s: %s %s: MISSED\n", name, what, role_text[role]);
			state->verdict->missed++;
		}
		if (is & ~want & 1 << role)
			corpus_say(state->verdict, "\t%s: %s %s: not in the table\n", name, what, role_text[role]);
	}
}

/* The reason that the table gives should be among those that the analysis gives. Reported, but no failure: which of
   several reasons is named is a matter of taste. */
static void compare_whys(struct corpus_state *state)
{
	for (size_t i = 0; i < state->launch->lines.n; i++) {
		const struct corpus_line *line = &state->launch->lines.at[i];
		const struct corpus_touched *t;

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

static void compare_grid(struct corpus_state *state)
{
	const struct corpus_launch *l = state->launch;
	const struct sw_grid_state *g = &state->grid;

	if (g->waits != l->grid_waits || g->triggers != l->grid_triggers || g->early != l->grid_early ||
	    g->triggers_first != l->grid_first) {
		corpus_say(state->verdict, "\tgrid:%s%s%s%s, the table says otherwise\n", g->waits ? " waits" : "",
			   g->triggers ? " triggers" : "", g->early ? " early" : "", g->triggers_first ? " first" : "");
		state->verdict->missed++;
	}
}

static void compare_all(struct corpus_state *state)
{
	uint8_t unknown = 0, may = 0;

	for (size_t i = 0; i < state->launch->lines.n; i++)
		if (state->launch->lines.at[i].buffer < 0 && !state->launch->lines.at[i].machine)
			unknown |= state->launch->lines.at[i].role;
		else if (state->loose && state->launch->lines.at[i].machine)
			may |= state->launch->lines.at[i].role;
	if (state->loose)
		unknown &= state->unknown; /* may be better known there */
	compare_roles(state, "unknown pointers", "", state->unknown & (uint8_t)~may, unknown);
	for (size_t i = 0; i < state->launch->buffers.n; i++) {
		const char *name = state->launch->buffers.at[i].name;
		const struct corpus_touched *t = &state->buffer[i];

		for (int role = 0; role < CORPUS_ROLES; role++)
			compare_bytes(state, (int)i, role);
		compare_roles(state, name, "by object", t->is.object, t->want.object);
		compare_roles(state, name, "by tensor map", t->is.map, t->want.map);
		compare_roles(state, name, "by loaded pointer", t->is.via,
			      t->want.via & (uint8_t) ~(state->loose ? t->unknown & state->unknown : 0));
		/* In machine code a strong load need not be a volatile one, and acquire is not part of an atomic
		 * operation. */
		if (state->machine)
			compare_roles(state, name, "polling", t->is.polls & t->want.polls & (uint8_t)~SW_TOUCH_ATOMIC,
				      t->want.polls & (uint8_t)~SW_TOUCH_ATOMIC);
		else
			compare_roles(state, name, "polling", t->is.polls, t->want.polls);
		compare_roles(state, name, "before the wait", t->is.before, t->want.before);
		compare_roles(state, name, "perhaps after the wait", t->is.perhaps, t->want.perhaps);
	}
	compare_grid(state);
	compare_whys(state);
	if (!!state->footprint->wild != state->launch->wild &&
	    !(state->machine && (state->launch->wild_machine || state->launch->wild)))
		corpus_say(state->verdict, "\twild: \"%s\", the table says %s\n",
			   state->footprint->string + state->footprint->wild,
			   state->launch->wild ? "wild" : "it is not");
}

static void compare_layout(struct corpus_state *state)
{
	const struct sw_footprint *footprint = state->footprint;
	const struct corpus_launch *launch = state->launch;

	if (footprint->params != launch->n_params)
		corpus_say(state->verdict, "\t%u parameters, the table has %zu\n", footprint->params, launch->n_params);
	for (size_t i = 0; i < launch->n_params && i < footprint->params; i++)
		if ((!state->machine && footprint->param[i].offset != launch->param[i].offset) ||
		    footprint->param[i].bytes != launch->param[i].bytes)
			corpus_say(state->verdict, "\tparameter %zu: %u bytes at %u, the table has %u at %u\n", i,
				   footprint->param[i].bytes, footprint->param[i].offset, launch->param[i].bytes,
				   launch->param[i].offset);
}

static size_t bytes_of(const struct corpus_state *state, const struct corpus_buffer *buffer)
{
	for (uint32_t i = 0; i < state->footprint->symbols && buffer->name[0] == '@'; i++)
		if (!strcmp(state->footprint->string + state->footprint->symbol[i].name, buffer->name + 1))
			return state->footprint->symbol[i].bytes;
	/* A variable that the footprint does not know: missed, if the table says anything of it. */
	return buffer->name[0] == '@' ? SYMBOL_BYTES : buffer->bytes;
}

static void make_touched(struct corpus_state *state)
{
	state->buffer = sw_calloc(state->launch->buffers.n + 1, sizeof *state->buffer);
	for (size_t i = 0; i < state->launch->buffers.n; i++) {
		struct corpus_touched *t = &state->buffer[i];

		t->bytes = bytes_of(state, &state->launch->buffers.at[i]);
		t->is.byte = sw_calloc(t->bytes + 1, sizeof(uint16_t));
		t->want.byte = sw_calloc(t->bytes + 1, sizeof(uint16_t));
		t->loose = sw_calloc(t->bytes + 1, sizeof(uint16_t));
	}
}

/* The map, and what each role of each buffer amounts to. */
static void keep_map(const struct corpus_state *state)
{
	struct corpus_verdict *v = state->verdict;

	v->unknown = state->unknown || state->footprint->wild;
	for (size_t i = 0; i < state->launch->buffers.n; i++) {
		const struct corpus_touched *t = &state->buffer[i];
		uint16_t seen = 0, not_box = 0;

		/* Machine code need not tell the size of a variable: all have the same room. */
		size_t room = state->launch->buffers.at[i].name[0] == '@' ? SYMBOL_BYTES : t->bytes;
		v->byte = sw_realloc(v->byte, v->bytes + room + 1, sizeof *v->byte);
		memset(v->byte + v->bytes, 0, room * sizeof *v->byte);
		memcpy(v->byte + v->bytes, t->is.byte, (t->bytes < room ? t->bytes : room) * sizeof *v->byte);
		v->bytes += room;
		for (size_t at = 0; at < t->bytes; at++)
			for (int role = 0; role < CORPUS_ROLES; role++) {
				unsigned is = t->is.byte[at] >> role * CORPUS_EXTENTS & ((1 << CORPUS_EXTENTS) - 1);

				seen |= t->is.byte[at];
				if (is && !(is & 1 << SW_EXTENT_BOX))
					not_box |= (uint16_t)(is << role * CORPUS_EXTENTS);
			}
		for (int role = 0; role < CORPUS_ROLES; role++) {
			if (not_box & corpus_bit(role, SW_EXTENT_OPEN))
				v->known_as[SW_EXTENT_OPEN]++;
			else if (not_box & corpus_bit(role, SW_EXTENT_HULL))
				v->known_as[SW_EXTENT_HULL]++;
			else if (seen & corpus_bit(role, SW_EXTENT_BOX))
				v->known_as[SW_EXTENT_BOX]++;
		}
	}
}

enum corpus_agreement corpus_agree(const struct corpus_verdict *a, const struct corpus_verdict *b)
{
	enum corpus_agreement worst = CORPUS_EQUAL;
	uint16_t boxes = 0;

	for (int role = 0; role < CORPUS_ROLES; role++)
		boxes |= corpus_bit(role, SW_EXTENT_BOX);
	for (size_t at = 0; at < a->bytes && at < b->bytes; at++) {
		uint16_t x = a->byte[at], y = b->byte[at];

		/* An atomic operation of PTX may be a loop in machine code: roles may differ. */
		if ((x & boxes && !y && !b->unknown) || (y & boxes && !x && !a->unknown))
			return CORPUS_CONTRADICT;
		if ((x & boxes) != (y & boxes) || !x != !y)
			worst = CORPUS_OTHER_EXTENT;
	}
	return worst;
}

static void free_touched(struct corpus_state *state)
{
	for (size_t i = 0; i < state->launch->buffers.n; i++) {
		free(state->buffer[i].is.byte);
		free(state->buffer[i].want.byte);
		free(state->buffer[i].loose);
	}
	free(state->buffer);
}

void corpus_compare(const struct corpus_launch *launch, const struct sw_footprint *footprint, bool loose,
		    void (*spoil)(struct sw_reaches *reaches), struct corpus_verdict *verdict)
{
	struct corpus_state state = {.launch = launch,
				     .footprint = footprint,
				     .verdict = verdict,
				     .loose = loose,
				     .machine = footprint->source == SW_SOURCE_SASS};
	uint8_t told[CORPUS_MAX_BLOCK], params[CORPUS_MAX_BLOCK] = {0};
	struct sw_geometry geometry = {.cluster = launch->cluster,
				       .shared_bytes = launch->shared,
				       .params = params,
				       .param_bytes = footprint->param_bytes,
				       .symbol = fake_symbol,
				       .arg = (void *)(uintptr_t)launch};
	struct sw_reaches reaches = {0};

	*verdict = (struct corpus_verdict){0};
	memcpy(geometry.grid, launch->grid, sizeof geometry.grid);
	memcpy(geometry.block, launch->block, sizeof geometry.block);
	corpus_params(launch, told, corpus_fake_address, NULL);
	place_params(launch, footprint, told, params);
	make_touched(&state);
	mark_lines(&state);
	compare_layout(&state);
	sw_footprint_grid(footprint, &geometry, &state.grid);
	sw_footprint_evaluate(footprint, &geometry, &reaches);
	if (spoil)
		spoil(&reaches);
	for (size_t i = 0; i < reaches.n; i++)
		corpus_take(&state, &reaches.at[i]);
	compare_all(&state);
	keep_map(&state);
	free(reaches.at);
	free_touched(&state);
}
