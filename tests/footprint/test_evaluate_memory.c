/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers that lie in memory whose content is known: followed three levels deep, open where any of it is not known. */
#include "reaches.h"
#include "../run_suite.h"

#define MEM   UINT64_C(0x7e0000000000)
#define WORDS 64

/* Words at MEM; those up to `known` are. */
struct memory {
	uint64_t word[WORDS], known;
	uint64_t may_change; /* a bit for each of the first */
};

static enum sw_memory_content content(void *arg, uint64_t address, uint32_t bytes, void *out)
{
	const struct memory *m = arg;
	if (address < MEM || address - MEM > 8 * m->known || 8 * m->known - (address - MEM) < bytes)
		return SW_CONTENT_UNKNOWN;
	memcpy(out, (const char *)m->word + (address - MEM), bytes);
	return m->may_change >> (address - MEM) / 8 & 1 ? SW_CONTENT_MAY_CHANGE : SW_CONTENT_KNOWN;
}

static struct terms *memory_new(struct memory *m)
{
	struct terms *t = terms_new();
	*m = (struct memory){.known = WORDS};
	for (uint64_t i = 0; i < WORDS; i++)
		m->word[i] = A + 65536 * i;
	t->geometry.content = content;
	t->geometry.arg = m;
	return t;
}

static uint32_t loaded(struct terms *t, uint32_t address)
{
	uint32_t at = op(t, SW_TERM_LOADED, 64, 0, address, SW_FROM_DATA);
	t->term[at].bytes = 8;
	t->term[at].c = SW_WHY_LOADED;
	t->term[at].imm2 = -1;
	return at;
}

/* table[index][i] of 4 bytes, where the table is the first parameter. */
static struct sw_reaches followed(struct terms *t, uint32_t index, uint32_t i)
{
	uint32_t pointer = loaded(t, element(t, 0, index, 8, 0));
	uint32_t at = add(t, 64, pointer, mul(t, 64, extend(t, 64, 32, 0, i), constant(t, 64, 4)));
	t->root[site(t, SW_TOUCH_WRITE, 0, at, 4, 0)->root].kind = SW_ROOT_INDIRECT;
	t->value[0] = MEM;
	return evaluate(t);
}

START_TEST(by_block)
{
	struct memory m;
	struct terms *t = memory_new(&m);
	m.may_change = _i ? 1 << 2 : 0;
	launch(t, 4, 64);
	struct sw_reaches r = followed(t, special(t, SW_CTAID_X), special(t, SW_TID_X));
	ck_assert_uint_eq(r.n, 4);
	for (size_t i = 0; i < 4; i++) {
		bool changes = false;
		for (size_t k = 0; k < 4; k++)
			changes |= r.at[k].address == A + 2 * 65536 && r.at[k].content == SW_CONTENT_MAY_CHANGE;
		ck_assert_int_eq(changes, _i);
		ck_assert_uint_eq(r.at[i].extent, SW_EXTENT_BOX);
		ck_assert_uint_eq(r.at[i].width, 256);
		ck_assert_uint_eq(r.at[i].pointer, r.at[i].address);
		ck_assert_uint_ne(r.at[i].content, SW_CONTENT_UNKNOWN);
	}
	finish(t, &r);
}
END_TEST

START_TEST(by_thread)
{
	struct memory m;
	struct terms *t = memory_new(&m);
	launch(t, 1, 8);
	struct sw_reaches r = followed(t, special(t, SW_TID_X), special(t, SW_TID_X));
	ck_assert_uint_eq(r.n, 8);
	for (size_t i = 0; i < 8; i++)
		expect(&r, i, SW_EXTENT_BOX, A + 65536 * i + 4 * i, 4);
	finish(t, &r);
}
END_TEST

/* 0: two words are not known; 1: none; 2: no source of known words. */
START_TEST(not_all_known)
{
	struct memory m;
	struct terms *t = memory_new(&m);
	m.known = _i ? 0 : 2;
	t->geometry.content = _i == 2 ? NULL : content;
	launch(t, 4, 64);
	struct sw_reaches r = followed(t, special(t, SW_CTAID_X), special(t, SW_TID_X));
	bool open = false;
	for (size_t i = 0; i < r.n; i++)
		open |= r.at[i].extent == SW_EXTENT_OPEN && r.at[i].root.kind == SW_ROOT_INDIRECT;
	ck_assert(open);
	finish(t, &r);
}
END_TEST

/* mode == 3 ? table[block] : the second parameter: a reach is named after the pointer that the launch uses, though a
   parameter is the first root. */
START_TEST(named_by_mode)
{
	struct memory m;
	struct terms *t = memory_new(&m);
	uint32_t third = compare(t, SW_EQ, 32, 0, param(t, 32, 1), constant(t, 32, 3));
	uint32_t one =
		select_term(t, 64, third, loaded(t, element(t, 0, special(t, SW_CTAID_X), 8, 0)), param(t, 64, 2));
	struct sw_access_site *access = site(t, SW_TOUCH_WRITE, 2, one, 4, 0);
	t->root[t->f.roots++] = (struct sw_root){.kind = SW_ROOT_INDIRECT, .span = 8};
	access->roots = 2;
	launch(t, 2, 32);
	t->value[0] = MEM;
	t->value[1] = (uint64_t)_i;
	t->value[2] = A;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, _i == 3 ? 2 : 1);
	for (size_t i = 0; i < r.n; i++) {
		ck_assert_uint_eq(r.at[i].extent, SW_EXTENT_BOX);
		ck_assert_uint_eq(r.at[i].root.kind, _i == 3 ? SW_ROOT_INDIRECT : SW_ROOT_PARAM);
		ck_assert_uint_eq(r.at[i].pointer, _i == 3 ? r.at[i].address : 0);
		ck_assert_uint_eq(r.at[i].address, A + (_i == 3 ? 65536 * i : 0));
	}
	finish(t, &r);
}
END_TEST

START_TEST(levels)
{
	struct memory m;
	struct terms *t = memory_new(&m);
	uint32_t pointer = param(t, 64, 0);
	for (int level = 0; level < _i; level++) {
		m.word[level] = level + 1 == _i ? A : MEM + 8 * (uint64_t)(level + 1);
		pointer = loaded(t, pointer);
	}
	t->root[site(t, SW_TOUCH_READ, 0, pointer, 8, 0)->root].kind = SW_ROOT_INDIRECT;
	launch(t, 2, 32);
	t->value[0] = MEM;
	struct sw_reaches r = evaluate(t);
	ck_assert_uint_eq(r.n, 1);
	if (_i <= 3)
		expect(&r, 0, SW_EXTENT_BOX, A, 8);
	else
		ck_assert_uint_eq(r.at[0].extent, SW_EXTENT_OPEN);
	finish(t, &r);
}
END_TEST

/* mode == 3 ? table[0] : the first parameter, and on in a loop without an end: only mode 3 follows a pointer. */
START_TEST(by_mode)
{
	struct memory m;
	struct terms *t = memory_new(&m);
	bool indirect = false;
	t->geometry.content = NULL;
	uint32_t third = compare(t, SW_EQ, 32, 0, param(t, 32, 1), constant(t, 32, 3));
	const uint32_t ways[] = {loaded(t, param(t, 64, 2)), param(t, 64, 0), third,
				 op(t, SW_OP_NOT, 1, 0, third, SW_NO_TERM)};
	memcpy(t->alternative, ways, sizeof ways);
	t->f.alternatives = 4;
	uint32_t one = op(t, SW_TERM_ANY, 64, 0, 0, 2);
	t->term[one].imm2 = 1;
	t->f.loops = 1;
	t->loop[0].parent = UINT32_MAX;
	struct sw_access_site *s = site(t, SW_TOUCH_WRITE, 0, step(t, 64, one, constant(t, 64, 4), 0), 4, 0);
	s->loop = 1;
	s->roots = 2;
	t->root[s->root + 1] = (struct sw_root){.kind = SW_ROOT_INDIRECT, .param = 16, .span = 8};
	t->f.roots = s->root + 2;
	launch(t, 1, 32);
	t->value[1] = (uint64_t)_i;
	struct sw_reaches r = evaluate(t);
	for (size_t i = 0; i < r.n; i++) {
		ck_assert_uint_eq(r.at[i].extent, SW_EXTENT_OPEN);
		indirect |= r.at[i].root.kind == SW_ROOT_INDIRECT;
	}
	ck_assert_uint_ge(r.n, 1);
	ck_assert_int_eq(indirect, _i == 3);
	finish(t, &r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evaluate/memory");
	TCase *tests = tcase_create("evaluate/memory");
	tcase_add_loop_test(tests, by_block, 0, 2);
	tcase_add_test(tests, by_thread);
	tcase_add_loop_test(tests, not_all_known, 0, 3);
	tcase_add_loop_test(tests, named_by_mode, 2, 4);
	tcase_add_loop_test(tests, levels, 1, 6);
	tcase_add_loop_test(tests, by_mode, 2, 4);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
