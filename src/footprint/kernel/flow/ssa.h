/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body as a graph: every register and every plain local variable at every place is a node.
 *
 * Where control flow cannot be followed (a jump to anywhere, or more joins than a cap allows) each register is one PHI
 * of all that is ever written to it: directions survive, ranges do not (`flat`).
 */
#ifndef SW_FOOTPRINT_KERNEL_FLOW_SSA_H
#define SW_FOOTPRINT_KERNEL_FLOW_SSA_H

#include "footprint/kernel/flow/control_flow.h"
#include "footprint/kernel/values/value_graph.h"

/* An instruction that touches memory, or calls, with its operands as nodes. */
struct sw_memory_op {
	uint32_t insn, block;
	sw_node guard;		/* what must be true; SW_NO_NODE: always executed */
	sw_node address;	/* 64 bits, displacement included; SW_NO_NODE: none (calls by name) */
	uint32_t value, values; /* operand[value ..): src[1..] (all of an OPAQUE's and a CALL's) */
};

struct sw_ssa {
	struct sw_graph graph;
	struct sw_body body;
	struct sw_flow flow;
	bool flat;
	SW_VEC(struct sw_memory_op) use;
	SW_VEC(struct sw_memory_op) grid; /* GRID_WAIT and GRID_TRIGGER, which have no address */
	SW_VEC(sw_node) operand;
	sw_node *condition;    /* by block: of the branch at its end, true on its first edge; SW_NO_NODE: none */
	sw_node *choice;       /* by block: what the SWITCH at its end goes by; SW_NO_NODE not known */
	SW_VEC(uint32_t) born; /* by node: the block of a RANGE or MIX, + 1; 0 or beyond the end: none */
	size_t finished;       /* PHIs of two halves that have their operands */
	uint8_t *need;	       /* while it is built, by instruction: SW_NEED_*; NULL: all of everything */
	uint64_t *live;	       /* while it is built, by block: sets of variables live at its start; NULL: not known */
	size_t live_words;     /* of a set */
	bool damaged;
};
/* LOADED nodes: imm is the index of the use, imm2 the byte's distance from its address. */

/* Makes the graph of a program. */
void sw_ssa_build(const struct sw_program *program, struct sw_ssa *ssa);
void sw_ssa_free(struct sw_ssa *ssa);
/* Gives 64-bit PHIs that replace two of 32 bits their operands.  Making nodes may create more of these PHIs, and so
   may this function. */
void sw_ssa_finish_pairs(struct sw_ssa *ssa);
/* Notes the block in which a RANGE or MIX comes to be. */
void sw_ssa_set_block(struct sw_ssa *ssa, sw_node node, uint32_t block);
/* The block that defines a PHI, RANGE, MIX or LOADED; SW_NO_BLOCK for all others. */
uint32_t sw_ssa_block_of(const struct sw_ssa *ssa, sw_node node);

/* ---- stack_frames.c: local variables whose address is never taken are registers
 * ----------------------------------- */

struct sw_stack_frames {
	uint32_t regs, vars;   /* variables are numbered after the registers: regs .. vars-1 */
	struct sw_map element; /* slot << 32 | offset -> 1 + variable */
	uint64_t *at;	       /* by instruction: slot << 32 | offset of a plain access, SW_NO_PLACE otherwise */
};
#define SW_NO_PLACE UINT64_MAX
/* Finds the local variables that can be followed like registers: all accesses to them are plain, and their address
   is never taken. */
void sw_frames_find(const struct sw_ssa *ssa, struct sw_stack_frames *frames);
void sw_frames_free(struct sw_stack_frames *frames);
/* The variable of element k that an access goes to; SW_NO_REG: it goes to memory. */
uint32_t sw_frames_var(const struct sw_stack_frames *frames, const struct sw_body *body, uint32_t insn, uint32_t k);

/* ---- needed.c: what of an instruction addresses and conditions are made of
 * -------------------------------------------------- */

enum {
	SW_NEED_FIRST = 1 << 0, /* src[0] */
	SW_NEED_REST = 1 << 1,	/* src[1..] */
	SW_NEED_GUARD = 1 << 2,
	SW_NEED_RESULT = 1 << 3, /* dst, or the local variables that it writes */
	SW_NEED_ALL = 15
};
static inline uint8_t sw_need_of(const struct sw_ssa *ssa, uint32_t insn)
{
	return ssa->need ? ssa->need[insn] : SW_NEED_ALL;
}
/* Finds what of each instruction is needed to know addresses and conditions, ssa->need, and which variables are live
   at each block's start. */
void sw_needed_find(const struct sw_program *program, struct sw_ssa *ssa, const struct sw_stack_frames *frames);

/* ---- phi_placement.c: where PHIs are needed (Cytron et al., pruned by liveness)
 * ------------------------------------------ */

/* The needed variables that an instruction writes and reads. */
struct sw_effects {
	uint32_t def[256], defs; /* a LOAD has up to 255 elements */
	uint32_t use[SW_MAX_SRC + 256], uses;
};
/* Lists the needed variables that an instruction writes and reads. */
void sw_effects_of(const struct sw_ssa *ssa, const struct sw_stack_frames *frames, uint32_t insn,
		   struct sw_effects *out);

struct sw_phi_place {
	uint32_t block, var;
};
struct sw_places {
	SW_VEC(struct sw_phi_place) phi; /* by block */
	uint32_t *first;		 /* [blocks + 1] */
};
/* Finds the variables that need a PHI at the start of each block; false: there are too many. */
bool sw_places_find(const struct sw_ssa *ssa, const struct sw_stack_frames *frames, struct sw_places *places);
void sw_places_free(struct sw_places *places);

#endif
