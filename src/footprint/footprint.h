/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a kernel touches: symbolic once per kernel, evaluated at each launch.  Pure functions, no CUDA,
 * thread-safe.
 *
 * A footprint is a handful of flat arrays (so that it can be kept on disk): terms that compute addresses from the
 * launch's geometry and parameters, facts that hold where an access is made (from the branches that lead there), loops,
 * and the accesses ("sites").  Every site that can be executed is there: soundness is that a launch never touches
 * memory outside the reaches of its footprint, unless `wild` or a reach without a known root says so.
 */
#ifndef SW_FOOTPRINT_FOOTPRINT_H
#define SW_FOOTPRINT_FOOTPRINT_H

#include "footprint/code.h"

enum sw_why {
#define SW_WHY(name, text) SW_WHY_##name,
#include "footprint/whys.def"
	SW_WHYS
};
/* The reason as text, for reports. */
const char *sw_why_text(enum sw_why why);

#define SW_NO_TERM UINT32_MAX

/*
 * A value.  op is an enum sw_op of values without halves (no PAIR, LOW, HIGH, CARRY, ADDX, MIX, EXTEND stays), or one
 * of the four below.  Operands a, b, c are terms with smaller numbers.
 *
 * - SW_TERM_STEP: a + b * k, where k >= 0 counts the iterations of loop c that were completed; a and b do not change in
 *   the loop.
 * - SW_TERM_ANY: one of alternatives[a .. a+b).  imm: enum sw_why, if not the way through the code selects it.  imm2 1:
 *   alternatives[a+b .. a+2b) are 1-bit terms of launch values and numbers of threads, each true if its alternative is
 *   the one.
 * - SW_TERM_ELEMENT: imm bytes of the parameter block at byte offset a (a signed number of 64 bits), extended to
 *   `width` bits as SW_SIGNED says; known where the offset lies in [b, c - imm], which are numbers and no terms.
 * - SW_TERM_LOADED: `bytes` bytes of memory at address a, extended to `width` bits as SW_SIGNED says.  Where the
 *   content is not known, it is a RANGE with c: enum sw_why.  a is no operand: only an evaluation that knows content
 *   looks at it.
 *
 * RANGE has a: enum sw_why, says where it comes from; b: enum sw_range_from.  PARAM, SPECIAL, CONST, COMPARE, EXTEND
 * keep imm, imm2 as in ops.def.
 */
enum { SW_TERM_STEP = SW_OPS, SW_TERM_ANY, SW_TERM_ELEMENT, SW_TERM_LOADED };
enum sw_range_from {
	SW_FROM_DATA,	 /* what was loaded, and computed from it */
	SW_NO_DATA,	 /* known before anything is loaded, and in no loop */
	SW_FROM_ANYTHING /* an instruction or a way of computing that is not understood, whatever goes into it */
};
struct sw_term {
	uint8_t op, width, flags, bytes; /* bytes: of LOADED */
	uint32_t a, b, c;
	int64_t imm, imm2;
};

/* Is the term a number that nothing computes: one of a range, or loaded from memory? */
static inline bool sw_term_is_unknown(const struct sw_term *t)
{
	return t->op == SW_OP_RANGE || t->op == SW_TERM_LOADED;
}
static inline enum sw_why sw_term_why(const struct sw_term *t)
{
	return (enum sw_why)(t->op == SW_TERM_LOADED ? t->c : t->a);
}

/* A 1-bit term that is known to be true (or false). */
struct sw_fact {
	uint32_t term;
	uint32_t truth;
};

/* entry: facts on every way into the loop from outside; back: facts at the end of every completed iteration, in terms
   of the iteration just completed (its k, before it is counted up). */
struct sw_loop {
	uint32_t parent;		      /* the loop around it, UINT32_MAX: none */
	uint32_t entry, entries, back, backs; /* facts[entry .. entry+entries) ... */
};

#define SW_TENSOR_MAP_BYTES 128u /* CUtensorMap, cuda.h of CUDA 12.0 to 13.0 */

enum sw_root_kind {
	SW_ROOT_PARAM,	     /* the address is made from the word(s) of the parameter block at [param, param+span) */
	SW_ROOT_SYMBOL,	     /* from the address of module variable `symbol` */
	SW_ROOT_INDIRECT,    /* loaded from memory reached through [param, param+span), or through `symbol` (span 0) */
	SW_ROOT_OBJECT,	     /* texture or surface handle, or pointer to a tensor map, in the word at param */
	SW_ROOT_MAP,	     /* a tensor map lies by value in the parameter block: at param, or with a span of more than
				SW_TENSOR_MAP_BYTES somewhere in that */
	SW_ROOT_ENVIRONMENT, /* memory of the driver's own: malloc in kernels, cooperative groups */
	SW_ROOT_UNKNOWN	     /* anything */
};
struct sw_root {
	uint8_t kind;
	uint8_t weak;		      /* may as well be an index that is added to another root */
	uint16_t loader;	      /* of INDIRECT: the site, + 1, of the only load that gives it; 0: not known */
	uint32_t param, span, symbol; /* bytes; a single pointer has span 8 */
};

enum sw_touch_role { SW_TOUCH_READ = 1, SW_TOUCH_WRITE = 2, SW_TOUCH_ATOMIC = 4 }; /* READ|WRITE: both */

/*
 * Programmatic dependent launch: where an access lies with respect to the kernel's waits for the launch's dependencies
 * (griddepcontrol.wait), for all threads that make it.  Waits are numbered; SW_ORDER_* of those that not every thread
 * comes to are sets of eight bits.  In words: the access comes after a wait
 *   SW_ORDER_AFTER      always
 *   SW_ORDER_IF_ALL     where in this launch all threads come to one of that set
 *   SW_ORDER_IF_SOME    where in each block some thread comes to one of that set: a barrier of the block lies between
 *   SW_ORDER_PERHAPS    where some thread comes to one of that set: threads signal each other on the way
 *   SW_ORDER_UNSURE     perhaps: the code on the way is not followed
 */
enum {
	SW_ORDER_AFTER = 1,
	SW_ORDER_UNSURE = 2,
	SW_ORDER_IF_ALL_SHIFT = 8,
	SW_ORDER_IF_SOME_SHIFT = 16,
	SW_ORDER_PERHAPS_SHIFT = 24
};
#define SW_MAX_GRID_WAITS 8u /* further ones that not every thread comes to are UNSURE */

enum sw_grid_kind { SW_GRID_WAIT, SW_GRID_TRIGGER };
/* A wait, or a trigger: launches that depend on this one may begin once every block triggered or ended. */
struct sw_grid_op {
	uint8_t kind;	 /* enum sw_grid_kind */
	uint8_t early;	 /* TRIGGER: some access may follow it */
	uint16_t number; /* WAIT: of its bit, + 1; 0: it has none */
	uint32_t order;	 /* TRIGGER: SW_ORDER_* */
	uint32_t fact, facts;
	uint32_t place, text; /* as of a site */
};

struct sw_access_site {
	uint8_t role;		/* enum sw_touch_role, or'ed */
	uint8_t polls;		/* volatile, acquire, release, system scope */
	uint8_t op;		/* enum sw_op of the instruction */
	uint8_t why;		/* enum sw_why: why `address` is SW_NO_TERM */
	uint32_t bytes;		/* touched from the address on, when size is SW_NO_TERM; 0: unknown */
	uint32_t address, size; /* terms of 64 bits; SW_NO_TERM */
	uint32_t fact, facts, root, roots;
	uint32_t loop; /* innermost one around it, + 1; 0: none: counters of loops that have ended have their last value
			*/
	uint32_t place; /* PTX line or byte offset */
	uint32_t text;	/* offset in strings: mnemonic */
	uint32_t order; /* SW_ORDER_* */
};

struct sw_footprint_symbol {
	uint32_t name; /* offset in strings */
	uint32_t constant;
	uint64_t bytes;
};

enum sw_code_source { SW_SOURCE_PTX = 1, SW_SOURCE_SASS };

struct sw_footprint {
	struct sw_arena arena; /* owns the arrays */
	uint32_t source, arch; /* enum sw_code_source; 90 for sm_90 */
	uint32_t wild;	       /* offset in strings: why nothing may be concluded from what is missing; 0: one may */
	uint32_t params, param_bytes;
	struct sw_param *param;
	struct sw_term *term;
	uint32_t terms;
	uint32_t *alternative;
	uint32_t alternatives;
	struct sw_fact *fact;
	uint32_t facts;
	struct sw_loop *loop;
	uint32_t loops;
	struct sw_root *root;
	uint32_t roots;
	struct sw_access_site *site;
	uint32_t sites;
	struct sw_footprint_symbol *symbol;
	uint32_t symbols;
	struct sw_grid_op *grid;
	uint32_t grids;
	char *string; /* NUL-terminated strings, the first is "" */
	uint32_t strings;
};

/* Caps: beyond them a kernel keeps its directions and loses its ranges (SW_WHY_COMPLEX). */
#define SW_FOOTPRINT_MAX_TERMS (1u << 16)
#define SW_FOOTPRINT_MAX_SITES (1u << 14)

/* Makes the footprint of a program. Never fails: code that is not understood becomes wild or open. */
struct sw_footprint *sw_footprint_build(const struct sw_program *program, enum sw_code_source source, uint32_t arch);
void sw_footprint_free(struct sw_footprint *footprint); /* NULL is allowed; the struct itself comes from sw_alloc */

/* Flat form for keeping it; unpack checks everything (the bytes are untrusted): every index in bounds, operands before
   users.  pack: *out is malloc'ed. */
void sw_footprint_pack(const struct sw_footprint *footprint, void **out, size_t *bytes);
int sw_footprint_unpack(const void *bytes, size_t size, struct sw_footprint **out, struct sw_error *error);

/* ---- at a launch ----------------------------------------------------------------------------------------------- */

/* How the content of device memory is known, weakest first. */
enum sw_memory_content { SW_CONTENT_UNKNOWN, SW_CONTENT_MAY_CHANGE, SW_CONTENT_KNOWN };

struct sw_geometry {
	uint32_t grid[3], block[3];
	uint32_t cluster; /* blocks of a cluster, 0 or 1: none */
	uint32_t shared_bytes;
	const void *params; /* the block; may be shorter than the kernel's */
	uint32_t param_bytes;
	/* Device address of a module variable, 0 unknown; NULL: none is known. */
	uint64_t (*symbol)(void *arg, const char *name);
	/* Stores the bytes that the launch finds at [address, address + bytes) in *out; NULL: nothing is known of any
	 * memory. */
	enum sw_memory_content (*content)(void *arg, uint64_t address, uint32_t bytes, void *out);
	void *arg;
};

/* Lays the parameters of a launch out as the analysed code has them: a tensor map is aligned to 128 bytes in PTX, and
   in machine code to what makes it so in its bank.  `from`: as the driver has them, as many as the footprint; `bytes`:
   of the block.  out: footprint->param_bytes.  Returns false where a parameter is missing or of another size; its bytes
   are zero then. */
bool sw_footprint_place_params(const struct sw_footprint *footprint, const struct sw_param *from, const void *block,
			       size_t bytes, void *out);

enum sw_extent {
	SW_EXTENT_BOX,	/* every byte of the box can be touched, as far as geometry, scalars and guards show */
	SW_EXTENT_HULL, /* nothing outside the box is touched, but perhaps not all of it (see why) */
	SW_EXTENT_OPEN	/* somewhere from the root's pointer on (see below), see why; address: the pointer's value, 0
			   with span > 8, and of INDIRECT where it is not known */
};

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": 16384 slices of a 3D array at most,
   2048 layers. */
#define SW_MOST_LAYERS 16384u

/* A box of bytes as in detect/access.h: slices x rows rows of width bytes. */
struct sw_reach {
	uint8_t role, extent, polls, why; /* enum sw_touch_role or'ed, sw_extent, -, sw_why */
	uint16_t site;			  /* one that makes it, for the evidence string */
	bool below;			  /* OPEN: may as well lie before the pointer: a negative stride, a step back */
	uint8_t content;	/* enum sw_memory_content: the weakest that it was computed from; UNKNOWN: from none */
	uint32_t order;		/* of all sites that make it */
	struct sw_root root;	/* the first; several roots of one open access are reaches of their own */
	uint16_t layer, layers; /* of root OBJECT: the layers (3D: slices) that are touched; layers 0: any */
	uint64_t address, width, pitch, rows, slice, slices;
	uint64_t pointer; /* of root INDIRECT: the one in memory that it is reached by, as far as known; else 0 */
};
struct sw_reaches {
	struct sw_reach *at;
	size_t n, room;
};

/*
 * All that a launch can touch in global memory (and through objects, roots OBJECT and MAP, and unknown roots).  Reaches
 * are appended to *out, equal ones once, adjoining ones joined where the union is again a box; at most SW_MAX_REACHES,
 * beyond that hulls.  Evaluation allocates nothing that grows with the grid.
 */
#define SW_MAX_REACHES 2048 /* lists of a thousand tensors in one launch: 32 KiB of parameters hold 4000 pointers */
void sw_footprint_evaluate(const struct sw_footprint *footprint, const struct sw_geometry *geometry,
			   struct sw_reaches *out);

/* Waits and triggers of a launch with programmatic dependencies. */
struct sw_grid_state {
	uint8_t all, some,
		perhaps;     /* waits with a number: all threads come to them, some of each block, perhaps some */
	bool waits;	     /* it ends after what it depends on */
	bool triggers;	     /* perhaps */
	bool early;	     /* an access may follow the trigger */
	bool triggers_first; /* before its own wait */
};
/* Finds out which waits and triggers of programmatic dependent launch come into play at this launch. */
void sw_footprint_grid(const struct sw_footprint *footprint, const struct sw_geometry *geometry,
		       struct sw_grid_state *out);
/* Where an access with this SW_ORDER_* lies in the launch. */
enum sw_grid_phase { SW_AFTER_WAIT, SW_PERHAPS_AFTER_WAIT, SW_BEFORE_WAIT };
enum sw_grid_phase sw_grid_phase(const struct sw_grid_state *state, uint32_t order);

/* Reaches without a launch: for each root its roles together (one reach a root, OPEN, no address). */
void sw_footprint_directions(const struct sw_footprint *footprint, struct sw_reaches *out);

/* How many of a, b, c are terms (SW_TERM_ANY: none, they are among the alternatives). */
uint32_t sw_term_operands(const struct sw_term *term);

/* The address of a site as a reader would write it: "param 0 + 4 * (256 * ctaid.x + tid.x)", at most `room` bytes. */
void sw_footprint_address_text(const struct sw_footprint *footprint, uint32_t site, char *out, size_t room);
/* The facts of a site that mention launch values: "i < param 2" joined by " and "; empty if none. */
void sw_footprint_facts_text(const struct sw_footprint *footprint, uint32_t site, char *out, size_t room);

#endif
