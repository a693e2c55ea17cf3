/* SPDX-License-Identifier: Apache-2.0 */
/* Where addresses come from: a set of origins for every node, through registers, local, shared and module memory. */
#ifndef SW_FOOTPRINT_KERNEL_SITES_ROOTS_H
#define SW_FOOTPRINT_KERNEL_SITES_ROOTS_H

#include "footprint/kernel/sites/origins.h"
#include "footprint/kernel/flow/ssa.h"

struct sw_roots {
	const struct sw_program *program;
	const struct sw_ssa *ssa;
	struct sw_origins origins;
	sw_origin_set *of;	     /* by node */
	uint8_t *sweep_of;	     /* by node: the sweep that last changed its set; 0: none did */
	SW_VEC(sw_node) first_stale; /* loads and PHIs, while looking */
	struct sw_map contents;	     /* of memory: see memory_origins.c */
	struct sw_map pointers;	     /* bytes of the parameter block that certainly hold pointers */
	struct sw_map loaders; /* origin INDIRECT (a, b) -> the only use that loads it from there, + 2; 1: not known */
	sw_origin_set shared;
	bool machine; /* the program was machine code */
	bool changed;
	bool unsettled; /* no fixpoint within the cap: nothing may be concluded */
};

void sw_roots_find(const struct sw_program *program, bool machine, const struct sw_ssa *ssa, struct sw_roots *roots);
void sw_roots_free(struct sw_roots *roots);

/* A call of an unknown function, or of one without known code: it may access everything that it can reach. */
bool sw_roots_call_is_open(const struct sw_roots *roots, const struct sw_memory_op *use);

/* memory_origins.c: what loads give and stores leave. */
sw_origin_set sw_roots_loaded(struct sw_roots *roots, sw_node node);
void sw_roots_stored(struct sw_roots *roots, const struct sw_memory_op *use);
/* The only use that loads pointers through these words of the parameter block; UINT32_MAX: not known. */
uint32_t sw_roots_loader(const struct sw_roots *roots, uint32_t param, uint32_t span);
/* Pointers that were loaded there may come from anywhere. */
void sw_roots_loader_lost(struct sw_roots *roots, sw_origin_set set);
/* All that a slot holds. */
sw_origin_set sw_roots_slot(const struct sw_roots *roots, uint32_t slot);

#endif
