/* SPDX-License-Identifier: Apache-2.0 */
/* Local variables of a kernel: which words on its stack are read and written like registers. */
#include "footprint/kernel/flow/ssa.h"

#include <stdlib.h>
#include <string.h>

/* State of the search for local variables that can be followed like registers. */
struct finder {
	const struct sw_ssa *ssa;
	uint32_t *defs;	 /* by register */
	uint32_t *block; /* by register: the one that holds all its writers, MANY if there are several */
	uint64_t *frame; /* by register: slot << 32 | offset that it holds the address of here, or SW_NO_PLACE */
	uint8_t *met;	 /* by register: WRITTEN, EARLY */
	uint64_t frame_of_result; /* of the instruction looked at */
	bool *escapes;		  /* by slot */
	SW_VEC(struct element {
		uint64_t place;
		uint32_t bytes;
	})
	element;
};

enum { NONE = UINT32_MAX, MANY = UINT32_MAX - 1 };
/* Read above where it is written: by the next iteration of a loop. */
enum { WRITTEN = 1, EARLY = 2 };

/* Is the register's value known wherever it is read?  It is if it is written once, or, like a stack pointer, several
   times in one block that is executed once. */
static bool is_followed(const struct finder *f, sw_reg reg)
{
	if (f->met[reg] & EARLY)
		return false;
	if (f->defs[reg] == 1)
		return true;
	const struct sw_flow *flow = &f->ssa->flow;
	uint32_t block = f->block[reg];
	return block != MANY && block != NONE && !flow->irregular && flow->block.at[block].loop == SW_NO_LOOP;
}

/* A byte of a local slot as one number; SW_NO_PLACE where the offset is out of range. */
static uint64_t place_of(uint32_t slot, int64_t offset)
{
	return offset < 0 || offset > INT32_MAX ? SW_NO_PLACE : (uint64_t)slot << 32 | (uint64_t)offset;
}

/* The byte of a local slot whose address the operand holds; SW_NO_PLACE: not known. */
static uint64_t frame_of(const struct finder *f, const struct sw_operand *o)
{
	return o->reg == SW_NO_REG ? SW_NO_PLACE : f->frame[o->reg];
}

/* The byte of a local slot whose address the instruction computes, if that is all it does; else SW_NO_PLACE. */
static uint64_t named_address(const struct finder *f, const struct sw_insn *x)
{
	if (x->dst == SW_NO_REG || x->guard != SW_NO_REG || !is_followed(f, x->dst))
		return SW_NO_PLACE;
	if (x->op == SW_OP_LOCAL_ADDRESS)
		return place_of(sw_body_slot(&f->ssa->body, (uint32_t)x->imm), x->imm2);
	if (!x->n)
		return SW_NO_PLACE;
	uint64_t base = frame_of(f, &x->src[0]);
	if (base == SW_NO_PLACE || (x->op != SW_OP_MOV && x->op != SW_OP_ADD))
		return SW_NO_PLACE;
	if (x->op == SW_OP_MOV)
		return base;
	if (x->n != 2 || x->src[1].reg != SW_NO_REG)
		return SW_NO_PLACE;
	return place_of((uint32_t)(base >> 32), (int64_t)((base & UINT32_MAX) + (uint64_t)x->src[1].imm));
}

/* Notes that operands from number `from` on may hold addresses of local slots that are no longer followed. */
static void note_escapes(struct finder *f, const struct sw_insn *x, uint32_t from)
{
	for (uint32_t i = from; i < x->n; i++) {
		uint64_t at = frame_of(f, &x->src[i]);
		if (at != SW_NO_PLACE)
			f->escapes[at >> 32] = true;
	}
}

/* Is it a load or store, of a size that registers have, that may go to local memory? */
static bool is_plain(const struct sw_insn *x)
{
	return (x->op == SW_OP_LOAD || x->op == SW_OP_STORE) && (x->space == SW_LOCAL || x->space == SW_GENERIC) &&
	       (x->bytes == 1 || x->bytes == 2 || x->bytes == 4 || x->bytes == 8) && x->count;
}

/* Notes an access to a known byte of a local slot; any other use of the slot's address lets it escape. */
static void look_at_uses(struct finder *f, struct sw_stack_frames *frames, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	if (f->frame_of_result != SW_NO_PLACE)
		return;
	uint64_t at = x->n && is_plain(x) ? frame_of(f, &x->src[0]) : SW_NO_PLACE;
	if (at != SW_NO_PLACE)
		at = place_of((uint32_t)(at >> 32), (int64_t)((at & UINT32_MAX) + (uint64_t)x->imm));
	if (at == SW_NO_PLACE) {
		note_escapes(f, x, 0);
		return;
	}
	frames->at[insn] = at;
	note_escapes(f, x, 1);
	for (uint32_t k = 0; k < x->count; k++)
		*sw_vec_push(&f->element) = (struct element){at + (uint64_t)k * x->bytes, x->bytes};
}

/* Marks a local variable as escaped where this instruction puts its address into a register that is written elsewhere
   too: accesses through that are not followed. */
static void look_at_addresses(struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	if (x->op == SW_OP_LOCAL_ADDRESS && f->frame_of_result == SW_NO_PLACE)
		f->escapes[sw_body_slot(&f->ssa->body, (uint32_t)x->imm)] = true;
}

/* qsort(): elements by place, then by size. */
static int by_place(const void *a, const void *b)
{
	const struct element *x = a, *y = b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* From i on: how many accesses overlap each other, directly or by others between them; *alike: all are of the same
   element. */
static size_t overlapping_parts(const struct finder *f, size_t i, bool *alike)
{
	const struct element *e = f->element.at;
	uint64_t end = e[i].place + e[i].bytes;
	size_t n = 1;
	for (*alike = true; i + n < f->element.n && e[i + n].place < end; n++) {
		*alike &= e[i + n].place == e[i].place && e[i + n].bytes == e[i].bytes;
		end = e[i + n].place + e[i + n].bytes > end ? e[i + n].place + e[i + n].bytes : end;
	}
	return n;
}

/* Leaves the elements of an access in memory if one of them is; true: it did. */
static bool leave_together(struct finder *f, struct sw_stack_frames *frames, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	uint32_t found = 0;
	for (uint32_t k = 0; frames->at[insn] != SW_NO_PLACE && k < x->count; k++)
		found += sw_map_find(&frames->element, frames->at[insn] + (uint64_t)k * x->bytes) != NULL;
	for (uint32_t k = 0; found && found < x->count && k < x->count; k++)
		sw_map_delete(&frames->element, frames->at[insn] + (uint64_t)k * x->bytes);
	return found && found < x->count;
}

/* Numbers the elements of local variables that are followed like registers.  Elements that overlap partly are left
   in memory.  Machine code has all variables in one slot. */
static void number_elements(struct finder *f, struct sw_stack_frames *frames)
{
	const struct element *e = f->element.at;
	bool alike, changed = false;
	if (f->element.n)
		qsort(f->element.at, f->element.n, sizeof *e, by_place);
	for (size_t i = 0; i < f->element.n;) {
		size_t n = overlapping_parts(f, i, &alike);
		if (alike && !f->escapes[e[i].place >> 32])
			*sw_map_put(&frames->element, e[i].place) = 1 + frames->vars++;
		changed |= !alike;
		i += n;
	}
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < f->ssa->body.insn.n; i++)
			changed |= leave_together(f, frames, i);
	}
}

/* The number of registers that an instruction writes. */
static uint32_t results_of(const struct sw_insn *x)
{
	if (x->dst == SW_NO_REG)
		return 0;
	return x->op == SW_OP_LOAD ? x->count : 1;
}

/* Notes how often, and in which blocks, registers are written. */
static void count_defs(struct finder *f, uint32_t block, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	for (uint32_t k = 0; k < results_of(x); k++) {
		sw_reg reg = x->dst + k;
		f->defs[reg]++;
		f->block[reg] = f->block[reg] == NONE || f->block[reg] == block ? block : MANY;
	}
}

/* Notes registers that are read above where they are written. */
static void note_reads(struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	for (uint32_t i = 0; i < x->n; i++)
		if (x->src[i].reg != SW_NO_REG && !(f->met[x->src[i].reg] & WRITTEN))
			f->met[x->src[i].reg] |= EARLY;
}

/* Notes whether the instruction's results are addresses of local slots.  Blocks come in reverse postorder, so what a
   register holds is known where it is used, or it is never followed. */
static void step_frame(struct finder *f, uint32_t insn)
{
	const struct sw_insn *x = &f->ssa->body.insn.at[insn];
	for (uint32_t k = 0; k < results_of(x); k++) {
		f->frame[x->dst + k] = k ? SW_NO_PLACE : f->frame_of_result;
		f->met[x->dst + k] |= WRITTEN;
	}
}

#define FOR_EACH_INSN(ssa, b, i)                                                                                       \
	for (uint32_t b = 0; b < (ssa)->flow.block.n; b++)                                                             \
		for (uint32_t i = (ssa)->flow.block.at[b].first; i < (ssa)->flow.block.at[b].end; i++)

/* Is there any access that may go to local memory? */
static bool has_plain(const struct sw_body *body)
{
	for (size_t i = 0; i < body->insn.n; i++)
		if (is_plain(&body->insn.at[i]))
			return true;
	return false;
}

void sw_frames_find(const struct sw_ssa *ssa, struct sw_stack_frames *frames)
{
	struct finder f = {.ssa = ssa};
	uint32_t regs = ssa->body.regs;
	*frames = (struct sw_stack_frames){.regs = regs, .vars = regs};
	frames->at = sw_alloc((ssa->body.insn.n + 1) * sizeof *frames->at);
	memset(frames->at, 0xff, (ssa->body.insn.n + 1) * sizeof *frames->at);
	if (!has_plain(&ssa->body)) /* most kernels keep nothing on a stack */
		return;
	f.defs = sw_calloc((size_t)regs + 1, sizeof *f.defs);
	f.met = sw_calloc((size_t)regs + 1, sizeof *f.met);
	f.block = sw_alloc(((size_t)regs + 1) * sizeof *f.block);
	memset(f.block, 0xff, ((size_t)regs + 1) * sizeof *f.block);
	f.frame = sw_alloc(((size_t)regs + 1) * sizeof *f.frame);
	memset(f.frame, 0xff, ((size_t)regs + 1) * sizeof *f.frame);
	f.escapes = sw_calloc(ssa->body.slot.n + 1, sizeof *f.escapes);
	for (uint32_t s = 0; s < ssa->body.slot.n; s++)
		f.escapes[s] = sw_body_slot_passed(&ssa->body, s);
	FOR_EACH_INSN(ssa, b, i)
	count_defs(&f, b, i);
	FOR_EACH_INSN(ssa, b, i)
	{
		note_reads(&f, i);
		f.frame_of_result = named_address(&f, &ssa->body.insn.at[i]);
		look_at_addresses(&f, i);
		look_at_uses(&f, frames, i);
		step_frame(&f, i);
	}
	number_elements(&f, frames);
	free(f.defs);
	free(f.block);
	free(f.met);
	free(f.frame);
	free(f.escapes);
	free(f.element.at);
}

uint32_t sw_frames_var(const struct sw_stack_frames *frames, const struct sw_body *body, uint32_t insn, uint32_t k)
{
	uint64_t at = frames->at[insn];
	if (at == SW_NO_PLACE)
		return SW_NO_REG;
	uint64_t var = sw_map_get(&frames->element, at + (uint64_t)k * body->insn.at[insn].bytes);
	return var ? (uint32_t)var - 1 : SW_NO_REG;
}

void sw_frames_free(struct sw_stack_frames *frames)
{
	sw_map_free(&frames->element);
	free(frames->at);
	*frames = (struct sw_stack_frames){0};
}
