/* SPDX-License-Identifier: Apache-2.0 */
/* A footprint while it is put together: terms, facts, loops, roots and strings are numbered as they are asked for. */
#ifndef SW_FOOTPRINT_KERNEL_SITES_EMIT_H
#define SW_FOOTPRINT_KERNEL_SITES_EMIT_H

#include "footprint/kernel/flow/path_conditions.h"
#include "footprint/kernel/sites/terms.h"

struct sw_grid_order;

/* A run of entries in one of the footprint's arrays. */
struct sw_array_span {
	uint32_t first, n;
};

struct sw_emit {
	struct sw_ssa *ssa;
	struct sw_path_conditions guards;
	struct sw_terms terms;
	const struct sw_program *program;
	SW_VEC(struct sw_term) term;
	SW_VEC(uint32_t) alternative;
	SW_VEC(struct sw_fact) fact;
	SW_VEC(struct sw_loop) loop;
	SW_VEC(uint32_t) natural; /* loop of the flow graph, by loop */
	SW_VEC(struct sw_root) root;
	SW_VEC(struct sw_access_site) site;
	SW_VEC(struct sw_grid_op) grid;
	SW_VEC(struct sw_footprint_symbol) symbol;
	SW_VEC(char) string;
	uint32_t unknown;  /* term of an unknown condition, + 1 */
	uint32_t *term_of; /* by node of the terms' graph: number + 1; 0: it has none yet */
	size_t term_of_room;
	struct sw_map loop_of, list_of, symbol_of, string_of, same; /* number + 1 */
};

/* The facts of a list up to `end` (SW_NO_CONDITION: all), as terms; the same list is the same run. */
struct sw_array_span sw_emit_facts(struct sw_emit *emit, uint32_t list, uint32_t end);
/* The offset of the text among the strings of the footprint; equal texts are one. */
uint32_t sw_emit_string(struct sw_emit *emit, const char *text);

/* ---- assume.c ---- */

/* Rewrites the addresses of all memory accesses, given what is true where they are executed.  Adds nodes, so it
   comes before roots are found. */
void sw_assume_facts(struct sw_ssa *ssa, struct sw_path_conditions *guards);

/* ---- grid_order.c ---- */

/* Finds how the kernel's waits and triggers for dependent launches lie in its code; NULL: it has none. */
struct sw_grid_order *sw_grid_order_find(struct sw_ssa *ssa, struct sw_path_conditions *guards);
void sw_grid_order_free(struct sw_grid_order *order);
/* SW_ORDER_* of an access; notes that it is there, for the triggers before it.  order NULL: 0. */
uint32_t sw_grid_order_of(struct sw_grid_order *order, const struct sw_memory_op *use);
/* Emits the waits and triggers, when all accesses are noted. */
void sw_grid_order_emit(struct sw_grid_order *order, struct sw_emit *emit);

#endif
