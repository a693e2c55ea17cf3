/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All code that a kernel can run, in one list: calls of known functions are replaced by a copy of the function (its own
 * registers and local slots), as far as a budget goes.  What remains called (recursion, calls through pointers, beyond
 * the budget) follows as functions of their own; their parameter slots are then one with the argument slots of all
 * their calls.
 */
#ifndef SW_FOOTPRINT_KERNEL_FLOW_BODY_H
#define SW_FOOTPRINT_KERNEL_FLOW_BODY_H

#include "footprint/code.h"

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

void sw_body_make(const struct sw_program *program, struct sw_body *body);
void sw_body_free(struct sw_body *body);
/* The slot that stands for all that are one memory with `slot`. */
uint32_t sw_body_slot(const struct sw_body *body, uint32_t slot);
/* A call that ends the whole kernel instead of returning (an assertion that failed). */
bool sw_body_insn_aborts(const struct sw_body *body, uint32_t insn);
/* True: the slot belongs to calls that remain: its content passes between functions. */
bool sw_body_slot_passed(const struct sw_body *body, uint32_t slot);

#endif
