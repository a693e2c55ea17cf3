/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pointers that a site's address is made from: which one a launch uses, and what a kernel does through each.  An
 * access without bounds is reported for each pointer that it may start from.
 */
#include <stdlib.h>
#include <string.h>

#include "footprint/launch/evaluation/eval.h"
#include "footprint/rules.h"

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

/* Is the word at this offset of the parameter block one that the root may stand for? */
static bool holds_word(const struct sw_root *root, uint32_t word)
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

/* May a term for which is() holds go into the term's value in this case? */
static bool may_go_in(struct sw_eval *e, uint32_t term, bool (*is)(const struct sw_term *))
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

/* ---- the pointer of a reach */

void sw_eval_name_word(struct sw_eval *e, const struct sw_access_site *site, struct sw_reaches *out, size_t from)
{
	struct sw_words words;
	uint32_t i = 0;
	if (from == out->n || out->at[from].root.kind != SW_ROOT_PARAM ||
	    (site->roots < 2 && !sw_eval_is_table(&out->at[from].root)) ||
	    !sw_eval_words(e, site->address, false, &words) || words.n != 1)
		return;
	while (i < site->roots && !holds_word(&e->f->root[site->root + i], words.at[0]))
		i++;
	for (size_t k = from; i < site->roots && k < out->n; k++) {
		out->at[k].root = e->f->root[site->root + i];
		out->at[k].root.param = words.at[0];
		out->at[k].root.span = 8;
	}
}

/* May the site, in this launch, access memory through pointers that lie in memory?  Kernels of many modes (batched
 * GEMMs) take their pointers from memory in one of them: not where the launch has chosen another. */
static bool may_be_loaded(struct sw_eval *e, const struct sw_access_site *site)
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
	bool may = e->impossible || may_go_in(e, site->address, sw_term_is_unknown);
	sw_eval_case_begin(e);
	return may;
}

/* The highest of the pointers found in memory that is not above the address; 0: none. */
static uint64_t pointer_below(const struct sw_eval *e, uint64_t address)
{
	uint64_t best = 0;
	for (size_t i = 0; i < e->pointers.n; i++)
		if (e->pointers.at[i] <= address && e->pointers.at[i] > best)
			best = e->pointers.at[i];
	return best;
}

/* Is the term a pointer that is loaded from memory? */
static bool is_pointer_in_memory(const struct sw_term *t)
{
	return t->op == SW_TERM_LOADED && t->bytes == sizeof(uint64_t);
}

/* The address must begin with one of the words found in memory: these are sizes and strides as well as pointers. */
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
	if (i == site->roots || !may_go_in(e, site->address, is_pointer_in_memory))
		return;
	sw_reads_pin(e->reads, site->address);
	for (size_t k = from; k < out->n; k++) {
		out->at[k].root = root[i];
		out->at[k].pointer = pointer_below(e, out->at[k].address);
	}
}

/* The reach of this root among those from `from` on; NULL: there is none. */
static struct sw_reach *reach_of(struct sw_reaches *out, size_t from, const struct sw_root *root)
{
	for (size_t i = from; i < out->n; i++) {
		if (sw_root_equal(&out->at[i].root, root))
			return &out->at[i];
	}
	return NULL;
}

/* Adds the site's accesses (read, write, atomic) to the unbounded reach of a root. */
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

/* ---- accesses without bounds */

/* Accesses without bounds: the pointers that they may start from, and whether they may fall below those. */

/* Is it a loaded or rounded number?  Such a one is taken for an index from its pointer on, though its type would let
   it be negative. */
static bool is_index(const struct sw_variable *v)
{
	return v->why == SW_WHY_LOADED || v->why == SW_WHY_SHARED || v->why == SW_WHY_ATOMIC || v->why == SW_WHY_FLOAT;
}

struct sw_descent sw_descent_of(struct sw_eval *e, uint32_t term)
{
	struct sw_form address = sw_eval_term(e, term, 64);
	struct sw_descent d = {.least = address.constant};
	/* As a signed number it must not turn around. */
	sw_reads_between(e->reads, term, address.constant, address.constant, INT64_MIN, INT64_MAX);
	for (uint32_t i = 0; i < address.n; i++) {
		const struct sw_variable *v = &e->variable.at[address.var[i]];
		bool turns = v->quotient && v->why == SW_WHY_WRAPS;
		if (turns || (is_index(v) && address.by[i] > 0))
			continue;
		sw_wide part = sw_wide_mul(address.by[i] > 0 ? v->lo : v->hi, address.by[i]);
		d.least = sw_wide_add(d.least, part);
		d.falls |= part < 0;
	}
	return d;
}

uint64_t sw_eval_symbol(struct sw_eval *e, uint32_t symbol)
{
	const struct sw_geometry *g = e->g;
	uint64_t address = g->symbol ? g->symbol(g->arg, e->f->string + e->f->symbol[symbol].name) : 0;
	sw_reads_symbol(e->reads, symbol, address);
	return address;
}

/* The address of the pointer that an unbounded access starts from in this launch; 0: not known. */
static uint64_t root_address(struct sw_eval *e, const struct sw_root *root)
{
	const struct sw_geometry *g = e->g;
	uint64_t word = 0;
	switch (root->kind) {
	case SW_ROOT_PARAM:
	case SW_ROOT_OBJECT:
		if (root->span <= 8 && root->param <= g->param_bytes && g->param_bytes - root->param >= 8) {
			memcpy(&word, (const char *)g->params + root->param, 8);
			if (root->kind == SW_ROOT_PARAM)
				sw_reads_root(e->reads, root->param, word);
			else
				sw_reads_bytes(e->reads, root->param, 8);
		}
		return word;
	case SW_ROOT_SYMBOL:
		return root->symbol < e->f->symbols ? sw_eval_symbol(e, root->symbol) : 0;
	default:
		return 0;
	}
}

/* May an access that falls like d lie below the pointer at this address (0: not known)? */
static bool lies_below(const struct sw_descent *d, uint64_t address)
{
	return address ? d->least < (sw_wide)address : d->falls;
}

/* Does d fall below no pointer of the site but those below which *other falls too? */
static bool falls_no_deeper(struct sw_eval *e, const struct sw_access_site *site, const struct sw_descent *d,
			    const struct sw_descent *other)
{
	for (uint32_t i = 0; i < site->roots; i++) {
		uint64_t address = root_address(e, &e->f->root[site->root + i]);
		if (lies_below(d, address) && !lies_below(other, address))
			return false;
	}
	return true;
}

/* How low the site's address may lie, computed from the intervals of its variables alone, while only the first `depth`
   facts hold.  False: a choice between cases was made on the way, so *out holds in one of them only. */
static bool descent_by_intervals(struct sw_eval *e, const struct sw_access_site *site, size_t depth,
				 struct sw_descent *out)
{
	uint32_t chosen = e->choices;
	e->site = site;
	e->open_case = NULL;
	sw_eval_case_return(e, depth);
	sw_eval_case_mark(e); /* a state of its own: no value that is remembered from here is used elsewhere */
	sw_eval_case_changed(e);
	e->interval_bounds_only = true;
	*out = sw_descent_of(e, site->address);
	e->interval_bounds_only = false;
	bool all = e->choices == chosen && !e->split.wanted;
	e->choices = chosen;
	sw_eval_case_return(e, depth);
	return all;
}

bool sw_eval_falls_like(struct sw_eval *e, const struct sw_access_site *site, size_t depth, struct sw_descent *descent,
			uint16_t *base)
{
	struct sw_descent own;
	if (falls_no_deeper(e, site, &SW_DESCENT_ANYWHERE, descent))
		return true;
	if (!descent_by_intervals(e, site, depth, &own) || !falls_no_deeper(e, site, &own, descent))
		return false;
	*descent = own;
	*base = sw_reads_base_of(e->reads, site->address);
	return true;
}

/* May the site go through one of many words of the parameter block? */
static bool has_table(const struct sw_eval *e, const struct sw_access_site *site)
{
	for (uint32_t i = 0; i < site->roots; i++) {
		if (sw_eval_is_table(&e->f->root[site->root + i]))
			return true;
	}
	return false;
}

/* Fills in where an unbounded reach begins, and whether it may also lie before that. */
static void place_open(struct sw_eval *e, struct sw_reach *reach)
{
	reach->address = root_address(e, &reach->root);
	if (reach->root.kind == SW_ROOT_INDIRECT && e->descent.pointer) {
		reach->address = reach->pointer = e->descent.pointer;
		reach->content = (uint8_t)e->content;
		reach->below = e->descent.least < (sw_wide)reach->address;
		return;
	}
	if (reach->address && e->descent.least > -SW_INFINITE && e->site->address != SW_NO_TERM)
		sw_reads_below(e->reads, e->site->address, e->descent.least, &reach->root, reach->address);
	reach->below = lies_below(&e->descent, reach->address);
}

/* Does this launch not run the only load that gives the pointer?  Then no access goes through it. */
static bool is_never_loaded(struct sw_eval *e, const struct sw_root *root)
{
	if (SW_RULE_IS_OFF(never_loaded))
		return false;
	if (root->kind != SW_ROOT_INDIRECT || !root->loader || !e->budget)
		return false;
	const struct sw_access_site *own = e->site, *loader = &e->f->site[root->loader - 1];
	uint8_t *runs = &e->runs[root->loader - 1];
	if (!*runs && loader->address != SW_NO_TERM) {
		e->site = loader;
		e->choices = 0;
		e->choosing = false;
		sw_eval_case_begin(e);
		sw_eval_enter_site(e, loader);
		*runs = e->impossible ? 2 : 1;
		sw_eval_case_begin(e);
		e->site = own;
	}
	return *runs == 2;
}

/* Lists the words of tables that the site's address can be made of, whatever the case; false: not all are known. */
static bool site_words(struct sw_eval *e, const struct sw_access_site *site, struct sw_words *words)
{
	if (site->address == SW_NO_TERM || !has_table(e, site))
		return false;
	e->choices = 0;
	e->choosing = false;
	sw_eval_case_begin(e);
	sw_eval_enter_site(e, site);
	bool known = !e->impossible && sw_eval_words(e, site->address, true, words);
	sw_eval_case_begin(e);
	return known;
}

/* Appends the site's unbounded reaches, one for each pointer.  words: those of tables that it may go through, NULL:
   all. loaded: perhaps it goes through pointers in memory. */
static void add_open(struct sw_eval *e, const struct sw_access_site *site, struct sw_reach like, enum sw_why why,
		     const struct sw_words *words, bool loaded, struct sw_reaches *out)
{
	like.extent = SW_EXTENT_OPEN;
	like.why = (uint8_t)why;
	like.rows = like.slices = 1;
	bool others = false;
	for (uint32_t i = 0; i < site->roots; i++)
		others |= e->f->root[site->root + i].kind != SW_ROOT_INDIRECT;
	for (uint32_t i = 0; i < site->roots; i++) {
		const struct sw_root *root = &e->f->root[site->root + i];
		if (root->kind == SW_ROOT_INDIRECT && (!loaded || (others && is_never_loaded(e, root))))
			continue;
		like.root = *root;
		for (uint32_t k = 0; words && sw_eval_is_table(root) && k < words->n; k++) {
			if (!holds_word(root, words->at[k]))
				continue;
			like.root.param = words->at[k];
			like.root.span = 8;
			place_open(e, &like);
			*sw_vec_push(out) = like;
		}
		if (words && sw_eval_is_table(root))
			continue;
		place_open(e, &like);
		*sw_vec_push(out) = like;
	}
	if (!site->roots) {
		like.root = (struct sw_root){.kind = SW_ROOT_UNKNOWN};
		*sw_vec_push(out) = like;
	}
}

/* Finds the layers of a texture or surface that a site touches, as far as the launch shows them. */
static void find_layers(struct sw_eval *e, const struct sw_access_site *site, struct sw_reach *reach)
{
	if (site->address != SW_NO_TERM || site->size == SW_NO_TERM || !e->budget)
		return;
	e->choices = 0;
	e->choosing = false;
	sw_eval_case_begin(e);
	sw_eval_enter_loops(e, site->size);
	struct sw_form number = sw_eval_exact(e, site->size, e->f->term[site->size].width, false);
	struct sw_bounds bounds = sw_bound(e, &number);
	sw_eval_case_begin(e);
	if (bounds.lo < 0 || bounds.hi >= SW_MOST_LAYERS || bounds.hi < bounds.lo)
		return;
	reach->layer = (uint16_t)bounds.lo;
	reach->layers = (uint16_t)(bounds.hi - bounds.lo + 1);
}

void sw_eval_add_open(struct sw_eval *e, uint32_t number, enum sw_why why, struct sw_reaches *out)
{
	const struct sw_access_site *site = e->site;
	struct sw_reach like = {.role = site->role, .polls = site->polls, .site = number, .order = site->order};
	struct sw_words words;
	find_layers(e, site, &like);
	bool loaded = may_be_loaded(e, site);
	add_open(e, site, like, why, site_words(e, site, &words) ? &words : NULL, loaded, out);
}
