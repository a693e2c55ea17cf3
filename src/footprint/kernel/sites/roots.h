/* SPDX-License-Identifier: Apache-2.0 */
/* Where addresses come from: a set of origins for every node, through registers, local, shared and module memory. */
#ifndef SW_FOOTPRINT_KERNEL_SITES_ROOTS_H
#define SW_FOOTPRINT_KERNEL_SITES_ROOTS_H

#include "footprint/footprint.h"
#include "base/map.h"
#include "footprint/kernel/flow/ssa.h"

/*
 * Sets of what an address may be made from.  Equal sets are one number, so that a union that was made before costs a
 * look-up; 0 is the empty set.
 */

enum sw_origin_kind {
	SW_ORIGIN_PARAM,    /* word(s) of the parameter block at [a, a+b) */
	SW_ORIGIN_SYMBOL,   /* variable a */
	SW_ORIGIN_INDIRECT, /* loaded through PARAM a, b */
	SW_ORIGIN_INDIRECT_SYMBOL,
	SW_ORIGIN_ENVIRONMENT,
	SW_ORIGIN_UNKNOWN,
	SW_ORIGIN_LOCAL, /* slot a */
	SW_ORIGIN_SHARED,
	SW_ORIGIN_BLOCK, /* the parameter block itself, from byte a of b */
	SW_ORIGIN_FUNCTION
};
struct sw_origin {
	uint32_t kind, a, b;
};

/* An element of a set: index of an origin, and */
enum { SW_ELEMENT_HALF = 1, /* a piece of the address */ SW_ELEMENT_WEAK = 2, SW_ELEMENT_SHIFT = 2 };

typedef uint32_t sw_origin_set;
struct sw_origin_span {
	uint32_t first, n; /* of `element` */
};

struct sw_origins {
	SW_VEC(struct sw_origin) origin;
	SW_VEC(struct sw_origin_alone {
		sw_origin_set of[1 << SW_ELEMENT_SHIFT]; /* by flags; 0: not made yet */
	})
	alone;			  /* by origin: the sets of it alone */
	SW_VEC(uint32_t) element; /* of all sets */
	SW_VEC(struct sw_origin_span) set;
	struct sw_map sets, origins, unions; /* by hash of content, chains by +1 on collision; (a, b) -> union */
	sw_origin_set unknown;
};

/* More elements make a set `unknown`. */
#define SW_ORIGINS_MAX 512

/* The union of two sets. */
sw_origin_set sw_origins_union(struct sw_origins *origins, sw_origin_set a, sw_origin_set b);

/* Copies the elements of a set out, as making sets moves them; returns how many they are. */
uint32_t sw_origins_copy(const struct sw_origins *origins, sw_origin_set set, uint32_t out[SW_ORIGINS_MAX]);
/* The origin that an element stands for. */
static inline const struct sw_origin *sw_origin_at(const struct sw_origins *origins, uint32_t element)
{
	return &origins->origin.at[element >> SW_ELEMENT_SHIFT];
}

struct sw_roots {
	const struct sw_program *program;
	const struct sw_ssa *ssa;
	struct sw_origins origins;
	sw_origin_set *of;	     /* by node */
	uint8_t *sweep_of;	     /* by node: the sweep that last changed its set; 0: none did */
	SW_VEC(sw_node) first_stale; /* loads and PHIs, while looking */
	struct sw_map contents;	     /* of memory: see roots.c */
	struct sw_map pointers;	     /* bytes of the parameter block that certainly hold pointers */
	struct sw_map loaders; /* origin INDIRECT (a, b) -> the only use that loads it from there, + 2; 1: not known */
	sw_origin_set shared;
	bool machine; /* the program was machine code */
	bool changed;
	bool unsettled; /* no fixpoint within the cap: nothing may be concluded */
};

/* Finds the set of origins of each node.  machine: the program was machine code. */
void sw_roots_find(const struct sw_program *program, bool machine, const struct sw_ssa *ssa, struct sw_roots *roots);
void sw_roots_free(struct sw_roots *roots);

/* Is it a call of an unknown function, or of one without known code?  It may access everything that it can reach. */
bool sw_roots_call_is_open(const struct sw_roots *roots, const struct sw_memory_op *use);

/* The only use that loads pointers through these words of the parameter block; UINT32_MAX: not known. */
uint32_t sw_roots_loader(const struct sw_roots *roots, uint32_t param, uint32_t span);
/* The union of the origins of all that is stored to a local slot. */
sw_origin_set sw_roots_slot(const struct sw_roots *roots, uint32_t slot);

#endif
