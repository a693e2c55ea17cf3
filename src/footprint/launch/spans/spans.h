/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of launch_spans.h. */
#ifndef SW_FOOTPRINT_LAUNCH_SPANS_SPANS_H
#define SW_FOOTPRINT_LAUNCH_SPANS_SPANS_H

#include "footprint/launch_spans.h"
#include "footprint/launch/linear/linear_form.h"

/* floor(x * by / over) of term x, where `over` is not 0. */
struct sw_span_quotient {
	uint32_t of;
	sw_wide by, over;
};

/* Value of a term at a launch.  The interval holds a number that is the term modulo 2^width. */
struct sw_span_value {
	struct sw_bounds range;
	struct sw_span_quotient quotient;
	uint32_t pointer; /* that it moves with: index, SW_SPAN_NO_POINTER: none */
};

/* Farther than this no access goes: the interval says nothing. */
#define SW_SPAN_FAR ((sw_wide)1 << 48)

/* A number is `at` modulo `unit`, a power of two. */
struct sw_span_unit {
	uint16_t unit, at;
};

struct sw_span_site {
	uint32_t address, size, bytes, number;
	bool endless; /* open in each launch, through words of the parameter block alone */
};

/* 64 bits of the parameter block that may be a pointer. */
#define SW_SPAN_NO_POINTER    UINT32_MAX
#define SW_SPAN_MOST_POINTERS 64u
struct sw_span_pointer {
	uint32_t at; /* bytes from the start of the block */
	/* At the launch in hand. */
	bool read;
	bool pinned;	 /* it is more than something that is added to */
	uint32_t tied;	 /* to an earlier one that must move by the same; itself: to none */
	uint32_t number; /* in the shape, SW_SPAN_NO_POINTER */
};

/* A part of the parameter block. */
struct sw_span_bytes {
	uint32_t lo, hi;
};

/* The parts of the parameters that the bounds of a launch were made from.  A launch that agrees in them reads the same.
 */
struct sw_span_shape {
	uint32_t id;
	SW_VEC(struct sw_span_bytes) read;
	SW_VEC(struct sw_span_word {
		uint32_t at;   /* bytes from the start of the block */
		uint32_t tied; /* number of the one that it moves with, or its own */
	})
	pointer; /* that only moved spans */
};
#define SW_SPAN_SHAPES 8u

/* Spans of a launch: programs launch the same thing again and again. */
struct sw_span_memory {
	void *key;	    /* shape, geometry, what is read of the parameters; pointers; then the spans */
	size_t room, bytes; /* of all; of the key, 0: nothing is remembered here */
	bool bounded;
	bool far; /* not bounded, whatever the pointers are */
	const uint64_t *pointer;
	const struct sw_span *span;
	uint32_t n;
};
#define SW_SPAN_SETS 16u
#define SW_SPAN_WAYS 4u

struct sw_spans {
	const struct sw_footprint *f;
	const struct sw_geometry *g;
	SW_VEC(uint32_t) fact;	/* what the ends of loops compare */
	SW_VEC(uint32_t) work;	/* terms to be bounded, those wanted first last */
	uint32_t terms;		/* that may count */
	uint64_t *stamp;	/* by term: the round in which it was bounded */
	uint64_t round, launch; /* the one in hand; the first one of this launch */
	SW_VEC(struct sw_span_site) site;
	SW_VEC(struct sw_span) found;
	struct sw_span_value *value; /* by term */
	uint64_t *loops;	     /* by term: those it depends on, one bit each */
	uint8_t *hint;		     /* by term: SW_SPAN_ bits */
	struct sw_span_unit *unit;   /* by term */
	uint32_t *table;	     /* by term: the only pointer from a table that it is a sum of, SW_NO_TERM */
	sw_wide *turns;		     /* by loop: iterations that are completed at most */
	bool hopeless;
	bool far; /* if add_spans() fails: too wide, wherever it lies */
	/* Parameters that this launch reads. */
	uint32_t *word; /* by term: index of the pointer that it is, SW_SPAN_NO_POINTER */
	SW_VEC(struct sw_span_pointer) pointer;
	SW_VEC(bool) read; /* by byte, pointers aside */
	/* Launches that were asked about. */
	struct sw_span_shape shape[SW_SPAN_SHAPES]; /* the one used last comes first */
	uint32_t shapes, last_shape;
	SW_VEC(uint64_t) where;					   /* by pointer of the shape, of the current launch */
	SW_VEC(unsigned char) key;				   /* of the current launch */
	struct sw_span_memory memory[SW_SPAN_SETS * SW_SPAN_WAYS]; /* sets by hash: the one used last comes first */
};

/* The kind of a term, whatever the launch: a quotient, one by more than 1, a multiple of a quotient, x - d * floor(x /
 * d).
 */
enum { SW_SPAN_QUOTIENT = 1, SW_SPAN_DIVIDED = 2, SW_SPAN_MULTIPLE = 4, SW_SPAN_REMAINDER = 8 };

/* The least and the largest number of `width` bits. */
struct sw_bounds sw_span_type(unsigned width, bool is_signed);
/* An interval moved by a multiple of 2^width into the type; all of the type where different numbers need different
   multiples. */
struct sw_bounds sw_span_wrapped(struct sw_bounds x, struct sw_bounds type);
/* Do the numbers of the interval mean the same as signed and as unsigned ones of `width` bits?  Most do. */
static inline bool sw_span_is_plain(struct sw_bounds x, unsigned width)
{
	return x.lo >= 0 && x.hi < (sw_wide)1 << (width - 1);
}
/* An interval of a number that equals the term modulo 2^width. */
static inline struct sw_bounds sw_span_of(const struct sw_spans *s, uint32_t term, unsigned width)
{
	unsigned own = s->f->term[term].width;
	struct sw_bounds x = s->value[term].range;
	/* Higher bits are zero. */
	return width <= own || sw_span_is_plain(x, own) ? x : sw_span_wrapped(x, sw_span_type(own, false));
}
/* The interval of a term's value as a number of `width` bits. */
static inline struct sw_bounds sw_span_exact(const struct sw_spans *s, uint32_t term, unsigned width, bool is_signed)
{
	struct sw_bounds x = sw_span_of(s, term, width);
	return sw_span_is_plain(x, width) ? x : sw_span_wrapped(x, sw_span_type(width, is_signed));
}
/* Is it an interval of one number? */
static inline bool sw_span_fixed(struct sw_bounds x)
{
	return x.lo == x.hi;
}

/* Adds the bytes [lo, hi) of a site to the spans found; they may lie on both sides of address 0.  (spans.c) */
void sw_span_add(struct sw_spans *s, const struct sw_span_site *site, sw_wide lo, sw_wide hi);
/* The interval of a term from those of its operands.  (intervals.c) */
struct sw_bounds sw_span_operate(struct sw_spans *s, uint32_t number);
/* The interval of what the iterations of its loop add to a STEP. */
struct sw_bounds sw_span_steps(const struct sw_spans *s, const struct sw_term *t);
/* Notes, once for the kernel, the pointer from a table that a term is a sum of; operands come first.  (tables.c) */
void sw_span_note_table(struct sw_spans *s, uint32_t number);
/* The interval of the values that an ELEMENT may have; false: any. */
bool sw_span_element(const struct sw_spans *s, const struct sw_term *t, struct sw_bounds *out);
/* Is the address made from one of several pointers of a table? */
bool sw_span_has_pointers(const struct sw_spans *s, const struct sw_span_site *site);
/* Adds the spans of a site for each pointer of the table that its address may be made from; false: they are not
   bounded. */
bool sw_span_add_pointers(struct sw_spans *s, const struct sw_span_site *site, sw_wide bytes);
/* Finds the kind of a term (SW_SPAN_ bits), once for the kernel; operands come first. */
void sw_span_hint(struct sw_spans *s, uint32_t number);
/* The number that the term is a quotient of; with `over` 0: it is none. */
struct sw_span_quotient sw_span_quotient_of(const struct sw_spans *s, uint32_t number);
/* Bounds all sites at a launch, into s->found; false: they are not bounded.  (spans.c) */
bool sw_spans_bound(struct sw_spans *s, const struct sw_geometry *geometry);
/* remembered.c: notes a word of the parameter block that a term of the kernel reads. */
void sw_span_note_word(struct sw_spans *s, uint32_t number);
/* Begins a launch: nothing of its parameters was read yet. */
void sw_span_begin_reads(struct sw_spans *s);
/* The pointer among the parameters that a term moves with, once its operands are bounded; SW_SPAN_NO_POINTER: none. */
uint32_t sw_span_moves_with(struct sw_spans *s, uint32_t number);
/* Notes that the pointer which a term moves with is used as a number, so that its very value counts. */
void sw_span_pin(struct sw_spans *s, uint32_t number);
/* Frees what is remembered of launches. */
void sw_spans_forget(struct sw_spans *s);

#endif
