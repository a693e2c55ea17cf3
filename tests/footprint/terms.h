/* SPDX-License-Identifier: Apache-2.0 */
/* Footprints built by hand: the tests' way of writing a kernel. */
#ifndef TESTS_FOOTPRINT_TERMS_H
#define TESTS_FOOTPRINT_TERMS_H

#include <stdlib.h>
#include <string.h>

#include "footprint/footprint.h"

#define TERMS_ROOM 4096

/* A footprint with its arrays; parameter i is the 8 bytes at 8 * i. */
struct terms {
	struct sw_footprint f;
	struct sw_term term[TERMS_ROOM];
	uint32_t alternative[TERMS_ROOM];
	struct sw_fact fact[TERMS_ROOM];
	struct sw_loop loop[16];
	struct sw_root root[TERMS_ROOM];
	struct sw_access_site site[TERMS_ROOM];
	struct sw_footprint_symbol symbol[4];
	struct sw_param param[8];
	char string[64];
	uint64_t value[8];
	struct sw_geometry geometry;
};

static inline struct terms *terms_new(void)
{
	struct terms *t = calloc(1, sizeof *t);
	t->f = (struct sw_footprint){.term = t->term,
				     .alternative = t->alternative,
				     .fact = t->fact,
				     .loop = t->loop,
				     .root = t->root,
				     .site = t->site,
				     .symbol = t->symbol,
				     .param = t->param,
				     .params = 8,
				     .param_bytes = sizeof t->value,
				     .string = t->string,
				     .strings = 1};
	for (int i = 0; i < 8; i++)
		t->param[i] = (struct sw_param){(uint16_t)(8 * i), 8};
	t->geometry = (struct sw_geometry){
		.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = t->value, .param_bytes = sizeof t->value};
	return t;
}

static inline uint32_t terms_add(struct terms *t, struct sw_term term)
{
	t->term[t->f.terms] = term;
	return t->f.terms++;
}

static inline uint32_t op(struct terms *t, unsigned o, unsigned width, unsigned flags, uint32_t a, uint32_t b)
{
	return terms_add(t, (struct sw_term){.op = (uint8_t)o,
					     .width = (uint8_t)width,
					     .flags = (uint8_t)flags,
					     .a = a,
					     .b = b,
					     .c = SW_NO_TERM});
}

static inline uint32_t value(struct terms *t, unsigned o, unsigned width, unsigned flags, int64_t imm, int64_t imm2)
{
	return terms_add(t, (struct sw_term){.op = (uint8_t)o,
					     .width = (uint8_t)width,
					     .flags = (uint8_t)flags,
					     .a = o == SW_OP_RANGE ? SW_WHY_LOADED : SW_NO_TERM,
					     .b = o == SW_OP_RANGE ? 0 : SW_NO_TERM,
					     .c = SW_NO_TERM,
					     .imm = imm,
					     .imm2 = imm2});
}

static inline uint32_t constant(struct terms *t, unsigned width, int64_t imm)
{
	return value(t, SW_OP_CONST, width, 0, imm, 0);
}
static inline uint32_t special(struct terms *t, enum sw_special which)
{
	return value(t, SW_OP_SPECIAL, 32, 0, which, 0);
}
static inline uint32_t param(struct terms *t, unsigned width, int index)
{
	return value(t, SW_OP_PARAM, width, 0, 8 * index, 0);
}
static inline uint32_t add(struct terms *t, unsigned width, uint32_t a, uint32_t b)
{
	return op(t, SW_OP_ADD, width, 0, a, b);
}
static inline uint32_t add_constant(struct terms *t, unsigned width, uint32_t a, int64_t imm)
{
	return op(t, SW_OP_ADD, width, 0, a, constant(t, width, imm));
}
static inline uint32_t mul(struct terms *t, unsigned width, uint32_t a, uint32_t b)
{
	return op(t, SW_OP_MUL, width, 0, a, b);
}
static inline uint32_t extend(struct terms *t, unsigned width, unsigned from, unsigned flags, uint32_t a)
{
	uint32_t at = op(t, SW_OP_EXTEND, width, flags, a, SW_NO_TERM);
	t->term[at].imm = from;
	return at;
}
static inline uint32_t compare(struct terms *t, enum sw_condition c, unsigned width, unsigned flags, uint32_t a,
			       uint32_t b)
{
	uint32_t at = op(t, SW_OP_COMPARE, 1, flags, a, b);
	t->term[at].imm = c;
	t->term[at].imm2 = width;
	return at;
}
static inline uint32_t select_term(struct terms *t, unsigned width, uint32_t c, uint32_t a, uint32_t b)
{
	uint32_t at = op(t, SW_OP_SELECT, width, 0, c, a);
	t->term[at].c = b;
	return at;
}
static inline uint32_t step(struct terms *t, unsigned width, uint32_t a, uint32_t b, uint32_t loop)
{
	uint32_t at = op(t, SW_TERM_STEP, width, 0, a, b);
	t->term[at].c = loop;
	return at;
}

/* ctaid.x * ntid.x + tid.x */
static inline uint32_t global_index(struct terms *t)
{
	return add(t, 32, mul(t, 32, special(t, SW_CTAID_X), special(t, SW_NTID_X)), special(t, SW_TID_X));
}

/* parameter `index` (a pointer) + bytes * i, where i is a 32-bit number */
static inline uint32_t element(struct terms *t, int index, uint32_t i, unsigned bytes, unsigned flags)
{
	return add(t, 64, param(t, 64, index), mul(t, 64, extend(t, 64, 32, flags, i), constant(t, 64, bytes)));
}

static inline uint32_t fact(struct terms *t, uint32_t term, bool truth)
{
	t->fact[t->f.facts] = (struct sw_fact){term, truth};
	return t->f.facts++;
}

/* A site whose facts are the last `facts` of them, rooted at parameter `index`. */
static inline struct sw_access_site *site(struct terms *t, unsigned role, int index, uint32_t address, unsigned bytes,
					  uint32_t facts)
{
	struct sw_access_site *s = &t->site[t->f.sites++];
	t->root[t->f.roots] = (struct sw_root){.kind = SW_ROOT_PARAM, .param = 8u * (unsigned)index, .span = 8};
	*s = (struct sw_access_site){.role = (uint8_t)role,
				     .bytes = bytes,
				     .address = address,
				     .size = SW_NO_TERM,
				     .fact = t->f.facts - facts,
				     .facts = facts,
				     .root = t->f.roots++,
				     .roots = 1};
	return s;
}

#endif
