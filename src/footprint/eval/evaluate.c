/* SPDX-License-Identifier: Apache-2.0 */
/* The sites of a footprint at one launch, each in all its cases. */
#include <stdlib.h>
#include <string.h>

#include "footprint/eval/digits.h"

/* Work for one launch, in terms and a few times that for bounds: some ten milliseconds.  Ordinary kernels need a
   thousandth.  Beyond it ranges are open. */
#define BUDGET 200000u
/* Joined in between when there are more: joining compares all with all. */
#define MANY 256

static bool next_case(struct sw_eval *e)
{
	while (e->choices) {
		struct sw_choice *last = &e->choice[e->choices - 1];
		if (++last->taken < last->options)
			return true;
		e->choices--;
	}
	return false;
}

uint64_t sw_eval_symbol(struct sw_eval *e, uint32_t symbol)
{
	const struct sw_geometry *g = e->g;
	uint64_t address = g->symbol ? g->symbol(g->arg, e->f->string + e->f->symbol[symbol].name) : 0;
	sw_reads_symbol(e->reads, symbol, address);
	return address;
}

/* Where an unbounded access starts. */
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

/* A root that is many words: it is unknown yet which of them. */
static bool is_table(const struct sw_root *root)
{
	return root->kind == SW_ROOT_PARAM && root->span > 8;
}

static bool holds_word(const struct sw_root *root, uint32_t word)
{
	return root->kind == SW_ROOT_PARAM && root->span >= 8 && word >= root->param &&
	       word - root->param <= root->span - 8;
}

static bool has_table(const struct sw_eval *e, const struct sw_access_site *site)
{
	for (uint32_t i = 0; i < site->roots; i++) {
		if (is_table(&e->f->root[site->root + i]))
			return true;
	}
	return false;
}

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
	reach->below = reach->address ? e->descent.least < (sw_wide)reach->address : e->descent.falls;
}

/* How many of the outer conditions hold already, those of the site before, and in every case of it. */
static uint32_t shared_facts(const struct sw_eval *e, const struct sw_access_site *site)
{
	const struct sw_access_site *last = e->entered;
	uint32_t n = 0;
	while (n < site->facts && n < last->facts && n + 1 < e->mark.n && !e->mark.at[n + 1].chose) {
		const struct sw_fact *a = &e->f->fact[site->fact + site->facts - 1 - n];
		const struct sw_fact *b = &e->f->fact[last->fact + last->facts - 1 - n];
		if (a->term != b->term || a->truth != b->truth)
			break;
		n++;
	}
	return n;
}

/* What holds where the site is executed.  The outer conditions first: they bound what inner ones and loops compare. */
void sw_eval_enter_site(struct sw_eval *e, const struct sw_access_site *site)
{
	uint32_t shared = 0;
	if (!e->entered || e->entered->loop != site->loop || e->g->content) {
		sw_eval_case_begin(e);
	} else {
		shared = shared_facts(e, site);
		sw_eval_case_return(e, shared);
	}
	e->entered = site;
	for (uint32_t i = site->facts - shared; i-- > 0 && !e->impossible;) {
		const struct sw_fact *fact = &e->f->fact[site->fact + i];
		sw_eval_enter_loops(e, fact->term);
		sw_eval_fact(e, fact->term, fact->truth);
		sw_eval_case_mark(e);
	}
	sw_eval_enter_loops(e, site->address);
	if (site->size != SW_NO_TERM)
		sw_eval_enter_loops(e, site->size);
}

/* A pointer that no load gives in this launch: its only one is in a part of the kernel that the launch does not run. */
static bool is_never_loaded(struct sw_eval *e, const struct sw_root *root)
{
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

/* words: those that the access can be made through, NULL: all of a table.  loaded: perhaps through pointers in memory.
 */
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
		for (uint32_t k = 0; words && is_table(root) && k < words->n; k++) {
			if (!holds_word(root, words->at[k]))
				continue;
			like.root.param = words->at[k];
			like.root.span = 8;
			place_open(e, &like);
			*sw_vec_push(out) = like;
		}
		if (words && is_table(root))
			continue;
		place_open(e, &like);
		*sw_vec_push(out) = like;
	}
	if (!site->roots) {
		like.root = (struct sw_root){.kind = SW_ROOT_UNKNOWN};
		*sw_vec_push(out) = like;
	}
}

/* Bytes touched from the address on: always (*hi the same) or at most; false: not known. */
static bool site_bytes(struct sw_eval *e, const struct sw_access_site *site, uint64_t *lo, uint64_t *hi)
{
	*lo = *hi = site->bytes;
	if (site->size == SW_NO_TERM)
		return site->bytes != 0;
	struct sw_form size = sw_eval_exact(e, site->size, e->f->term[site->size].width, false);
	struct sw_bounds range = sw_bound(e, &size);
	if (range.lo < 0 || range.hi > UINT32_MAX)
		return false;
	*lo = (uint64_t)range.lo;
	*hi = (uint64_t)range.hi;
	return true;
}

/* Boxes that begin at one word of a table are that word's. */
static void name_word(struct sw_eval *e, const struct sw_access_site *site, struct sw_reaches *out, size_t from)
{
	struct sw_words words;
	uint32_t i = 0;
	if (from == out->n || out->at[from].root.kind != SW_ROOT_PARAM ||
	    (site->roots < 2 && !is_table(&out->at[from].root)) || !sw_eval_words(e, site->address, &words) ||
	    words.n != 1)
		return;
	while (i < site->roots && !holds_word(&e->f->root[site->root + i], words.at[0]))
		i++;
	for (size_t k = from; i < site->roots && k < out->n; k++) {
		out->at[k].root = e->f->root[site->root + i];
		out->at[k].root.param = words.at[0];
		out->at[k].root.span = 8;
	}
}

/* What a site's address may change of a case, beyond what follows from its facts. */
struct case_state {
	bool blind, impossible;
	uint32_t choices;
	size_t loops;
};

static struct case_state state_of(const struct sw_eval *e)
{
	return (struct case_state){e->blind, e->impossible, e->choices, e->loops.n};
}

/* The case is left open for the next site, if this one has no others and added nothing to it. */
static void keep_case(struct sw_eval *e, const struct sw_access_site *site, struct case_state entered)
{
	struct case_state now = state_of(e);
	if (!now.choices && now.blind == entered.blind && now.impossible == entered.impossible &&
	    now.loops == entered.loops)
		e->open_case = site;
}

/* A ring, (start + i) % n, is one piece for each value of its quotient: so few values are taken one by one. */
#define MOST_PIECES 4

/* Does what is divided begin inside a turn?  Threads and blocks of a tile begin at a turn's start: their pieces adjoin,
   and looking at them one by one would give many uses for one. */
static bool begins_inside_turn(const struct sw_eval *e, const struct sw_variable *v)
{
	const struct sw_quotient *q = &e->quotient.at[v->of];
	struct sw_bounds divided = sw_bound_plain(e, &q->x);
	return divided.lo > -SW_INFINITE && divided.lo % q->divisor;
}

static uint32_t few_valued(const struct sw_eval *e, const struct sw_form *address)
{
	for (uint32_t i = 0; i < address->n; i++) {
		const struct sw_variable *v = &e->variable.at[address->var[i]];
		if (v->quotient && !v->why && v->hi > v->lo && v->hi - v->lo < MOST_PIECES && begins_inside_turn(e, v))
			return address->var[i];
	}
	return SW_NONE;
}

/* The hull is kept back until all sites are known. */
static bool keep_digits(struct sw_eval *e, const struct sw_form *address, uint64_t bytes, struct sw_reaches *out,
			size_t from)
{
	struct sw_reach hull = out->at[from];
	hull.content = (uint8_t)e->content;
	if (e->splitting || e->site->roots != 1 || is_table(&hull.root) || out->n != from + 1 ||
	    (hull.why != SW_WHY_COMPUTED && hull.why != SW_WHY_RAGGED) || !sw_digits_keep(e, address, bytes, &hull))
		return false;
	sw_reads_name(e->reads, e->site->address, &hull.root, (sw_wide)hull.address, sw_reach_end(&hull));
	out->n = from;
	return true;
}

/* Boxes, or pieces in as many cases as it takes.  That some thread has each value of the quotient is not known: pieces
   are hulls. */
static bool boxes_or_pieces(struct sw_eval *e, const struct sw_form *address, uint64_t bytes, bool digits,
			    const struct sw_reach *like, struct sw_reaches *out, enum sw_why *why)
{
	size_t from = out->n;
	bool pieces = false;
	while (sw_eval_boxes(e, address, bytes, like, out, why)) {
		for (size_t i = from; pieces && i < out->n; i++) {
			out->at[i].extent = SW_EXTENT_HULL;
			out->at[i].why = out->at[i].why ? out->at[i].why : SW_WHY_COMPUTED;
		}
		bool hull = out->n > from && out->at[from].extent == SW_EXTENT_HULL;
		if (hull && digits && !pieces && !e->blind && keep_digits(e, address, bytes, out, from))
			return true;
		uint32_t var = hull && !e->blind ? few_valued(e, address) : SW_NONE;
		if (var == SW_NONE)
			return true;
		/* The key says from which value they are counted: the same in each of the cases. */
		sw_wide lo = e->variable.at[var].lo, hi = e->variable.at[var].hi;
		uint64_t key = UINT64_C(1) << 33 | (uint64_t)((uint32_t)lo & 0x3fffffff) << 34 | var;
		uint32_t choice = sw_eval_case_choose(e, key, (uint32_t)(hi - lo) + 1);
		if (choice == SW_NONE)
			return true;
		out->n = from;
		pieces = true;
		sw_eval_narrow(e, var, lo + choice, lo + choice);
	}
	return false;
}

/* One case of a site; false: there are no bounds, with the reason. */
static bool site_case(struct sw_eval *e, const struct sw_access_site *site, const struct sw_reach *like,
		      struct sw_reaches *out, enum sw_why *why)
{
	uint64_t lo, hi;
	size_t from = out->n;
	struct case_state entered;
	bool left_open = e->open_case != NULL;
	e->open_case = NULL;
	if (!left_open)
		sw_eval_enter_site(e, site);
	entered = state_of(e);
	if (e->impossible) {
		keep_case(e, site, entered);
		return true;
	}
	struct sw_form address = sw_eval_exact(e, site->address, e->f->term[site->address].width, false);
	if (e->impossible)
		return true;
	*why = SW_WHY_SIZE;
	if (!site_bytes(e, site, &lo, &hi) || !boxes_or_pieces(e, &address, hi, lo == hi, like, out, why)) {
		e->descent = sw_descent_of(e, site->address);
		e->descent.pointer = sw_eval_open_pointer(e, site);
		return false;
	}
	for (size_t i = from; lo != hi && i < out->n; i++) {
		out->at[i].extent = SW_EXTENT_HULL;
		out->at[i].why = SW_WHY_SIZE;
	}
	name_word(e, site, out, from);
	if (out->n > from && e->pointers.n)
		sw_eval_name_pointer(e, site, out, from);
	for (size_t i = from; i < out->n; i++) {
		const struct sw_reach *r = &out->at[i];
		sw_reads_name(e->reads, site->address, &r->root, r->address, sw_reach_end(r));
	}
	keep_case(e, site, entered);
	return true;
}

/* The words of tables that the site's address can be made of, whatever the case. */
static bool site_words(struct sw_eval *e, const struct sw_access_site *site, struct sw_words *words)
{
	if (site->address == SW_NO_TERM || !has_table(e, site))
		return false;
	e->choices = 0;
	e->choosing = false;
	sw_eval_case_begin(e);
	sw_eval_enter_site(e, site);
	bool known = !e->impossible && sw_eval_words(e, site->address, words);
	sw_eval_case_begin(e);
	return known;
}

static bool by_data(enum sw_why why)
{
	return why == SW_WHY_LOADED || why == SW_WHY_SHARED || why == SW_WHY_ATOMIC || why == SW_WHY_FLOAT;
}

static void evaluate_site(struct sw_eval *e, uint32_t number, struct sw_reaches *out)
{
	const struct sw_access_site *site = &e->f->site[number];
	struct sw_reach like = {.role = site->role, .polls = site->polls, .site = number};
	struct sw_words words;
	size_t from = out->n, digits = e->digits.n;
	enum sw_why why = (enum sw_why)site->why;
	bool open = site->address == SW_NO_TERM || !e->budget;
	if (site->address != SW_NO_TERM && !e->budget)
		why = SW_WHY_COMPLEX;
	e->site = site;
	e->descent = SW_DESCENT_ANYWHERE;
	const struct sw_root *root = sw_eval_root(e->f, site);
	like.root = root ? *root : (struct sw_root){.kind = SW_ROOT_UNKNOWN};
	e->choices = 0;
	e->choosing = true;
	if (open || (e->open_case && !sw_eval_same_case(e, e->open_case, site)))
		e->open_case = NULL;
	if (!e->open_case) {
		e->content = e->content_ever;
		e->pointers.n = 0;
	}
	if (!open) {
		do {
			open = !site_case(e, site, &like, out, &why);
			if (!open && !e->budget) {
				open = true;
				why = SW_WHY_COMPLEX;
				e->descent = SW_DESCENT_ANYWHERE;
			}
		} while (!open && !e->split.wanted && next_case(e));
	}
	for (size_t i = from; !open && i < out->n; i++) {
		out->at[i].content = (uint8_t)e->content;
		if (out->at[i].extent == SW_EXTENT_HULL && !by_data((enum sw_why)out->at[i].why))
			sw_eval_refine(e);
	}
	if (open)
		e->digits.n = digits;
	if (open && !e->split.wanted) {
		out->n = from;
		e->open_case = NULL;
		bool loaded = sw_eval_may_be_loaded(e, site);
		add_open(e, site, like, why, site_words(e, site, &words) ? &words : NULL, loaded, out);
	}
}

static void eval_free(struct sw_eval *e)
{
	free(e->variable.at);
	free(e->quotient.at);
	sw_map_free(&e->quotient_of);
	sw_map_free(&e->bound_of);
	free(e->outcome.at);
	free(e->value.at);
	free(e->exact.at);
	free(e->value_of);
	free(e->loop);
	free(e->inequality.at);
	free(e->stamp);
	free(e->runs);
	free(e->counts);
	free(e->perhaps);
	free(e->loops_of);
	free(e->holds.at);
	free(e->hold_state.at);
	sw_map_free(&e->narrowing_of);
	free(e->narrowing.at);
	free(e->range.at);
	free(e->narrowed.at);
	free(e->mark.at);
	free(e->loops.at);
	free(e->work.at);
	free(e->digits.at);
	free(e->pointers.at);
}

void sw_eval_sites(struct sw_eval *e, const bool *only, struct sw_reaches *out)
{
	const struct sw_footprint *f = e->f;
	size_t from = out->n;
	sw_reads_begin(e->reads, f);
	e->value_of = sw_calloc(f->terms + 1u, sizeof *e->value_of);
	e->stamp = sw_calloc(f->terms + 1u, sizeof *e->stamp);
	e->runs = sw_calloc(f->sites + 1u, sizeof *e->runs);
	e->loop = sw_calloc(f->loops + 1u, sizeof *e->loop);
	for (uint32_t i = 0; i < f->loops; i++)
		e->loop[i].counter = SW_NONE;
	sw_eval_case_begin(e);
	sw_eval_find_counts(e);
	sw_eval_loops(e);
	for (uint32_t i = 0; i < f->sites && !e->split.wanted; i++) {
		if (only && !only[i])
			continue;
		evaluate_site(e, i, out);
		if (out->n - from > MANY)
			sw_reaches_join(out, from, SW_MAX_REACHES);
	}
	sw_eval_case_begin(e);
	sw_digits_finish(e, out);
	if (e->split.wanted)
		out->n = from;
	sw_reaches_join(out, from, SW_MAX_REACHES);
	eval_free(e);
}

void sw_eval_launch(const struct sw_footprint *footprint, const struct sw_geometry *geometry, struct sw_reads *reads,
		    struct sw_known_bounds *known, struct sw_reaches *out)
{
	sw_eval_grid_split(footprint, geometry, reads, known, BUDGET, out);
}

void sw_footprint_evaluate(const struct sw_footprint *footprint, const struct sw_geometry *geometry,
			   struct sw_reaches *out)
{
	sw_eval_launch(footprint, geometry, NULL, NULL, out);
}
