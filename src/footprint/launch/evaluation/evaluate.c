/* SPDX-License-Identifier: Apache-2.0 */
/* The sites of a footprint at one launch, each in all its cases. */
#include <stdlib.h>
#include <string.h>

#include "footprint/launch/evaluation/digits.h"
#include "footprint/launch/evaluation/eval.h"
#include "footprint/rules.h"

/* Work for one launch, in terms and a few times that for bounds: some ten milliseconds.  Ordinary kernels need a
   thousandth.  Beyond it ranges are open. */
#define BUDGET 200000u
/* Joined in between when there are more: joining compares all with all. */
#define MANY 256

/* The least and the most bytes that one access of the site touches from its address on.  False: unknown. */
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

/* The parts of a case that a site's address may change, beyond those that follow from its facts. */
struct case_state {
	bool has_uninterpreted_fact, impossible;
	uint32_t choices;
	size_t loops;
};

/* Takes a snapshot of these parts of the case; keep_case() compares two. */
static struct case_state state_of(const struct sw_eval *e)
{
	return (struct case_state){e->has_uninterpreted_fact, e->impossible, e->choices, e->loops.n};
}

/* Leaves the case open for the next site, if this one made no choices of its own and added nothing to it. */
static void keep_case(struct sw_eval *e, const struct sw_access_site *site, uint32_t chosen, struct case_state entered)
{
	struct case_state now = state_of(e);
	if (SW_RULE_IS_OFF(kept_case))
		return;
	if (now.choices == chosen && now.has_uninterpreted_fact == entered.has_uninterpreted_fact &&
	    now.impossible == entered.impossible && now.loops == entered.loops)
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

/* A variable of the address that is a quotient of two to MOST_PIECES values, to split the case by; or SW_NONE. */
static uint32_t few_valued(const struct sw_eval *e, const struct sw_form *address)
{
	if (SW_RULE_IS_OFF(ring_pieces))
		return SW_NONE;
	for (uint32_t i = 0; i < address->n; i++) {
		const struct sw_variable *v = &e->variable.at[address->var[i]];
		if (v->quotient && !v->why && v->hi > v->lo && v->hi - v->lo < MOST_PIECES && begins_inside_turn(e, v))
			return address->var[i];
	}
	return SW_NONE;
}

/* Takes the site's hull, out->at[from], out of the list for sw_digits_finish(), if that may make boxes of it.
   False: it stays there. */
static bool keep_digits(struct sw_eval *e, const struct sw_form *address, uint64_t bytes, struct sw_reaches *out,
			size_t from)
{
	struct sw_reach hull = out->at[from];
	hull.content = (uint8_t)e->content;
	if (e->splitting || e->site->roots != 1 || sw_eval_is_table(&hull.root) || out->n != from + 1 ||
	    (hull.why != SW_WHY_COMPUTED && hull.why != SW_WHY_RAGGED) || !sw_digits_keep(e, address, bytes, &hull))
		return false;
	sw_reads_name(e->reads, e->site->address, &hull.root, (sw_wide)hull.address, sw_reach_end(&hull));
	out->n = from;
	return true;
}

/* Appends the boxes of an address in this case.  Where they would be a hull, and the address has a quotient of a few
   values, the case is split by them: it goes on with one value, the others are cases of their own.  That some thread
   has each value is not known, so these pieces are hulls.  digits: keep_digits() may be used.  False: there are no
   bounds, with the reason. */
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
		if (hull && digits && !pieces && !e->has_uninterpreted_fact &&
		    keep_digits(e, address, bytes, out, from))
			return true;
		uint32_t var = hull && !e->has_uninterpreted_fact ? few_valued(e, address) : SW_NONE;
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

/* Appends the site's reaches in one case, with `chosen` choices of outer conditions.  False: no bounds, and why. */
static bool site_case(struct sw_eval *e, uint32_t chosen, const struct sw_reach *like, struct sw_reaches *out,
		      enum sw_why *why)
{
	const struct sw_access_site *site = e->site;
	uint64_t lo, hi;
	size_t from = out->n;
	struct case_state entered;
	bool left_open = e->open_case != NULL;
	e->open_case = NULL;
	if (!left_open)
		sw_eval_enter_rest(e, site);
	entered = state_of(e);
	if (e->impossible) {
		keep_case(e, site, chosen, entered);
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
	sw_eval_name_word(e, site, out, from);
	if (out->n > from && e->pointers.n)
		sw_eval_name_pointer(e, site, out, from);
	for (size_t i = from; i < out->n; i++) {
		const struct sw_reach *r = &out->at[i];
		sw_reads_name(e->reads, site->address, &r->root, r->address, sw_reach_end(r));
	}
	keep_case(e, site, chosen, entered);
	return true;
}

/* Is a hull no box because of data that the kernel loads or computes?  Evaluating fewer blocks would not help there. */
static bool by_data(enum sw_why why)
{
	return why == SW_WHY_LOADED || why == SW_WHY_SHARED || why == SW_WHY_ATOMIC || why == SW_WHY_FLOAT;
}

/* ---- all sites: those that have outer conditions in common are looked at together in each case of these */

/* Findings about a site so far. */
struct site_state {
	bool open; /* in some case: whatever was found in others says nothing */
	uint8_t why;
	uint16_t base; /* that the address is made from where it is open */
	enum sw_memory_content content;
	struct sw_descent descent;
};

struct walk {
	struct sw_eval *e;
	struct sw_reaches *out;
	size_t from, joined; /* reaches of this evaluation; so many are joined */
	uint32_t sites;
	uint32_t *site;		  /* their numbers */
	uint32_t *shared;	  /* outer conditions that each has in common with the one before */
	uint32_t *like;		  /* sw_alike_sites_find(), when first wanted */
	uint32_t *open_like;	  /* by number of the first one: one that is open, + 1; 0: none */
	struct site_state *state; /* by number */
};

/* Conditions are entered that deep in sites within sites; beyond, each site enters what is left of its own. */
#define MOST_LEVELS 64

static const struct sw_access_site *site_at(const struct walk *w, uint32_t i)
{
	return &w->e->f->site[w->site[i]];
}

/* Notes that nothing bounds the addresses of a site, why, and where they may lead. */
static void set_open(struct site_state *state, enum sw_why why, struct sw_descent descent)
{
	state->open = true;
	state->why = (uint8_t)why;
	state->descent = descent;
}

/* When all cases of these sites are known: drops the reaches (from `begun` on) and digits of sites that turned out
   open, and asks for fewer blocks at a time where a hull was found. */
static void settle_sites(struct walk *w, size_t begun, size_t digits)
{
	struct sw_eval *e = w->e;
	size_t kept = begun;
	for (size_t i = begun; i < w->out->n; i++) {
		struct sw_reach *r = &w->out->at[i];
		if (w->state[r->site].open)
			continue;
		r->content = (uint8_t)w->state[r->site].content;
		if (r->extent == SW_EXTENT_HULL && !by_data((enum sw_why)r->why))
			sw_eval_refine(e);
		w->out->at[kept++] = *r;
	}
	w->out->n = kept;
	for (size_t i = kept = digits; i < e->digits.n; i++) {
		if (w->state[e->digits.at[i].hull.site].open)
			continue;
		if (i != kept)
			e->digits.at[kept] = e->digits.at[i];
		kept++;
	}
	e->digits.n = kept;
	if (w->out->n - w->joined > MANY) {
		sw_reaches_join(w->out, w->from, SW_MAX_REACHES);
		w->joined = w->out->n;
	}
}

/* Work that is more than a look at another site. */
#define WORTH 20u

/* Remembers an open site (nothing bounds its addresses), found with some work, as an example for
   is_open_like_another(). */
static void remember_open_site(struct walk *w, uint32_t number)
{
	const struct sw_footprint *f = w->e->f;
	if (SW_RULE_IS_OFF(alike_sites))
		return;
	if (!w->like) {
		w->like = sw_alike_sites_find(f);
		w->open_like = sw_calloc(f->sites + 1u, sizeof *w->open_like);
	}
	w->open_like[w->like[number]] = number + 1;
}

/* Takes the result of the site's example over, if there is one that is open and goes through the same pointers here; an
   example that does not is forgotten.  True: it did. */
static bool is_open_like_another(struct walk *w, uint32_t number, size_t depth)
{
	const struct sw_access_site *site = &w->e->f->site[number];
	uint32_t *example = w->like ? &w->open_like[w->like[number]] : NULL;
	if (!example || !*example)
		return false;
	struct site_state own = w->state[*example - 1];
	if (sw_eval_falls_like(w->e, site, depth, &own.descent, &own.base))
		w->state[number] = own;
	else
		*example = 0;
	return *example;
}

/* Evaluates one site, case by case; a case that gives no bounds makes the site open. */
static void walk_site(struct walk *w, uint32_t number, size_t depth)
{
	struct sw_eval *e = w->e;
	const struct sw_access_site *site = &e->f->site[number];
	const struct sw_root *root = sw_eval_root(e->f, site);
	struct site_state *state = &w->state[number];
	struct sw_reach like = {.role = site->role, .polls = site->polls, .site = number, .order = site->order};
	size_t begun = w->out->n, digits = e->digits.n;
	uint32_t chosen = e->choices;
	uint64_t budget = e->budget;
	enum sw_why why = (enum sw_why)site->why;
	if (!state->open && !e->budget)
		set_open(state, SW_WHY_COMPLEX, SW_DESCENT_ANYWHERE);
	if (state->open || is_open_like_another(w, number, depth))
		return;
	e->site = site;
	like.root = root ? *root : (struct sw_root){.kind = SW_ROOT_UNKNOWN};
	if (e->open_case && !sw_eval_same_case(e, e->open_case, site))
		e->open_case = NULL;
	if (!e->open_case)
		sw_eval_case_return(e, depth);
	do {
		if (!site_case(e, chosen, &like, w->out, &why))
			set_open(state, why, e->descent);
		else if (!e->budget)
			set_open(state, SW_WHY_COMPLEX, SW_DESCENT_ANYWHERE);
	} while (!state->open && !e->split.wanted && sw_eval_next_case(e, chosen));
	if (state->open) {
		e->open_case = NULL;
		state->base = sw_reads_base_of(e->reads, site->address);
		if (e->budget && budget - e->budget > WORTH && !e->g->content)
			remember_open_site(w, number);
	}
	state->content = e->content;
	e->choices = chosen;
	if (!chosen)
		settle_sites(w, begun, digits);
}

/* Is one of the walk's sites from .. to-1 still bounded?  If not, further cases of them say nothing. */
static bool any_bounded(const struct walk *w, uint32_t from, uint32_t to)
{
	while (from < to && w->state[w->site[from]].open)
		from++;
	return from < to;
}

/* Begins the next case of these sites.  False: there is none, or no budget for it (then they become open). */
static bool next_case_of(struct walk *w, uint32_t from, uint32_t to, uint32_t chosen)
{
	if (!any_bounded(w, from, to) || !sw_eval_next_case(w->e, chosen))
		return false;
	for (; !w->e->budget && from < to; from++) {
		if (!w->state[w->site[from]].open)
			set_open(&w->state[w->site[from]], SW_WHY_COMPLEX, SW_DESCENT_ANYWHERE);
	}
	return w->e->budget;
}

static void walk_sites(struct walk *w, uint32_t from, uint32_t to, size_t depth, uint32_t level);

/* Evaluates the walk's sites from .. to-1 in each case of the `shared` outer conditions that all of them have. */
static void walk_group(struct walk *w, uint32_t from, uint32_t to, size_t depth, size_t shared, uint32_t level)
{
	struct sw_eval *e = w->e;
	const struct sw_access_site *first = site_at(w, from);
	size_t begun = w->out->n, digits = e->digits.n;
	uint32_t chosen = e->choices, now;
	bool several = false;
	if (!any_bounded(w, from, to))
		return;
	sw_eval_case_return(e, depth);
	do {
		e->site = first;
		e->open_case = NULL;
		sw_eval_enter_facts(e, first, shared);
		now = e->choices;
		several |= now > chosen;
		if (!e->impossible)
			walk_sites(w, from, to, shared, level + 1);
		e->choices = now;
	} while (!e->split.wanted && next_case_of(w, from, to, chosen));
	e->choices = chosen;
	e->open_case = NULL;
	if (!chosen && several)
		settle_sites(w, begun, digits);
}

/* Evaluates the walk's sites from .. to-1, of whose outer conditions the first `depth` hold: neighbours with more
   conditions in common as a group.  level: how deep this group lies in others. */
static void walk_sites(struct walk *w, uint32_t from, uint32_t to, size_t depth, uint32_t level)
{
	while (from < to && !w->e->split.wanted) {
		uint32_t next = from + 1, shared = UINT32_MAX;
		for (; next < to && level < MOST_LEVELS && w->shared[next] > depth; next++)
			shared = w->shared[next] < shared ? w->shared[next] : shared;
		if (next == from + 1)
			walk_site(w, w->site[from], depth);
		else
			walk_group(w, from, next, depth, shared, level);
		from = next;
	}
}

/* Appends the reaches of those of the walk's sites from .. to-1 that nothing bounds. */
static void add_open_sites(struct walk *w, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct site_state *state = &w->state[w->site[i]];
		struct sw_eval *e = w->e;
		if (!state->open)
			continue;
		e->site = site_at(w, i);
		e->descent = state->descent;
		e->content = state->content;
		if (e->site->address != SW_NO_TERM)
			sw_reads_set_base(e->reads, e->site->address, state->base);
		sw_eval_add_open(e, w->site[i], (enum sw_why)state->why, w->out);
	}
}

/* Evaluates the walk's sites of one loop, or of none.  Facts begin anew, unless the last case left open is theirs. */
static void walk_loop(struct walk *w, uint32_t from, uint32_t to)
{
	struct sw_eval *e = w->e;
	e->choices = 0;
	e->choosing = true;
	if (!e->open_case || !sw_eval_same_case(e, e->open_case, site_at(w, from))) {
		sw_eval_case_begin(e);
		e->open_case = NULL;
		e->content = e->content_ever;
		e->pointers.n = 0;
	}
	walk_sites(w, from, to, 0, 0);
	if (!e->split.wanted)
		add_open_sites(w, from, to);
}

/* Index after the last of the sites from `from` on that lie in the same loop.  Where memory's content is known each
   site finds its own pointers, and shares nothing with others. */
static uint32_t end_of_loop(const struct walk *w, uint32_t from)
{
	uint32_t to = from + 1;
	while (!w->e->g->content && to < w->sites && site_at(w, to)->loop == site_at(w, from)->loop)
		to++;
	return to;
}

/* Evaluates all sites (only: those that are true), loop by loop: sites of one loop share the work on its facts. */
static void walk_all(struct sw_eval *e, const bool *only, struct sw_reaches *out)
{
	const struct sw_footprint *f = e->f;
	struct walk w = {.e = e, .out = out, .from = out->n, .joined = out->n};
	w.site = sw_calloc(f->sites + 1u, sizeof *w.site);
	w.shared = sw_calloc(f->sites + 1u, sizeof *w.shared);
	w.state = sw_calloc(f->sites + 1u, sizeof *w.state);
	for (uint32_t i = 0; i < f->sites; i++) {
		const struct sw_access_site *site = &f->site[i];
		if (only && !only[i])
			continue;
		if (w.sites && site_at(&w, w.sites - 1)->loop == site->loop)
			w.shared[w.sites] = sw_eval_shared_facts(f, site_at(&w, w.sites - 1), site);
		w.site[w.sites++] = i;
		if (site->address == SW_NO_TERM)
			set_open(&w.state[i], (enum sw_why)site->why, SW_DESCENT_ANYWHERE);
	}
	for (uint32_t from = 0, to; from < w.sites && !e->split.wanted; from = to) {
		to = end_of_loop(&w, from);
		if (!sw_eval_never_runs(e, site_at(&w, from)))
			walk_loop(&w, from, to);
	}
	free(w.site);
	free(w.shared);
	free(w.like);
	free(w.open_like);
	free(w.state);
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
	free(e->data_only);
	free(e->loops_of);
	free(e->holds.at);
	free(e->hold_state.at);
	sw_map_free(&e->narrowing_of);
	free(e->narrowing.at);
	free(e->range.at);
	sw_known_areas_free(e->areas);
	free(e->narrowed.at);
	free(e->mark.at);
	free(e->loops.at);
	free(e->work.at);
	free(e->digits.at);
	free(e->pointers.at);
}

/* Evaluates the sites of `only` (by number; NULL: all) for some blocks.  Nothing is kept in *out and *e where
   e->split.wanted is set in the end. */
static void evaluate_sites(struct sw_eval *e, const bool *only, struct sw_reaches *out)
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
	walk_all(e, only, out);
	sw_eval_case_begin(e);
	sw_digits_finish(e, out);
	if (e->split.wanted)
		out->n = from;
	sw_reaches_join(out, from, SW_MAX_REACHES);
	eval_free(e);
}

/* ---- blocks of the grid */

/*
 * Blocks of the grid that find different things in a table of parameters, one after the other.
 *
 * Tables say what each block works on (the chunk of a tensor, of 110 tensors, in optimisers that take all of them in
 * one launch).  Looked at together the blocks touch something somewhere; those that find the same pointer touch a box.
 */

/* Groups of blocks that are evaluated, those counted that turned out to be too large: a thousand tensors of one launch.
   Beyond that the whole grid is evaluated at once. */
#define MAX_PIECES 4096
/* Work for all groups together, as a multiple of what one evaluation may cost. */
#define BUDGETS 10
/* Groups that may exceed what one evaluation may cost: splitting does not help the others then. */
#define MOST_EXHAUSTED 2

/* Loops that depend on each other in a chain: nests are three deep. */
#define MAX_ROUNDS 32

struct pieces {
	const struct sw_footprint *f;
	const struct sw_geometry *g;
	struct sw_reads *reads;
	struct sw_known_bounds *known;
	SW_VEC(struct sw_blocks) todo; /* the last one is next */
	uint64_t budget, most;	       /* left; of one evaluation */
};

/* ---- what depends on elements of the parameter block, or of tables in memory */

/* Is one of the n facts from number `fact` on about a marked term?  term: by number, true if marked. */
static bool any_fact(const struct sw_footprint *f, uint32_t fact, uint32_t n, const bool *term)
{
	for (uint32_t i = 0; i < n; i++) {
		if (term[f->fact[fact + i].term])
			return true;
	}
	return false;
}

/* Is the term's value an element of a table: the parameter block, or (memory) memory of known content? */
static bool is_table(const struct sw_term *t, bool memory)
{
	return t->op == SW_TERM_ELEMENT || (memory && t->op == SW_TERM_LOADED);
}

/* Does term i depend on elements of tables?  term, loop: which terms and loops are known to, by number. */
static bool mark_term(const struct sw_footprint *f, uint32_t i, bool memory, const bool *term, const bool *loop)
{
	const struct sw_term *t = &f->term[i];
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	bool any = is_table(t, memory) || (t->op == SW_TERM_STEP && t->c < f->loops && loop[t->c]);
	for (uint32_t k = 0; k < n; k++)
		any |= operand[k] != SW_NO_TERM && term[operand[k]];
	for (uint32_t k = 0; t->op == SW_TERM_ANY && k < t->b; k++)
		any |= term[f->alternative[t->a + k]];
	return any;
}

/* Marks in term[] and loop[] what depends on elements of tables (memory: on memory of known content, too), until a
   round marks no more; after MAX_ROUNDS marks all terms. */
static void mark_terms(const struct sw_footprint *f, bool memory, bool *term, bool *loop)
{
	bool again = true;
	for (int round = 0; again; round++) {
		again = false;
		if (round == MAX_ROUNDS) {
			memset(term, true, f->terms);
			return;
		}
		for (uint32_t i = 0; i < f->terms; i++)
			term[i] = mark_term(f, i, memory, term, loop);
		for (uint32_t i = 0; i < f->loops; i++) {
			const struct sw_loop *l = &f->loop[i];
			bool any = any_fact(f, l->entry, l->entries, term) || any_fact(f, l->back, l->backs, term) ||
				   (l->parent < f->loops && loop[l->parent]);
			again |= any && !loop[i];
			loop[i] |= any;
		}
	}
}

/* By number, malloc'ed: does the site depend on elements of tables?  NULL: the kernel has no tables. */
static bool *mark_sites(const struct sw_footprint *f, bool memory)
{
	bool *term = sw_calloc(f->terms + 1u, sizeof *term), *loop = sw_calloc(f->loops + 1u, sizeof *loop),
	     *site = NULL;
	bool any = false;
	for (uint32_t i = 0; i < f->terms && !any; i++)
		any = is_table(&f->term[i], memory);
	if (any) {
		site = sw_calloc(f->sites + 1u, sizeof *site);
		mark_terms(f, memory, term, loop);
		for (uint32_t i = 0; i < f->sites; i++) {
			const struct sw_access_site *s = &f->site[i];
			site[i] = (s->address != SW_NO_TERM && term[s->address]) ||
				  (s->size != SW_NO_TERM && term[s->size]) || any_fact(f, s->fact, s->facts, term);
		}
	}
	free(term);
	free(loop);
	return site;
}

/* ---- which blocks are evaluated together */

/* The whole grid. */
static struct sw_blocks all_blocks(const struct sw_geometry *g)
{
	struct sw_blocks all = {{0}, {0}};
	for (int i = 0; i < 3; i++)
		all.hi[i] = g->grid[i] ? g->grid[i] - 1 : 0;
	return all;
}

/* An evaluation of these blocks with what is left of the budget.  splitting: it may ask for fewer blocks. */
static struct sw_eval new_evaluation(const struct pieces *p, struct sw_blocks blocks, bool splitting)
{
	return (struct sw_eval){.f = p->f,
				.g = p->g,
				.reads = p->reads,
				.known = p->known,
				.blocks = blocks,
				.splitting = splitting,
				.budget = p->budget < p->most ? p->budget : p->most};
}

/* Puts the two parts in which the evaluation asked to split these blocks on the list. */
static void push_halves(struct pieces *p, struct sw_blocks blocks, const struct sw_eval *e)
{
	struct sw_blocks front = blocks, back = blocks;
	front.hi[e->split.axis] = e->split.last;
	back.lo[e->split.axis] = e->split.last + 1;
	*sw_vec_push(&p->todo) = back;
	*sw_vec_push(&p->todo) = front;
}

/* Is one of the reaches from `from` on a box, not a hull or open? */
static bool has_box(const struct sw_reaches *out, size_t from)
{
	while (from < out->n && out->at[from].extent != SW_EXTENT_BOX)
		from++;
	return from < out->n;
}

/* Evaluates the sites for groups of blocks, each split until its blocks find the same elements in tables.  same:
   each group touches the same bytes or none, so the first box is all.  False: too many groups or too much work. */
static bool by_groups(struct pieces *p, const bool *sites, bool same, struct sw_reaches *out)
{
	unsigned exhausted = 0;
	bool split_is_useless = false;
	size_t from = out->n;
	p->todo.n = 0;
	*sw_vec_push(&p->todo) = all_blocks(p->g);
	for (int n = 0; p->todo.n; n++) {
		struct sw_blocks blocks = p->todo.at[--p->todo.n];
		struct sw_eval e = new_evaluation(p, blocks, true);
		uint64_t before = e.budget;
		if (n == MAX_PIECES || !p->budget || exhausted == MOST_EXHAUSTED)
			return false;
		/* For better shapes no more than half of all is spent. */
		e.may_split_for_hull = !SW_RULE_IS_OFF(hull_split) && !split_is_useless && n < MAX_PIECES / 2 &&
				       p->budget > BUDGETS * p->most / 2;
		evaluate_sites(&e, sites, out);
		p->budget -= before - e.budget;
		split_is_useless |= e.split_is_useless;
		exhausted += !e.budget && !e.split.wanted;
		if (e.split.wanted)
			push_halves(p, blocks, &e);
		else if (same && has_box(out, from))
			break;
	}
	return true;
}

/* ---- accesses to one place, whatever the block and the thread: counters that a table's entry says whether to use */

/* So many are looked at one by one. */
#define MOST_PLACES 8u

/* Is the term a sum of constants and parameters, the same for all threads?  Looks `depth` operands deep. */
static bool is_launch_value(const struct sw_footprint *f, uint32_t term, unsigned depth)
{
	const struct sw_term *t = &f->term[term];
	const uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	if (t->op == SW_OP_CONST || t->op == SW_OP_PARAM)
		return true;
	if (t->op != SW_OP_ADD && t->op != SW_OP_SUB && t->op != SW_OP_MOV && t->op != SW_OP_EXTEND)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!depth || !is_launch_value(f, operand[i], depth - 1))
			return false;
	return true;
}

/* Are all elements of the kernel's tables smaller than a pointer?  Which pointers a table holds is not part of what
   a launch is remembered by, so a result that was found from a few blocks may not depend on it. */
static bool has_small_elements(const struct sw_footprint *f)
{
	for (uint32_t i = 0; i < f->terms; i++)
		if (f->term[i].op == SW_TERM_ELEMENT && f->term[i].imm >= 8)
			return false;
	return true;
}

/* Tries to find what the sites of `only`, whose addresses no thread number goes into, touch: nothing where no thread
   of the whole grid comes there, else what a few blocks show.  False: neither is known, nothing is appended. */
static bool settle_place(struct pieces *p, const bool *only, struct sw_reaches *out)
{
	size_t from = out->n;
	struct sw_eval e = new_evaluation(p, all_blocks(p->g), false);
	evaluate_sites(&e, only, out);
	if (out->n == from)
		return true;
	out->n = from;
	p->budget = p->most;
	if (by_groups(p, only, true, out))
		return true;
	out->n = from;
	return false;
}

/* Tries settle_place() for each of the first MOST_PLACES sites marked in `sites`, and unmarks those it settled. */
static void settle_places(struct pieces *p, bool *sites, struct sw_reaches *out)
{
	const struct sw_footprint *f = p->f;
	uint64_t budget = p->budget;
	if (SW_RULE_IS_OFF(settled_places))
		return;
	bool *only = sw_calloc(f->sites + 1u, sizeof *only);
	for (uint32_t i = 0, n = 0; i < f->sites && n < MOST_PLACES && has_small_elements(f); i++) {
		const struct sw_access_site *s = &f->site[i];
		if (!sites[i] || s->address == SW_NO_TERM || s->size != SW_NO_TERM ||
		    !is_launch_value(f, s->address, 4))
			continue;
		n++;
		only[i] = true;
		sites[i] = !settle_place(p, only, out);
		only[i] = false;
		p->budget = budget;
	}
	free(only);
}

void sw_eval_launch(const struct sw_footprint *f, const struct sw_geometry *g, struct sw_reads *reads,
		    struct sw_known_bounds *known, struct sw_reaches *out)
{
	struct pieces p = {.f = f, .g = g, .reads = reads, .known = known, .budget = BUDGET, .most = BUDGET};
	size_t from = out->n, others;
	bool *sites = SW_RULE_IS_OFF(grid_split) ? NULL : mark_sites(f, g->content != NULL);
	bool any = !sites;
	for (uint32_t i = 0; sites && i < f->sites; i++)
		any |= sites[i] = !sites[i];
	struct sw_eval e = new_evaluation(&p, all_blocks(g), false);
	if (any)
		evaluate_sites(&e, sites, out);
	if (sites) {
		for (uint32_t i = 0; i < f->sites; i++)
			sites[i] = !sites[i];
		if (!g->content)
			settle_places(&p, sites, out);
		others = out->n;
		p.budget = (uint64_t)BUDGETS * BUDGET;
		for (uint32_t i = any = 0; i < f->sites; i++)
			any |= sites[i];
		if (any && !by_groups(&p, sites, false, out)) {
			out->n = others;
			p.budget = BUDGET;
			e = new_evaluation(&p, all_blocks(g), false);
			evaluate_sites(&e, sites, out);
		}
		sw_reaches_join(out, from, SW_MAX_REACHES);
	}
	free(p.todo.at);
	free(sites);
}

void sw_footprint_evaluate(const struct sw_footprint *footprint, const struct sw_geometry *geometry,
			   struct sw_reaches *out)
{
	sw_eval_launch(footprint, geometry, NULL, NULL, out);
}
