/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps, calls, ends. */
#include "footprint/instructions/ptx/ptx_reader.h"

/* An instruction that neither touches memory nor makes a number: fences, prefetches, hints. */
void sw_ptx_nothing(struct sw_ptx_reader *r, int arg)
{
	(void)r;
	(void)arg;
}

/* exit: ends the thread. */
void sw_ptx_exit(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	sw_ptx_do(r, (struct sw_ptx_insn){.op = SW_OP_EXIT});
}

/* ret: copies results that are in registers to the slots of the caller, and returns. */
void sw_ptx_ret(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_function *f = r->function;
	(void)arg;
	for (uint32_t i = 0; i < f->results && !r->failed && !f->entry; i++) {
		const struct sw_ptx_declaration *d = &r->module->formals.at[f->result + i].is;
		struct sw_ptx_thing result = sw_ptx_lookup(r, d->name, d->n);
		if (d->state == SW_PTX_REG && result.kind == SW_PTX_REGISTERS)
			sw_ptx_to_slot(r, r->result_slot[i], &result);
	}
	sw_ptx_do(r, (struct sw_ptx_insn){.op = SW_OP_RETURN});
}

/* Emits a jump (or, in_switch, a SWITCH) whose target is a label, which may be declared further down. */
static void jump_to_label(struct sw_ptx_reader *r, const struct sw_ptx_node *label, struct sw_ptx_insn insn,
			  bool in_switch)
{
	if (!label)
		return;
	if (!label->n) {
		sw_ptx_fail(r, "a jump to what is no label");
		return;
	}
	sw_ptx_do(r, insn);
	sw_ptx_wait_for(r, label->name, label->n,
			(struct sw_ptx_pending){.in_switch = in_switch, .at = (uint32_t)r->insn.n - 1});
}

/* bra label. */
void sw_ptx_bra(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	jump_to_label(r, sw_ptx_at(r, 0), (struct sw_ptx_insn){.op = SW_OP_JUMP}, false);
}

/* brx.idx index, list: a jump to one of a list of labels. */
void sw_ptx_brx(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	jump_to_label(r, sw_ptx_at(r, 1), sw_ptx_op1(SW_OP_SWITCH, 32, sw_ptx_value(r, 0)), true);
}

/* bar and barrier.  Only .red gives a result.  Without a number of threads all of the block take part (PTX ISA,
   "barrier"); .arrive waits for nobody, .warp and .cluster are not about the block. */
void sw_ptx_barrier(struct sw_ptx_reader *r, int arg)
{
	bool red = sw_ptx_has(r->op, "red");
	uint32_t numbers = red ? r->operands - 2 : r->operands; /* less the result and the predicate of .red */
	(void)arg;
	if (red)
		sw_ptx_set_range(r, sw_ptx_at(r, 0));
	if (sw_ptx_has(r->op, "arrive"))
		return;
	bool block = !sw_ptx_has(r->op, "warp") && !sw_ptx_has(r->op, "cluster") && numbers == 1;
	sw_ptx_do(r, (struct sw_ptx_insn){.op = SW_OP_BARRIER, .imm = block});
}

/* griddepcontrol.wait and .launch_dependents. */
void sw_ptx_grid_dependency(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	sw_ptx_do(r, (struct sw_ptx_insn){.op = sw_ptx_has(r->op, "wait") ? SW_OP_GRID_WAIT : SW_OP_GRID_TRIGGER});
}

/* ---- calls ---- */

/* The local slot through which an argument or result passes: one that the code names, or for a register or constant
   (PTX ISA, "call": .reg parameters) a new one, which an argument is stored to first. */
static uint32_t slot_of(struct sw_ptx_reader *r, const struct sw_ptx_node *node, bool result)
{
	if (node->kind == SW_PTX_VALUE && node->thing.kind == SW_PTX_SLOT)
		return node->thing.a;
	uint32_t slot = sw_ptx_slot(r);
	if (result)
		return slot;
	if (sw_ptx_is_register(node)) {
		sw_ptx_to_slot(r, slot, &node->thing);
	} else {
		/* As wide as a constant can be: the rest of the slot is unused. */
		struct sw_operand value = sw_ptx_temp(r, sw_ptx_op1(SW_OP_MOV, 64, sw_ptx_use(r, node)));
		sw_ptx_to_slot(r, slot, &(struct sw_ptx_thing){.bits = 64, .vector = 1, .a = value.reg});
	}
	return slot;
}

/* The slots through which the arguments or results of a list pass, in its order, in the arena: numbers of variables in
   local memory.  results: the call writes them, so that no register is stored to its slot before. */
static const uint32_t *slots_of(struct sw_ptx_reader *r, const struct sw_ptx_node *list, bool results, uint32_t *count)
{
	*count = sw_ptx_children(r, list);
	uint32_t *slots = sw_arena_alloc(&r->program->arena, *count * sizeof *slots), n = 0;
	for (uint32_t i = list->first; i != SW_PTX_NO_NODE && !r->failed; i = r->nodes.at[i].next)
		slots[n++] = slot_of(r, &r->nodes.at[i], results);
	return slots;
}

/* The address of one of the functions in a .calltargets list: it is not known which. */
static struct sw_operand any_of(struct sw_ptx_reader *r, const struct sw_ptx_thing *callees)
{
	struct sw_operand one = {SW_NO_REG, 0};
	for (uint32_t i = 0; i < callees->many && !r->failed; i++) {
		struct sw_ptx_insn address = {.op = SW_OP_FUNCTION_ADDRESS, .width = 64};
		address.imm = r->callees.at[callees->a + i];
		struct sw_operand other = sw_ptx_temp(r, address);
		if (i)
			other = sw_ptx_temp(r, sw_ptx_op3(SW_OP_SELECT, 64, sw_ptx_temp(r, sw_ptx_any(1)), other, one));
		one = other;
	}
	return one;
}

/* Fills in which function is called: by its name, or by the address in src[0].  last: the operand that may be a list
   of targets. */
static void bind_callee(struct sw_ptx_reader *r, const struct sw_ptx_node *callee, uint32_t last,
			struct sw_program_call *call, struct sw_ptx_insn *insn)
{
	const struct sw_ptx_node *targets = sw_ptx_at(r, last);
	call->function = UINT32_MAX;
	if (callee->kind == SW_PTX_VALUE && callee->thing.kind == SW_PTX_CODE) {
		call->function = callee->thing.a;
		if (call->function == UINT32_MAX)
			call->name = callee->thing.name;
	} else if (callee->kind == SW_PTX_NAME) {
		call->name = sw_arena_strndup(&r->program->arena, callee->name, callee->n);
	} else if (targets && targets->kind == SW_PTX_VALUE && targets->thing.kind == SW_PTX_CALLEES &&
		   targets->thing.many) {
		insn->n = 1;
		insn->src[0] = any_of(r, &targets->thing);
	} else {
		insn->n = 1;
		insn->src[0] = sw_ptx_use(r, callee);
	}
}

/* call (results), function, (arguments), prototype; with the parentheses and the prototype left out where empty. */
void sw_ptx_call(struct sw_ptx_reader *r, int arg)
{
	struct sw_program_call call = {0};
	struct sw_ptx_insn insn = {.op = SW_OP_CALL};
	uint32_t i = 0;
	const struct sw_ptx_node *results = NULL, *node = sw_ptx_at(r, 0);
	(void)arg;
	if (node && node->kind == SW_PTX_LIST) {
		results = node;
		call.ret = slots_of(r, node, true, &call.rets);
		node = sw_ptx_at(r, ++i);
	}
	if (!node)
		return;
	const struct sw_ptx_node *arguments = ++i < r->operands ? sw_ptx_at(r, i) : NULL;
	if (arguments && arguments->kind == SW_PTX_LIST)
		call.arg = slots_of(r, arguments, false, &call.args);
	bind_callee(r, node, r->operands - 1, &call, &insn);
	insn.target = (uint32_t)r->calls.n;
	*sw_vec_push(&r->calls) = call;
	sw_ptx_do(r, insn);
	for (uint32_t at = results ? results->first : SW_PTX_NO_NODE, k = 0; at != SW_PTX_NO_NODE && !r->failed; k++) {
		const struct sw_ptx_node *result = &r->nodes.at[at];
		if (sw_ptx_is_register(result))
			sw_ptx_from_slot(r, call.ret[k], &result->thing);
		at = result->next;
	}
}
