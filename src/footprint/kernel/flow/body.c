/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All code that a kernel can run, in one list: calls of known functions are replaced by a copy of the function (its own
 * registers and local slots), as far as a budget goes.  What remains called (recursion, calls through pointers, beyond
 * the budget) follows as functions of their own; their parameter slots are then one with the argument slots of all
 * their calls.
 */
#include "footprint/kernel/flow/control_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "footprint/kernel/flow/extern_functions.h"

/* ---- functions without code */

enum sw_extern sw_extern_of(const struct sw_program_call *call)
{
	static const struct {
		const char *name;
		enum sw_extern gives;
	} known[] = {
#define SW_EXTERN(name, gives) {#name, SW_EXTERN_##gives},
#include "footprint/kernel/flow/extern_functions.def"
	};
	if (call->function != UINT32_MAX || !call->name)
		return SW_EXTERN_UNKNOWN;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(call->name, known[i].name))
			return known[i].gives;
	return SW_EXTERN_UNKNOWN;
}

/* Does the call, of a function without code, end the kernel (an assertion that failed)? */
static bool extern_never_returns(const struct sw_program_call *call)
{
	return sw_extern_of(call) == SW_EXTERN_NEVER;
}

/* ---- the body of a kernel */

/* Copies may make the code this much longer; small kernels may grow to a fixed size. */
#define GROWTH	  4
#define SMALL	  20000
#define MAX_DEPTH 16

#define PASSED (1u << 31) /* in the union-find's root: see sw_body_slot_passed() */

struct copier {
	const struct sw_program *program;
	struct sw_body *body;
	uint32_t *owner;	 /* function by slot; SHARED: used by several */
	uint32_t *entry;	 /* by function: 1 + index of its entry, 0 has none yet */
	SW_VEC(uint32_t) wanted; /* functions that need an entry */
	uint32_t budget;
	uint32_t stack[MAX_DEPTH], depth;
	bool indirect; /* a call through a pointer was met */
};
enum { NOBODY = UINT32_MAX, SHARED = UINT32_MAX - 1 };

/* A function that is being copied. */
struct instance {
	const struct sw_program_function *function;
	uint32_t number, reg;
	struct sw_map slots; /* slot of the program -> 1 + slot of the body */
	uint32_t *at;	     /* instruction of the function -> of the body */
};

/* ---- slots ----------------------------------------------------------------------------------------------------- */

uint32_t sw_body_slot(const struct sw_body *body, uint32_t slot)
{
	while ((body->slot.at[slot] & ~PASSED) != slot)
		slot = body->slot.at[slot] & ~PASSED;
	return slot;
}

bool sw_body_slot_passed(const struct sw_body *body, uint32_t slot)
{
	return body->slot.at[sw_body_slot(body, slot)] & PASSED;
}

bool sw_body_insn_aborts(const struct sw_body *body, uint32_t insn)
{
	const struct sw_insn *x = &body->insn.at[insn];
	return x->op == SW_OP_CALL && extern_never_returns(&body->call.at[x->target]);
}

/* Adds a local slot (a variable on the stack, or a parameter of a call) to the body. */
static uint32_t new_slot(struct sw_body *body)
{
	uint32_t slot = (uint32_t)body->slot.n;
	*sw_vec_push(&body->slot) = slot;
	return slot;
}

/* Makes two slots one memory: an argument of a call, and the parameter that it is passed as. */
static void unite_slots(struct sw_body *body, uint32_t a, uint32_t b)
{
	a = sw_body_slot(body, a);
	b = sw_body_slot(body, b);
	body->slot.at[a] = b; /* chains stay short: arguments are joined to parameters, one after the other */
	body->slot.at[b] = b | PASSED;
}

/* The body's slot for a slot of the function that is copied.  Those that a function has alone are new in each copy;
   shared ones, and those of functions that are not inlined, keep their number, + 1. */
static uint32_t slot_of(struct copier *c, struct instance *in, uint32_t slot)
{
	if (slot >= c->program->slots) {
		c->body->damaged = true;
		return 0;
	}
	if (!in->number || c->owner[slot] != in->number)
		return slot + 1; /* slot 0 of the body takes what is damaged */
	uint64_t *mapped = sw_map_put(&in->slots, slot);
	if (!*mapped)
		*mapped = 1 + new_slot(c->body);
	return (uint32_t)*mapped - 1;
}

/* Which function uses each local slot: one alone (its copies get slots of their own), or several. */
static void find_owners(struct copier *c)
{
	const struct sw_program *p = c->program;
	memset(c->owner, 0xff, p->slots * sizeof *c->owner);
	for (uint32_t f = 0; f < p->functions; f++) {
		const struct sw_program_function *fn = &p->function[f];
		for (uint32_t i = 0; i < fn->insns; i++) {
			const struct sw_insn *x = &fn->insn[i];
			if (x->op != SW_OP_LOCAL_ADDRESS || (uint64_t)x->imm >= p->slots)
				continue;
			uint32_t *owner = &c->owner[x->imm];
			*owner = *owner == NOBODY || *owner == f ? f : SHARED;
		}
		for (uint32_t k = 0; k < fn->n_calls; k++) {
			for (uint32_t i = 0; i < fn->calls[k].args; i++)
				if (fn->calls[k].arg[i] < p->slots && c->owner[fn->calls[k].arg[i]] == NOBODY)
					c->owner[fn->calls[k].arg[i]] = f;
			for (uint32_t i = 0; i < fn->calls[k].rets; i++)
				if (fn->calls[k].ret[i] < p->slots && c->owner[fn->calls[k].ret[i]] == NOBODY)
					c->owner[fn->calls[k].ret[i]] = f;
		}
	}
}

/* ---- copying --------------------------------------------------------------------------------------------------- */

/* The body's number of a function's register, the first of `count` that follow each other; out of range: none, and the
   body is damaged. */
static sw_reg reg_of(struct copier *c, const struct instance *in, sw_reg reg, uint32_t count)
{
	if (reg == SW_NO_REG)
		return reg;
	if (reg >= in->function->regs || count > in->function->regs - reg) {
		c->body->damaged = true;
		return SW_NO_REG;
	}
	return in->reg + reg;
}

/* Appends a copy of an instruction, with the registers of this copy of the function. */
static struct sw_insn *copy_insn(struct copier *c, const struct instance *in, const struct sw_insn *x)
{
	struct sw_insn copy = *x;
	bool many = x->op == SW_OP_LOAD && x->count > 1;
	if (copy.op >= SW_OPS) {
		copy.op = SW_OP_OPAQUE;
		c->body->damaged = true;
	}
	if (copy.n > SW_MAX_SRC)
		copy.n = SW_MAX_SRC;
	copy.src = sw_arena_alloc(&c->body->arena, copy.n * sizeof *copy.src);
	copy.dst = reg_of(c, in, x->dst, many ? x->count : 1);
	copy.guard = reg_of(c, in, x->guard, 1);
	for (uint32_t i = 0; i < copy.n; i++)
		copy.src[i] = (struct sw_operand){reg_of(c, in, x->src[i].reg, 1), x->src[i].imm};
	*sw_vec_push(&c->body->insn) = copy;
	return &c->body->insn.at[c->body->insn.n - 1];
}

static void copy_function(struct copier *c, struct instance *in);

/* May a call be replaced by a copy of the function: does it fit the budget, and is it no recursion? */
static bool may_copy(const struct copier *c, uint32_t function)
{
	if (c->depth >= MAX_DEPTH || c->program->function[function].insns > c->budget - c->body->insn.n ||
	    c->body->insn.n >= c->budget)
		return false;
	for (uint32_t i = 0; i < c->depth; i++)
		if (c->stack[i] == function)
			return false;
	return true;
}

/* Begins a copy of a function, with registers of its own. */
static void start_instance(struct copier *c, struct instance *in, uint32_t function)
{
	*in = (struct instance){.function = &c->program->function[function], .number = function, .reg = c->body->regs};
	c->body->regs += in->function->regs;
}

/* Puts a copy of the function in the place of its call; its parameter slots are the caller's argument slots. */
static void copy_called(struct copier *c, struct instance *caller, const struct sw_program_call *call)
{
	struct instance in;
	start_instance(c, &in, call->function);
	const struct sw_program_function *f = in.function;
	for (uint32_t i = 0; i < f->param_slots && i < call->args; i++)
		*sw_map_put(&in.slots, f->param_slot[i]) = 1 + slot_of(c, caller, call->arg[i]);
	for (uint32_t i = 0; i < f->result_slots && i < call->rets; i++)
		*sw_map_put(&in.slots, f->result_slot[i]) = 1 + slot_of(c, caller, call->ret[i]);
	copy_function(c, &in);
	sw_map_free(&in.slots);
}

/* Asks for the function as one of its own, for calls of it that are not inlined. */
static void want_function(struct copier *c, uint32_t function)
{
	if (c->entry[function])
		return;
	*sw_vec_push(&c->wanted) = function;
	c->entry[function] = (uint32_t)c->wanted.n + 1;
}

/* Makes the argument slots of a call one memory with the parameter slots of the function, which is not inlined. */
static void bind_arguments(struct copier *c, const struct sw_program_call *call, uint32_t function)
{
	const struct sw_program_function *f = &c->program->function[function];
	for (uint32_t i = 0; i < f->param_slots && i < call->args; i++)
		if (f->param_slot[i] < c->program->slots)
			unite_slots(c->body, call->arg[i], f->param_slot[i] + 1);
	for (uint32_t i = 0; i < f->result_slots && i < call->rets; i++)
		if (f->result_slot[i] < c->program->slots)
			unite_slots(c->body, call->ret[i], f->result_slot[i] + 1);
}

/* Copies a call that is not inlined: its slots get the body's numbers, and are marked as passed between functions. */
static void keep_call(struct copier *c, struct instance *in, const struct sw_insn *x,
		      const struct sw_program_call *call)
{
	struct sw_program_call kept = *call;
	uint32_t *slots = sw_arena_alloc(&c->body->arena, (call->args + call->rets + 1) * sizeof *slots);
	kept.arg = slots;
	kept.ret = slots + call->args;
	for (uint32_t i = 0; i < call->args; i++)
		slots[i] = slot_of(c, in, call->arg[i]);
	for (uint32_t i = 0; i < call->rets; i++)
		slots[call->args + i] = slot_of(c, in, call->ret[i]);
	for (uint32_t i = 0; i < call->args + call->rets; i++)
		c->body->slot.at[sw_body_slot(c->body, slots[i])] |= PASSED;
	if (kept.function < c->program->functions) {
		want_function(c, kept.function);
		bind_arguments(c, &kept, kept.function);
	} else if (kept.function != UINT32_MAX) {
		c->body->damaged = true;
		kept.function = UINT32_MAX;
	} else if (!kept.name) {
		c->indirect = true;
	}
	copy_insn(c, in, x)->target = (uint32_t)c->body->call.n;
	*sw_vec_push(&c->body->call) = kept;
}

/* Replaces a call by a copy of the function where that is possible, and keeps it else. */
static void copy_call(struct copier *c, struct instance *in, const struct sw_insn *x)
{
	if (x->target >= in->function->n_calls) {
		c->body->damaged = true;
		return;
	}
	const struct sw_program_call *call = &in->function->calls[x->target];
	if (x->guard != SW_NO_REG || call->function >= c->program->functions || !may_copy(c, call->function))
		keep_call(c, in, x, call);
	else
		copy_called(c, in, call);
}

/* Gives the copied jumps their targets in the body; RETURNs of an inlined function jump to the end of the copy. */
static void patch_jumps(struct copier *c, const struct instance *in)
{
	const struct sw_program_function *f = in->function;
	for (uint32_t i = 0; i < f->insns; i++) {
		struct sw_insn *x = &c->body->insn.at[in->at[i]];
		if (f->insn[i].op == SW_OP_RETURN && c->depth > 1) {
			x->op = SW_OP_JUMP;
			x->target = in->at[f->insns];
		} else if (f->insn[i].op == SW_OP_JUMP) {
			uint32_t to = f->insn[i].target;
			c->body->damaged |= to > f->insns;
			x->target = in->at[to < f->insns ? to : f->insns];
		} else if (f->insn[i].op == SW_OP_SWITCH) {
			uint32_t first = f->insn[i].target, n = f->insn[i].targets;
			bool bad = first > f->n_targets || n > f->n_targets - first;
			c->body->damaged |= bad;
			x->target = (uint32_t)c->body->target.n;
			x->targets = bad ? 0 : n;
			for (uint32_t k = 0; k < x->targets; k++) {
				uint32_t to = f->targets[first + k];
				c->body->damaged |= to > f->insns;
				*sw_vec_push(&c->body->target) = in->at[to < f->insns ? to : f->insns];
			}
			c->body->anywhere |= !x->targets;
		}
	}
}

/* Appends the code of a function, with what it calls. */
static void copy_function(struct copier *c, struct instance *in)
{
	const struct sw_program_function *f = in->function;
	in->at = sw_alloc(((size_t)f->insns + 1) * sizeof *in->at);
	c->stack[c->depth++] = in->number;
	for (uint32_t i = 0; i < f->insns; i++) {
		const struct sw_insn *x = &f->insn[i];
		in->at[i] = (uint32_t)c->body->insn.n;
		if (x->op == SW_OP_CALL)
			copy_call(c, in, x);
		else if (x->op == SW_OP_LOCAL_ADDRESS) {
			uint32_t slot = slot_of(c, in, (uint64_t)x->imm > UINT32_MAX ? UINT32_MAX : (uint32_t)x->imm);
			copy_insn(c, in, x)->imm = slot;
		} else
			copy_insn(c, in, x);
	}
	/* Running past the end of a function returns from it; after an inlined copy the caller continues. */
	in->at[f->insns] = (uint32_t)c->body->insn.n;
	if (c->depth == 1)
		*sw_vec_push(&c->body->insn) =
			(struct sw_insn){.op = SW_OP_EXIT, .dst = SW_NO_REG, .guard = SW_NO_REG, .text = "exit"};
	patch_jumps(c, in);
	c->depth--;
	free(in->at);
}

/* Appends a function that is not inlined, or the kernel itself, as an entry of the body. */
static void copy_entry(struct copier *c, uint32_t function)
{
	struct instance in;
	*sw_vec_push(&c->body->entry) = (uint32_t)c->body->insn.n;
	start_instance(c, &in, function);
	in.number = 0; /* keeps its slots' numbers */
	in.function = &c->program->function[function];
	c->stack[0] = function;
	copy_function(c, &in);
}

/* Functions whose address is taken can be called by every call through a pointer that passes as many arguments. */
static void bind_indirect(struct copier *c, uint32_t function)
{
	const struct sw_program_function *f = &c->program->function[function];
	want_function(c, function);
	for (size_t k = 0; k < c->body->call.n; k++) {
		const struct sw_program_call *call = &c->body->call.at[k];
		if (call->function == UINT32_MAX && !call->name && call->args == f->param_slots)
			bind_arguments(c, call, function);
	}
}

/* Finds the functions whose address is taken, by instructions or by initialisers of variables: calls through
   pointers may reach them. */
static void find_addressed(struct copier *c)
{
	const struct sw_program *p = c->program;
	uint8_t *taken = sw_calloc(p->functions, 1);
	for (uint32_t f = 0; f < p->functions; f++)
		for (uint32_t i = 0; i < p->function[f].insns; i++) {
			const struct sw_insn *x = &p->function[f].insn[i];
			if (x->op == SW_OP_FUNCTION_ADDRESS && (uint64_t)x->imm < p->functions)
				taken[x->imm] = 1;
		}
	for (uint32_t s = 0; s < p->symbols; s++)
		for (uint32_t i = 0; i < p->symbol[s].n_functions; i++)
			if (p->symbol[s].functions[i] < p->functions)
				taken[p->symbol[s].functions[i]] = 1;
	for (uint32_t f = 1; f < p->functions; f++)
		if (taken[f])
			bind_indirect(c, f);
	free(taken);
}

/* Has the function these registers? */
static bool has_reg(const struct sw_program_function *f, sw_reg reg, uint32_t count)
{
	return reg == SW_NO_REG || (reg < f->regs && count <= f->regs - reg);
}

/* Would a copy at the start of the body be the same, and need no mark of damage? */
static bool stays_as_it_is(const struct sw_program *program, const struct sw_insn *x)
{
	const struct sw_program_function *f = &program->function[0];
	bool sound = x->op < SW_OPS && x->n <= SW_MAX_SRC && has_reg(f, x->guard, 1) &&
		     has_reg(f, x->dst, x->op == SW_OP_LOAD && x->count > 1 ? x->count : 1);
	for (uint32_t i = 0; sound && i < x->n; i++)
		sound = has_reg(f, x->src[i].reg, 1);
	switch (x->op) {
	case SW_OP_LOCAL_ADDRESS:
		return sound && (uint64_t)x->imm < program->slots;
	case SW_OP_JUMP:
		return sound && x->target < f->insns;
	case SW_OP_SWITCH:
		return sound && x->targets && x->target <= f->n_targets && x->targets <= f->n_targets - x->target;
	case SW_OP_CALL:
		return false;
	default:
		return sound;
	}
}

/* Takes the program's instructions as the body without copying them: for a kernel that calls nothing, as nearly all
   of machine code.  False: they have to be copied. */
static bool borrow_insns(const struct sw_program *program, struct sw_body *body)
{
	const struct sw_program_function *f = &program->function[0];
	const struct sw_insn *last = f->insns ? &f->insn[f->insns - 1] : NULL;
	if (program->functions != 1 || !last || last->op != SW_OP_EXIT || last->guard != SW_NO_REG)
		return false;
	for (uint32_t i = 0; i < f->insns; i++)
		if (!stays_as_it_is(program, &f->insn[i]))
			return false;
	for (uint32_t i = 0; i < f->n_targets; i++)
		if (f->targets[i] >= f->insns)
			return false;
	body->borrowed = true;
	body->insn.at = f->insn;
	body->insn.n = f->insns;
	body->regs = f->regs;
	*sw_vec_push(&body->entry) = 0;
	for (uint32_t i = 0; i < f->n_targets; i++)
		*sw_vec_push(&body->target) = f->targets[i];
	for (uint32_t s = 0; s <= program->slots; s++)
		new_slot(body);
	return true;
}

void sw_body_make(const struct sw_program *program, struct sw_body *body)
{
	*body = (struct sw_body){0};
	if (!program->functions || borrow_insns(program, body))
		return;
	struct copier c = {.program = program, .body = body};
	uint64_t total = 0;
	for (uint32_t f = 0; f < program->functions; f++)
		total += program->function[f].insns;
	c.budget = (uint32_t)(total * GROWTH > SMALL ? total * GROWTH : SMALL);
	if (c.budget > 2 * SW_CODE_MAX_INSNS)
		c.budget = 2 * SW_CODE_MAX_INSNS;
	c.owner = sw_alloc(((size_t)program->slots + 1) * sizeof *c.owner);
	c.entry = sw_calloc(program->functions, sizeof *c.entry);
	find_owners(&c);
	for (uint32_t s = 0; s <= program->slots; s++)
		new_slot(body);
	c.entry[0] = 1;
	sw_vec_reserve(&body->insn, program->function[0].insns + 1);
	copy_entry(&c, 0);
	for (size_t next = 0;;) {
		for (; next < c.wanted.n; next++)
			copy_entry(&c, c.wanted.at[next]);
		if (!c.indirect)
			break;
		find_addressed(&c);
		if (next == c.wanted.n)
			break;
	}
	free(c.owner);
	free(c.entry);
	free(c.wanted.at);
}

void sw_body_free(struct sw_body *body)
{
	if (!body->borrowed)
		free(body->insn.at);
	free(body->target.at);
	free(body->call.at);
	free(body->entry.at);
	free(body->slot.at);
	sw_arena_free(&body->arena);
	*body = (struct sw_body){0};
}
