/* SPDX-License-Identifier: Apache-2.0 */
/* The pointers that a site's address is made from: which one a launch uses, and what a kernel does through each. */
#include <stdlib.h>

#include "footprint/launch/evaluation/eval.h"

const struct sw_root *sw_eval_root(const struct sw_footprint *f, const struct sw_access_site *site)
{
	const struct sw_root *best = NULL;
	for (uint32_t i = 0; i < site->roots; i++) {
		const struct sw_root *root = &f->root[site->root + i];
		if (!best || root->weak < best->weak || (root->weak == best->weak && root->kind < best->kind))
			best = root;
	}
	return best;
}

bool sw_eval_is_table(const struct sw_root *root)
{
	return root->kind == SW_ROOT_PARAM && root->span > 8;
}

bool sw_eval_holds_word(const struct sw_root *root, uint32_t word)
{
	return root->kind == SW_ROOT_PARAM && root->span >= 8 && word >= root->param &&
	       word - root->param <= root->span - 8;
}

/* ---- what may go into an address */

typedef SW_VEC(uint32_t) term_stack;

/* Pushes what may go into the term: not what a condition on launch values rules out. */
static void push_possible(struct sw_eval *e, const struct sw_term *t, term_stack *todo)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	if (t->op == SW_TERM_ANY) {
		for (uint32_t i = 0; i < t->b; i++)
			if (!t->imm2 || sw_eval_truth(e, e->f->alternative[t->a + t->b + i]) != 0)
				*sw_vec_push(todo) = e->f->alternative[t->a + i];
		return;
	}
	int truth = t->op == SW_OP_SELECT ? sw_eval_truth(e, t->a) : -1;
	for (uint32_t i = t->op == SW_OP_SELECT; i < n; i++)
		if (truth < 0 || i == (truth ? 1 : 2))
			*sw_vec_push(todo) = operand[i];
}

bool sw_eval_may_go_in(struct sw_eval *e, uint32_t term, bool (*is)(const struct sw_term *))
{
	bool *seen = sw_calloc(e->f->terms + 1u, sizeof *seen), may = false;
	term_stack todo = {0};
	*sw_vec_push(&todo) = term;
	while (todo.n && !may) {
		uint32_t at = todo.at[--todo.n];
		may = at >= e->f->terms || is(&e->f->term[at]);
		if (!may && !seen[at])
			push_possible(e, &e->f->term[at], &todo);
		if (!may)
			seen[at] = true;
	}
	free(todo.at);
	free(seen);
	return may;
}

/* ---- */

void sw_eval_name_word(struct sw_eval *e, const struct sw_access_site *site, struct sw_reaches *out, size_t from)
{
	struct sw_words words;
	uint32_t i = 0;
	if (from == out->n || out->at[from].root.kind != SW_ROOT_PARAM ||
	    (site->roots < 2 && !sw_eval_is_table(&out->at[from].root)) ||
	    !sw_eval_words(e, site->address, false, &words) || words.n != 1)
		return;
	while (i < site->roots && !sw_eval_holds_word(&e->f->root[site->root + i], words.at[0]))
		i++;
	for (size_t k = from; i < site->roots && k < out->n; k++) {
		out->at[k].root = e->f->root[site->root + i];
		out->at[k].root.param = words.at[0];
		out->at[k].root.span = 8;
	}
}

/* Kernels of many modes (batched GEMMs) take their pointers from memory in one of them: not where the launch has chosen
   another. */
bool sw_eval_may_be_loaded(struct sw_eval *e, const struct sw_access_site *site)
{
	bool indirect = false, others = false;
	for (uint32_t i = 0; i < site->roots; i++) {
		bool is = e->f->root[site->root + i].kind == SW_ROOT_INDIRECT;
		indirect |= is;
		others |= !is;
	}
	if (!indirect || !others || site->address == SW_NO_TERM || !e->budget)
		return true;
	e->choices = 0;
	e->choosing = false;
	sw_eval_case_begin(e);
	sw_eval_enter_site(e, site);
	bool may = e->impossible || sw_eval_may_go_in(e, site->address, sw_term_is_unknown);
	sw_eval_case_begin(e);
	return may;
}

/* The one of the pointers found in memory that leads there. */
static uint64_t pointer_below(const struct sw_eval *e, uint64_t address)
{
	uint64_t best = 0;
	for (size_t i = 0; i < e->pointers.n; i++)
		if (e->pointers.at[i] <= address && e->pointers.at[i] > best)
			best = e->pointers.at[i];
	return best;
}

static bool is_pointer_in_memory(const struct sw_term *t)
{
	return t->op == SW_TERM_LOADED && t->bytes == sizeof(uint64_t);
}

/* Sizes and strides are among what was found, too: a pointer is what the address begins with. */
uint64_t sw_eval_open_pointer(struct sw_eval *e, const struct sw_access_site *site)
{
	if (e->choices || site->roots != 1 || e->f->root[site->root].kind != SW_ROOT_INDIRECT || !e->content)
		return 0;
	struct sw_form address = sw_eval_term(e, site->address, 64);
	uint64_t start = (uint64_t)sw_wide_wrap(address.constant, 64);
	sw_reads_pin(e->reads, site->address);
	for (size_t i = 0; i < e->pointers.n; i++) {
		if (e->pointers.at[i] == start)
			return start;
	}
	return 0;
}

void sw_eval_name_pointer(struct sw_eval *e, const struct sw_access_site *site, struct sw_reaches *out, size_t from)
{
	const struct sw_root *root = &e->f->root[site->root];
	uint32_t i = 0;
	while (i < site->roots && root[i].kind != SW_ROOT_INDIRECT)
		i++;
	if (i == site->roots || !sw_eval_may_go_in(e, site->address, is_pointer_in_memory))
		return;
	sw_reads_pin(e->reads, site->address);
	for (size_t k = from; k < out->n; k++) {
		out->at[k].root = root[i];
		out->at[k].pointer = pointer_below(e, out->at[k].address);
	}
}

static struct sw_reach *reach_of(struct sw_reaches *out, size_t from, const struct sw_root *root)
{
	for (size_t i = from; i < out->n; i++) {
		if (sw_root_equal(&out->at[i].root, root))
			return &out->at[i];
	}
	return NULL;
}

static void add_direction(struct sw_reaches *out, size_t from, const struct sw_access_site *site, uint32_t number,
			  const struct sw_root *root)
{
	struct sw_reach *reach = reach_of(out, from, root);
	if (!reach) {
		reach = sw_vec_push(out);
		*reach = (struct sw_reach){.extent = SW_EXTENT_OPEN,
					   .why = site->why,
					   .site = number,
					   .root = *root,
					   .rows = 1,
					   .slices = 1};
	}
	/* The site that is shown is one that writes. */
	if ((site->role & ~SW_TOUCH_READ) && !(reach->role & ~SW_TOUCH_READ))
		reach->site = number;
	reach->role |= site->role;
	reach->polls |= site->polls;
}

void sw_footprint_directions(const struct sw_footprint *footprint, struct sw_reaches *out)
{
	static const struct sw_root unknown = {.kind = SW_ROOT_UNKNOWN};
	size_t from = out->n;
	for (uint32_t i = 0; i < footprint->sites; i++) {
		const struct sw_access_site *site = &footprint->site[i];
		for (uint32_t j = 0; j < site->roots; j++)
			add_direction(out, from, site, i, &footprint->root[site->root + j]);
		if (!site->roots)
			add_direction(out, from, site, i, &unknown);
	}
}
