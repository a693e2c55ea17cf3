/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A footprint being evaluated at one launch.
 *
 * Terms become forms over variables: numbers of threads and blocks, counters of loops, quotients, unknowns.
 * Facts become inequalities between forms. The bounds of an address under the inequalities of a case are its boxes.
 *
 * - term_forms.c, operate.c, bit_operations.c: the form of a term, by operation.
 * - quotient.c: divisions, and numbers that wrap around, as variables that two inequalities define.
 * - fact_inequalities.c, loop_counters.c: inequalities of facts, and of the facts of loops.
 * - form_bounds.c: the least and the largest value of a form under the inequalities.
 * - system_hash.c: which linear programs are the same, whatever the numbers of their variables.
 * - boxes.c, area.c: the bytes of an address in a case.
 * - digits.c: addresses that are made from the digits of a number.
 * - parameter_table.c: elements of the parameter block, or of known memory, at an offset that is a form.
 * - site_pointers.c: the pointers that an address is made from; accesses without bounds.
 * - case_split.c: the facts that hold in a case, and the choices that make it.
 * - evaluate.c: all sites in all cases, for blocks of the grid that find the same in the parameter block.
 * - join_reaches.c: reaches that adjoin become one.
 * - reads.c, launch_memo.c: the record of what was read; launches that agree in it share a result.
 *
 * A variable's meaning never changes during an evaluation, so forms can be remembered.  Sites differ in the
 * inequalities that hold (the "case"): an outcome that depended on them is forgotten with them.
 */
#ifndef SW_FOOTPRINT_LAUNCH_EVALUATION_EVAL_H
#define SW_FOOTPRINT_LAUNCH_EVALUATION_EVAL_H

#include "base/map.h"
#include "footprint/footprint.h"
#include "footprint/launch/linear/known_bounds.h"
#include "footprint/launch/linear/linear_form.h"
#include "footprint/launch/evaluation/reads.h"

#define SW_NONE UINT32_MAX

/* Which things a value depends on, one bit each; loops share bits when there are many. */
#define SW_DEPEND_TID(axis)   (UINT64_C(1) << (axis))
#define SW_DEPEND_CTAID(axis) (UINT64_C(1) << (3 + (axis)))
#define SW_DEPEND_LOOP(loop)  (UINT64_C(1) << (6 + (loop) % 55))
#define SW_DEPEND_VARIES      (UINT64_C(1) << 61) /* not understood: perhaps another number each time */
#define SW_DEPEND_OTHER	      (UINT64_C(1) << 62)
#define SW_DEPEND_DATA	      (UINT64_C(1) << 63)
/* Perhaps another number each time it is computed. */
#define SW_DEPEND_ANEW (SW_DEPEND_VARIES | SW_DEPEND_DATA)
/* Is a condition not understood because of data, and of nothing else?  What it guards may well be touched.  Any other
   condition that is not understood may hold for no thread at all. */
static inline bool sw_depends_on_data_only(uint64_t depends)
{
	return (depends & SW_DEPEND_ANEW) == SW_DEPEND_DATA;
}

struct sw_variable {
	sw_wide lo, hi;		  /* in this case */
	uint64_t mark;		  /* a hash of lo and hi */
	sw_wide lo_ever, hi_ever; /* whatever the facts */
	uint64_t depends;
	uint8_t why;   /* enum sw_why: its values are not known to be all taken; SW_WHY_NONE */
	bool counter;  /* of loop `of` */
	bool quotient; /* index `of` */
	uint32_t of;
	uint32_t column;      /* in the system that was collected last */
	uint32_t point_round; /* of the point that is tried (form_bounds.c) */
	sw_wide point;
};

/* State of an inequality: its hash, and whether the intervals imply it, as of the round in which that was looked at. */
struct sw_row_state {
	uint64_t hash, round;
	bool implied;
	bool doubtful; /* of a fact: sw_eval_is_doubtful() */
};

/* variable = floor(x / divisor).  Two inequalities say so. */
struct sw_quotient {
	struct sw_form x, least, most;
	struct sw_row_state least_state, most_state;
	int64_t divisor;
	uint32_t var;
	uint32_t next; /* of those whose x has the same hash; SW_NONE */
};

/* Where a value holds that was computed: case_split.c. */
struct sw_validity {
	bool known, lasting;	     /* lasting: in every case */
	bool has_uninterpreted_fact; /* of the case, afterwards */
	uint32_t mark, assumed_fact; /* of the case when it was computed; of the last fact, + 1, that was assumed */
	uint64_t serial, assumed_serial, state;
};

/* The value of a term modulo 2^width, and, where it was asked for, exactly: unsigned and signed. */
struct sw_term_value {
	struct sw_form form;
	struct sw_validity valid;
	uint8_t width;
	uint32_t exact[2]; /* index in sw_eval.exact, + 1; 0: not asked for */
};
struct sw_exact {
	struct sw_form form;
	struct sw_validity valid;
};

/* A case up to one of its facts: what came later can be taken back. */
struct sw_case_mark {
	size_t holds, loops, narrowed;
	uint64_t serial, state;
	bool has_uninterpreted_fact, impossible;
	uint32_t choices; /* that were made until then */
};
/* An interval before it was narrowed. */
struct sw_narrowed {
	uint32_t var;
	sw_wide lo, hi;
};

/* Where an access without bounds may lead. */
struct sw_descent {
	sw_wide least;	  /* address; -SW_INFINITE: anywhere */
	bool falls;	  /* something that varies is subtracted */
	uint64_t pointer; /* found in memory, that it starts from; 0: not known */
};
#define SW_DESCENT_ANYWHERE ((struct sw_descent){-SW_INFINITE, true, 0})

/* The result of a linear program; `check` is a second hash of the program. */
struct sw_outcome {
	uint64_t check;
	sw_wide highest;
};
/* The intervals that the variables of a system were narrowed to: range[from ..], in the system's order. */
struct sw_narrowing {
	uint64_t check;
	size_t from;
};

struct sw_known_areas; /* boxes.c */

struct sw_choice {
	uint64_t key;
	uint32_t taken, options;
};
#define SW_MAX_CASES   32
#define SW_MAX_CHOICES 6

/* Loops whose counters go into a term, one bit each: whatever way was taken, and on some. */
struct sw_term_loops {
	uint64_t always, perhaps;
};
#define SW_TERM_LOOPS 64

enum sw_loop_state { SW_LOOP_NEW, SW_LOOP_BUSY, SW_LOOP_DONE };
struct sw_loop_info {
	uint8_t state;
	bool never;		   /* the facts on the way in contradict each other */
	bool vague;		   /* some of its facts, or the way in, are not understood, and not because of data */
	uint32_t counter;	   /* variable */
	uint64_t depends;	   /* its own bit and those of the loops around it */
	uint32_t always, n_always; /* inequalities[...] whenever its counter means anything */
	uint32_t continued, n_continued; /* those for counter >= 1 only */
	uint32_t last_round; /* of the case in which those hold, since the loop is over and was not left at once */
};

/* Blocks lo .. hi of the grid along each axis. */
struct sw_blocks {
	uint32_t lo[3], hi[3];
};

struct sw_eval {
	const struct sw_footprint *f;
	const struct sw_geometry *g;
	struct sw_reads *reads;		   /* what is read of the launch; NULL: not wanted */
	struct sw_known_bounds *known;	   /* of earlier evaluations; NULL: none */
	const struct sw_access_site *site; /* in hand */
	struct sw_blocks blocks;	   /* in hand */
	bool splitting;			   /* elements may ask for fewer blocks */
	bool may_split_for_hull;	   /* hulls may ask for fewer blocks where elements count up */
	bool split_is_useless;	   /* a hull was found where no elements count up: fewer blocks would not help */
	uint32_t counting;	   /* axis, + 1, along which elements count up; 0: none */
	uint32_t level;		   /* of tables that lead to tables */
	SW_VEC(uint64_t) pointers; /* that were found in memory, for this site */
	enum sw_memory_content content, content_ever; /* the weakest that was found: for this site; for loops */
	struct {
		bool wanted; /* what is found so far is void: these blocks up to `last` along `axis`, and the others,
				apart */
		uint8_t axis;
		uint32_t last;
	} split;
	SW_VEC(struct sw_variable) variable;
	SW_VEC(struct sw_quotient) quotient;
	struct sw_map quotient_of; /* hash of x -> the last, + 1 */
	SW_VEC(struct sw_term_value) value;
	SW_VEC(struct sw_exact) exact;
	uint32_t *value_of; /* by term: index + 1 */
	struct sw_loop_info *loop;
	SW_VEC(struct sw_form) inequality; /* form >= 0; facts of loops, kept */
	bool recording;			   /* what holds is kept there as well */
	uint32_t special[SW_SPECIALS];	   /* variable + 1 */
	uint8_t *runs;			   /* by site that loads pointers: 0 not computed, 1 perhaps, 2 never */
	uint32_t *stamp;		   /* by term: visited in round `round` */
	bool *counts;			   /* by term: some loop's counter goes into it, whatever way is taken */
	bool *perhaps;			   /* by term: it may be looked at where it was not computed */
	bool *data_only;		   /* by term: find_data_conditions(); NULL: not wanted yet */
	struct sw_term_loops *loops_of;	   /* by term; NULL: there are too many loops */
	uint32_t round, point_round;
	uint64_t budget;	/* work left; at 0 everything is open */
	struct sw_map bound_of; /* hash of a linear program -> its outcome + 1: sites and cases pose the same ones */
	SW_VEC(struct sw_outcome) outcome;
	struct sw_map narrowing_of; /* hash of a system -> its narrowing + 1 */
	SW_VEC(struct sw_narrowing) narrowing;
	SW_VEC(struct sw_bounds) range;
	struct sw_known_areas *areas;

	struct sw_descent descent; /* of the site, where it is open */

	SW_VEC(struct sw_digit_site) digits; /* sites that are put together in the end */

	/* The case.  open_case: it is the only one of this site, and others of the same kind are looked at in it; NULL.
	   mark: before all facts, and after each fact of the site in hand that holds. */
	const struct sw_access_site *open_case;
	SW_VEC(struct sw_case_mark) mark;
	uint64_t serials, state;		/* state: another one after each change of what holds */
	SW_VEC(struct sw_form) holds;		/* form >= 0 */
	SW_VEC(struct sw_row_state) hold_state; /* of each */
	uint64_t interval_round;		/* another one after each change of an interval */
	SW_VEC(struct sw_narrowed) narrowed;	/* in this order */
	SW_VEC(uint32_t) loops;			/* that count here */
	bool has_uninterpreted_fact;		/* some facts are no inequalities, and not because of data */
	bool impossible, choosing;
	bool interval_bounds_only; /* the intervals of variables are bounds enough */
	bool case_local;	   /* what is being computed holds in this case only */
	uint32_t assumed_fact;	   /* what is being computed assumes a fact: the one of that mark, + 1; 0: none */
	struct sw_choice choice[SW_MAX_CHOICES];
	uint32_t choices, depth;
	SW_VEC(uint32_t) work;
};

/* ---- variables */
/* Adds a variable whose values lie in [lo, hi] whatever the facts; returns its number.  depends: SW_DEPEND_* of what
   it varies with; why: why not all these values may be taken. */
uint32_t sw_eval_variable(struct sw_eval *e, sw_wide lo, sw_wide hi, uint64_t depends, enum sw_why why);
/* Cuts a variable's interval down to [lo, hi] in this case; one that becomes empty makes the case impossible. */
void sw_eval_narrow(struct sw_eval *e, uint32_t var, sw_wide lo, sw_wide hi);
/* Updates the variable's hash, after its interval was changed. */
void sw_eval_mark(struct sw_variable *v);
/* Has the variable only one value in this case? */
static inline bool sw_eval_fixed(const struct sw_eval *e, uint32_t var)
{
	return e->variable.at[var].lo == e->variable.at[var].hi;
}
/* SW_DEPEND_* of all variables of a form. */
uint64_t sw_eval_depends(const struct sw_eval *e, const struct sw_form *form);
/* Why a form's values may not all be taken: of its first variable that is not fixed and has a reason. */
enum sw_why sw_eval_why(const struct sw_eval *e, const struct sw_form *form);

/* ---- form_bounds.c: outer bounds, infinite if there are none */
struct sw_bounds sw_bound_ever(const struct sw_eval *e, const struct sw_form *form);  /* whatever the facts */
struct sw_bounds sw_bound_plain(const struct sw_eval *e, const struct sw_form *form); /* from the variables alone */
/* The least and the largest value of a form in this case, by intervals, facts and linear programs. */
struct sw_bounds sw_bound(struct sw_eval *e, const struct sw_form *form);
/* The inequalities that matter for a form: not implied by the intervals, and connected with it. */
#define SW_SYSTEM_ROWS 40
struct sw_system {
	uint32_t n, rows;
	uint32_t var[16];
	uint8_t order[16]; /* indices of var, quotients after what they divide */
	const struct sw_form *row[SW_SYSTEM_ROWS];
	uint64_t hash, check; /* of the rows and the intervals of their variables */
	bool cut;	      /* there were more */
	bool has_shape;
	uint64_t shape[2]; /* sw_system_hash() of no form */
};
/* Adds the inequalities that are not connected with the form, but decide whether it is computed at all; without those
   that depend on data. */
void sw_system_complete(const struct sw_eval *e, struct sw_system *s);
/* Notes in each variable of the system where it stands. */
void sw_system_number(const struct sw_eval *e, const struct sw_system *s);
/* Narrows the quotients and unknowns of a form's system as far as bounds allow; false: the case is impossible.  *s: the
   system as it is then. */
bool sw_system_narrow(struct sw_eval *e, const struct sw_form *form, struct sw_system *s);
/* sw_bound() of a form whose system was collected. */
struct sw_bounds sw_bound_in(struct sw_eval *e, const struct sw_form *form, struct sw_system *s);

/* ---- system_hash.c */
/* Two hashes of all that bounds a form in a collected system.  Other variables of the same intervals give the same. */
void sw_system_hash(const struct sw_eval *e, struct sw_system *s, const struct sw_form *form, uint64_t hash[2]);

/* ---- quotient.c */
/* floor(form / divisor) as a form; false if it does not fit one.  why: of a new quotient variable. */
bool sw_quotient(struct sw_eval *e, const struct sw_form *form, int64_t divisor, enum sw_why why, struct sw_form *out);

/* ---- term_forms.c */
/* The form of a term modulo 2^width (0: its own width). */
struct sw_form sw_eval_term(struct sw_eval *e, uint32_t term, unsigned width);
/* The form of the number that the low `width` bits of a term stand for, with or without a sign. */
struct sw_form sw_eval_exact(struct sw_eval *e, uint32_t term, unsigned width, bool is_signed);
/* A new variable in [lo, hi], for a value that no form expresses. */
struct sw_form sw_eval_opaque(struct sw_eval *e, sw_wide lo, sw_wide hi, uint64_t depends, enum sw_why why);
/* A new variable that may be any number of `width` bits. */
struct sw_form sw_eval_unknown(struct sw_eval *e, unsigned width, uint64_t depends, enum sw_why why);
/* The least and the largest number of `width` bits. */
struct sw_bounds sw_type_range(unsigned width, bool is_signed);
/* Is a 1-bit term true (1) or false (0) in this case; -1: either. */
int sw_eval_truth(struct sw_eval *e, uint32_t term);
/* Makes the term have this value from here on, in this case. */
void sw_eval_settle(struct sw_eval *e, uint32_t term, int64_t constant);
/* Which of `options` alternatives is looked at in this case; the others are left to further cases.  key: names the
   choice, so that a case makes it once.  SW_NONE: there are too many cases. */
uint32_t sw_eval_case_choose(struct sw_eval *e, uint64_t key, uint32_t options);

/* Which alternative of a SW_TERM_ANY is looked at in this case: the only one that launch values leave, or any; SW_NONE:
   too many cases.  Its conditions are known. */
uint32_t sw_eval_pick(struct sw_eval *e, uint32_t number);

/* The way of a SELECT that is the only one, if taking it says nothing of any loop; SW_NONE.  Its condition is known. */
uint32_t sw_eval_plain_way(struct sw_eval *e, const struct sw_term *t);

/* Is the term "both" or "either" of two conditions?  Where the first one decides, the second is not looked at. */
static inline bool sw_term_joins_conditions(const struct sw_eval *e, const struct sw_term *t)
{
	return t->width == 1 && (t->op == SW_OP_AND || t->op == SW_OP_OR) && e->f->term[t->a].width == 1 &&
	       e->f->term[t->b].width == 1;
}

/* ---- operate.c */
/* The form of one term from the forms of its operands, which are known. */
struct sw_form sw_eval_operate(struct sw_eval *e, uint32_t number);

/* ---- parameter_table.c */
/* The form of an element of the parameter block (SW_TERM_ELEMENT) at an offset that is a form. */
struct sw_form sw_eval_table_value(struct sw_eval *e, const struct sw_term *t, uint32_t number);
/* The form of a value loaded from memory (SW_TERM_LOADED) whose content may be known; an unknown one is a range. */
struct sw_form sw_eval_memory_value(struct sw_eval *e, const struct sw_term *t, uint32_t number);
/* After a hull was found for the blocks in hand: asks for an evaluation of fewer blocks at a time, if that may give
   boxes. */
void sw_eval_refine(struct sw_eval *e);
/* The words of the block (their offsets, ascending, each once) that an address may be made of in this case; false: not
   all of them are known.  halves: next to whole words, a word counts also where only a half of it goes into it. */
#define SW_MAX_WORDS 512
struct sw_words {
	uint32_t n, at[SW_MAX_WORDS];
};
bool sw_eval_words(struct sw_eval *e, uint32_t address, bool halves, struct sw_words *out);

/* ---- evaluate.c */
/* As sw_footprint_evaluate(): evaluates all sites for the whole grid, those that depend on tables by groups of blocks,
   if that is affordable.  Also reports what it read.  reads: may be NULL, else empty.  known: bounds that this and
   other evaluations share, or NULL. */
void sw_eval_launch(const struct sw_footprint *footprint, const struct sw_geometry *geometry, struct sw_reads *reads,
		    struct sw_known_bounds *known, struct sw_reaches *out);

/* ---- site_pointers.c */
/* The root that the access's boxes are reported for; NULL: it has none. */
const struct sw_root *sw_eval_root(const struct sw_footprint *footprint, const struct sw_access_site *site);
/* Is the root a table, i.e. many words of the parameter block?  Which one is meant is not known yet. */
bool sw_eval_is_table(const struct sw_root *root);
/* Names the one word of a table as the root of those reaches, from index `from` on, that begin at it. */
void sw_eval_name_word(struct sw_eval *e, const struct sw_access_site *site, struct sw_reaches *out, size_t from);
/* The pointer in memory that the address of an access without bounds starts from, in all of its cases; 0: not known. */
uint64_t sw_eval_open_pointer(struct sw_eval *e, const struct sw_access_site *site);
/* Names the pointer in memory as the origin of the reaches of a case, from index `from` on, if the case takes its
   address from there. */
void sw_eval_name_pointer(struct sw_eval *e, const struct sw_access_site *site, struct sw_reaches *out, size_t from);

/* How low an address may lie in this case, for an access without bounds. */
struct sw_descent sw_descent_of(struct sw_eval *e, uint32_t term);
/* The address of a module variable at this launch, 0: unknown. */
uint64_t sw_eval_symbol(struct sw_eval *e, uint32_t symbol);
/* May an unbounded site be described by *descent and *base, found for another one?  True if it falls, while only the
   first `depth` facts hold, below no pointers but those below which *descent falls.  Where the site's own descent shows
   that, it replaces *descent and *base. */
bool sw_eval_falls_like(struct sw_eval *e, const struct sw_access_site *site, size_t depth, struct sw_descent *descent,
			uint16_t *base);
/* Appends the reaches of a site that has no bounds in some case: all memory of its roots.  Leaves no case behind. */
void sw_eval_add_open(struct sw_eval *e, uint32_t number, enum sw_why why, struct sw_reaches *out);

/* ---- fact_inequalities.c */
/* Makes form >= 0 hold from here on, in this case; a form of one variable narrows its interval. */
void sw_eval_hold(struct sw_eval *e, const struct sw_form *form);
/* Adds form >= 0 to what holds, without looking at it. */
void sw_eval_hold_row(struct sw_eval *e, const struct sw_form *form);
/* Is something in the form computed in unknown ways, so that form >= 0 may in fact never be satisfied? */
bool sw_eval_is_doubtful(const struct sw_eval *e, const struct sw_form *form);
/* Is there a doubtful fact (sw_eval_is_doubtful()) that not all values of its unknown numbers satisfy?  These count
   with the values that they may have whatever the facts: a fact may have narrowed them, and hold by itself then. */
bool sw_eval_rests_on_doubt(const struct sw_eval *e);
/* Makes a 1-bit term true (or false) from here on, in this case. */
void sw_eval_fact(struct sw_eval *e, uint32_t term, bool truth);
struct sw_comparison {
	struct sw_form difference;   /* exact */
	enum sw_condition condition; /* difference <condition> 0; GT and GE are turned around */
};
/* A comparison of two terms that is true (or false) as one form against 0.  False: the operands do not compare as
   forms. */
bool sw_eval_compare(struct sw_eval *e, uint32_t term, bool truth, struct sw_comparison *out);

/* Calls back with every comparison or other 1-bit term that must be true (false) for `term` to be; false: with some of
   them, there are too many. */
bool sw_eval_atoms(struct sw_eval *e, uint32_t term, bool truth,
		   void (*atom)(struct sw_eval *e, uint32_t term, bool truth, void *arg), void *arg);
/* The inequalities that a comparison says: 1 or 2 forms that are >= 0; none for "not equal". */
uint32_t sw_comparison_forms(const struct sw_comparison *c, struct sw_form out[2]);

/* ---- loop_counters.c */
/* The variable that counts a loop's completed iterations, made at its first use. */
uint32_t sw_eval_counter(struct sw_eval *e, uint32_t loop);
/* Bounds the counters of all loops by the facts of the loops. */
void sw_eval_loops(struct sw_eval *e);
/* Makes the facts of those loops hold from here on whose counters the term depends on, and of those around them, as
   they were entered. */
void sw_eval_enter_loops(struct sw_eval *e, uint32_t term);
/* As sw_eval_enter_loops(), for one of several ways of the term `of`. */
void sw_eval_enter_way(struct sw_eval *e, uint32_t of, uint32_t term);
/* Notes that the term is looked at in a case in which it need not have been computed: what it says of loops may not
   hold. */
void sw_eval_doubt(struct sw_eval *e, uint32_t term);
/* By term: does sw_eval_enter_loops() find any, and which? */
void sw_eval_find_counts(struct sw_eval *e);
/* Looks at one of several ways of the term `of`: enters the loops of the term that the way leads to, unless `of`
   need not have been computed.  These loops have ended, and what their counters came to is only bounded: no box. */
void sw_eval_take(struct sw_eval *e, uint32_t of, uint32_t term);

/* Is the site in a loop that is never entered? */
static inline bool sw_eval_never_runs(const struct sw_eval *e, const struct sw_access_site *site)
{
	return site->loop && site->loop <= e->f->loops && e->loop[site->loop - 1].never;
}

/* Is the site in this loop? */
bool sw_eval_inside(const struct sw_eval *e, uint32_t loop);
/* After a variable was narrowed, for counters of loops that are over: only a fact may pin the last value of the
   counter, not the case that is looked at; one that is not pinned need not be reached, so what depends on it is no
   box.  Where the loop was not left at once, what let it go on holds too. */
void sw_eval_doubt_last(struct sw_eval *e, uint32_t var);

/* ---- case_split.c */
/* Begins a case in which no fact holds yet, and in which nothing that depends on another case is taken up again. */
void sw_eval_case_begin(struct sw_eval *e);
/* Marks the present state of the case, to which sw_eval_case_return() goes back. */
void sw_eval_case_mark(struct sw_eval *e);
/* Takes back all facts that were entered after a mark, by its index. */
void sw_eval_case_return(struct sw_eval *e, size_t mark);
/* Enters the first n facts of the site, counted from outside, that do not hold yet.  The outer
   conditions first: they bound what inner ones and loops compare. */
void sw_eval_enter_facts(struct sw_eval *e, const struct sw_access_site *site, size_t n);
/* Enters the site's facts that do not hold yet, and the loops that its address and size depend on. */
void sw_eval_enter_rest(struct sw_eval *e, const struct sw_access_site *site);
/* Begins a case, and enters all facts of the site. */
void sw_eval_enter_site(struct sw_eval *e, const struct sw_access_site *site);
/* Goes on to the next case that makes the same first `chosen` choices: back to the last mark that both cases share.
   False: the last one was the last. */
bool sw_eval_next_case(struct sw_eval *e, uint32_t chosen);
/* Are two sites executed in the same cases, with the same loops entered? */
bool sw_eval_same_case(const struct sw_eval *e, const struct sw_access_site *a, const struct sw_access_site *b);
/* The number of conditions that two sites have in common, from the outermost on, which is the last one of their facts.
 */
uint32_t sw_eval_shared_facts(const struct sw_footprint *f, const struct sw_access_site *a,
			      const struct sw_access_site *b);
/* By site: the first one that is like it, malloc'ed.  Alike are sites that differ only in numbers that are added or
   compared with: the copies that an unrolled loop makes of one access, the rows that a thread copies.  They go through
   the same pointers under alike conditions, so mostly the same is found of them. */
uint32_t *sw_alike_sites_find(const struct sw_footprint *footprint);
/* Notes that the set of facts that hold has changed. */
static inline void sw_eval_case_changed(struct sw_eval *e)
{
	e->state = ++e->serials;
}
/* The validity of a value that is computed now: it holds in every case, or (e->case_local) in this one as it is. */
struct sw_validity sw_eval_valid_now(const struct sw_eval *e);
/* The validity of a value that assumes a fact: it holds in this case, until that fact is taken back. */
struct sw_validity sw_eval_valid_as_assumed(const struct sw_eval *e);
/* Does a value that was computed before hold in the present case? */
bool sw_eval_is_valid(const struct sw_eval *e, struct sw_validity *valid);

/* ---- boxes.c */
/* Frees the remembered areas; NULL is allowed. */
void sw_known_areas_free(struct sw_known_areas *areas); /* NULL is allowed */

/* Appends to *out the bytes that `bytes` bytes from `address` on touch in this case, with the other fields of *like:
   boxes, or a hull for the reason *why if less may be touched.  Returns false if there are no bounds, with *why. */
bool sw_eval_boxes(struct sw_eval *e, const struct sw_form *address, uint64_t bytes, const struct sw_reach *like,
		   struct sw_reaches *out, enum sw_why *why);

/* ---- join_reaches.c */
/* Joins reaches from index `from` on whose union is one reach; then makes hulls until at most `most` are left. */
void sw_reaches_join(struct sw_reaches *reaches, size_t from, size_t most);
/* The address after the last byte of a reach. */
uint64_t sw_reach_end(const struct sw_reach *reach);
/* Are two roots the same? */
bool sw_root_equal(const struct sw_root *a, const struct sw_root *b);

#endif
