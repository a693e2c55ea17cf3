/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow of a body: blocks in reverse postorder, dominators, natural loops.
 *
 * Block 0 is empty and leads to every function's start.  Blocks that nothing reaches are dropped.  A retreating edge
 * whose target does not dominate its source (irreducible flow) marks the target `irregular`; there is no loop for it.
 */
#ifndef SW_FOOTPRINT_KERNEL_FLOW_CONTROL_FLOW_H
#define SW_FOOTPRINT_KERNEL_FLOW_CONTROL_FLOW_H

#include "footprint/code.h"

/* All code that a kernel can run, in one list (body.c). */

struct sw_body {
	SW_VEC(struct sw_insn) insn; /* JUMP targets: index here; SWITCH: first of `target` */
	SW_VEC(uint32_t) target;
	SW_VEC(struct sw_program_call) call; /* those that remain; slots are those of the body */
	SW_VEC(uint32_t) entry;		     /* where functions start, the kernel first */
	SW_VEC(uint32_t) slot;		     /* union-find: slots that are one memory */
	struct sw_arena arena;
	bool borrowed; /* `insn` is the program's, which lives longer */
	uint32_t regs;
	bool anywhere; /* a jump may go to any instruction: there is no control flow to follow */
	bool damaged;  /* a target or number out of range: what is there counts, the kernel is wild */
};

/* Lists all code of a program, with functions inlined where they are called, as far as that is possible. */
void sw_body_make(const struct sw_program *program, struct sw_body *body);
void sw_body_free(struct sw_body *body);
/* The local slot that stands for all those that are one memory with `slot`. */
uint32_t sw_body_slot(const struct sw_body *body, uint32_t slot);
/* Is the instruction a call that ends the whole kernel instead of returning (an assertion that failed)? */
bool sw_body_insn_aborts(const struct sw_body *body, uint32_t insn);
/* Is the slot one of a call that was not inlined, so that its content passes between functions? */
bool sw_body_slot_passed(const struct sw_body *body, uint32_t slot);

#define SW_NO_BLOCK UINT32_MAX
#define SW_NO_LOOP  UINT32_MAX

struct sw_basic_block {
	uint32_t first, end;  /* instructions [first, end) */
	uint32_t pred, preds; /* edge[pred .. pred+preds): blocks that lead here */
	uint32_t succ, succs; /* edge[succ .. ): where it leads; a taken jump first, falling through last */
	uint32_t idom;	      /* SW_NO_BLOCK of block 0 */
	uint32_t in, out;     /* numbers of a walk over the tree of dominators: a dominates b if a's contain b's */
	uint32_t loop;	      /* innermost that it is in */
	bool header, irregular;
};

struct sw_natural {
	uint32_t header, parent, depth; /* parent: SW_NO_LOOP: none */
};

struct sw_flow {
	SW_VEC(struct sw_basic_block) block;
	SW_VEC(uint32_t) edge;
	SW_VEC(struct sw_natural) loop; /* inner ones have greater numbers than those around them */
	uint32_t *child, *child_first;	/* tree of dominators: child[child_first[b] .. child_first[b+1]), ascending */
	bool irregular;			/* some block is */
};

/* Finds blocks, edges, dominators and loops of the body. */
void sw_flow_build(const struct sw_body *body, struct sw_flow *flow);
/* Makes one block of everything, for code whose jumps may go anywhere. */
void sw_flow_build_flat(const struct sw_body *body, struct sw_flow *flow);
void sw_flow_free(struct sw_flow *flow);

/* Does every way to block b go through block a? */
static inline bool sw_flow_dominates(const struct sw_flow *flow, uint32_t a, uint32_t b)
{
	return flow->block.at[a].in <= flow->block.at[b].in && flow->block.at[b].out <= flow->block.at[a].out;
}
/* Is the edge from block `from` to block `to` one that closes a loop (or, irregular, would)? */
static inline bool sw_flow_retreats(uint32_t from, uint32_t to)
{
	return from >= to;
}
/* Is the block in this loop, or in one within it? */
bool sw_flow_in_loop(const struct sw_flow *flow, uint32_t block, uint32_t loop);

#endif
