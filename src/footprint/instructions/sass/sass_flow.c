/* SPDX-License-Identifier: Apache-2.0 */
/* Where control goes: jumps, calls, returns. */
#include "footprint/instructions/sass/sass_lower.h"

void sw_sass_wild(struct sw_sass *s, const char *why)
{
	if (!s->program->wild)
		s->program->wild = why;
}

/* The instruction that a jump leads to; UINT64_MAX: out of the code.  Since sm_90 the lowest 8 bits of the distance
   stand elsewhere; it counts 4 bytes, from the next instruction on. */
static uint64_t branch_target(const struct sw_sass *s)
{
	int64_t distance = sw_sass_signed(s, 34, 48);
	if (s->cubin->arch >= 90)
		distance = (int64_t)((uint64_t)distance << 8 | sw_sass_bits(s, 16, 8));
	int64_t to = (int64_t)(s->at + 1) * 16 + (int64_t)((uint64_t)distance * 4);
	return to < 0 || to % 16 || (uint64_t)to / 16 >= s->instructions ? UINT64_MAX : (uint64_t)to / 16;
}

/* Emits a jump to an instruction of the section, whose place in the program is filled in later. */
static struct sw_insn *emit_jump(struct sw_sass *s, uint64_t target)
{
	struct sw_insn *i = sw_sass_emit(s, SW_OP_JUMP, 32);
	*sw_vec_push(&s->fix) = (struct sw_sass_fix){(uint32_t)s->insn.n - 1, false, target};
	return i;
}

/* Emits a jump to an unknown place: all that was read counts, and more may come. */
static void jump_anywhere(struct sw_sass *s, const char *why)
{
	sw_sass_wild(s, why);
	sw_sass_emit(s, SW_OP_SWITCH, 32)->target = (uint32_t)s->target.n;
}

/* BRA.  Form 947: 87-90 a predicate besides the guard; 84-86, 91: conditions on masks of threads (.DIV, .U.ANY).
   547: 24-27 a uniform predicate. */
void sw_sass_lower_bra(struct sw_sass *s)
{
	bool never, unknown = sw_sass_bits(s, 9, 3) != 4 && sw_sass_bits(s, 9, 3) != 2;
	struct sw_operand condition = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT);
	if (sw_sass_bits(s, 9, 3) == 2) {
		uint32_t up = (uint32_t)sw_sass_bits(s, 24, 3);
		condition = up == 7 ? sw_operand_imm(!sw_sass_bit(s, 27)) : sw_operand_reg(SW_SASS_UP + up);
		if (up != 7 && sw_sass_bit(s, 27))
			condition = sw_sass_unary(s, SW_OP_NOT, 1, condition);
	} else if (sw_sass_bit(s, 91) || sw_sass_bits(s, 84, 2)) {
		unknown = true;
	}
	if (unknown) {
		s->guard = SW_NO_REG;
		s->guard_not = false;
		condition = sw_sass_anything(s, 1);
	}
	sw_reg guard = sw_sass_condition(s, condition, &never);
	uint64_t target = branch_target(s);
	if (never)
		return;
	if (target == UINT64_MAX) {
		sw_sass_wild(s, "a branch out of the code");
		return;
	}
	struct sw_insn *i = emit_jump(s, target);
	i->guard = guard;
	i->flags = guard == s->guard && s->guard_not ? SW_GUARD_NOT : 0;
}

/* WARPSYNC.COLLECTIVE: those threads that are not in the mask continue at the target. */
void sw_sass_lower_warpsync(struct sw_sass *s)
{
	uint64_t target = branch_target(s);
	struct sw_operand either = sw_sass_anything(s, 1);
	if (target != UINT64_MAX)
		emit_jump(s, target)->guard = either.reg;
}

/* BRX, BRXU: a jump to one of the targets that the cubin lists for it. */
void sw_sass_lower_brx(struct sw_sass *s)
{
	uint32_t n, first = (uint32_t)s->target.n;
	struct sw_bytes list = sw_sass_cubin_targets(s->cubin, s->at * 16, &n);
	if (!n) {
		jump_anywhere(s, "an indirect jump whose targets are not known");
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t to = sw_u32(list, 4ull * k);
		if (to % 16 || to / 16 >= s->instructions) {
			sw_sass_wild(s, "a branch out of the code");
			continue;
		}
		*sw_vec_push(&s->fix) = (struct sw_sass_fix){(uint32_t)s->target.n, true, to / 16};
		*sw_vec_push(&s->target) = 0;
	}
	sw_reg index = sw_sass_reg(s, 24, false);
	struct sw_insn *i = sw_sass_emit(s, SW_OP_SWITCH, 32);
	if (!sw_sass_uniform(s)) {
		i->src[0] = sw_sass_or_zero(index);
		i->n = 1;
	}
	i->target = first;
	i->targets = (uint32_t)s->target.n - first;
	i->guard = s->guard;
	i->flags = s->guard_not ? SW_GUARD_NOT : 0;
}

/* JMP, JMX, JMXU: the addresses are not known before the code is loaded. */
void sw_sass_lower_jmp(struct sw_sass *s)
{
	jump_anywhere(s, "a jump to an absolute address");
}

/* EXIT, under the guard and a predicate. */
void sw_sass_lower_exit(struct sw_sass *s)
{
	bool never;
	struct sw_operand condition = sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT);
	sw_reg guard = sw_sass_condition(s, condition, &never);
	if (never)
		return;
	struct sw_insn *i = sw_sass_emit(s, SW_OP_EXIT, 32);
	i->guard = guard;
	i->flags = guard == s->guard && s->guard_not ? SW_GUARD_NOT : 0;
}

/* Asks for the subroutine at `target` to be read once more for this call.  caller: the jump that leads there, or
   (listed) the entry of the list of targets. */
static void enter_subroutine(struct sw_sass *s, uint64_t target, uint32_t caller, bool listed)
{
	const struct sw_sass_instance *here = &s->instance.at[s->current];
	if (here->depth >= SW_SASS_MAX_DEPTH) { /* continues after the call */
		sw_sass_wild(s, "a recursive function");
		*(listed ? &s->target.at[caller] : &s->insn.at[caller].target) = (uint32_t)s->insn.n;
		return;
	}
	struct sw_sass_instance new = {.entry = target,
				       .parent = s->current,
				       .caller = caller,
				       .listed = listed,
				       .back = s->at + 1,
				       .depth = here->depth + 1};
	*sw_vec_push(&s->instance) = new;
}

/* Emits an instruction of control under the guard; if it is not executed, control continues after it. */
static struct sw_insn *emit_skippable(struct sw_sass *s, enum sw_op op)
{
	struct sw_insn *i = sw_sass_emit(s, op, 32);
	i->guard = s->guard;
	i->flags = s->guard_not ? SW_GUARD_NOT : 0;
	return i;
}

/* CALL.REL: a subroutine of this section is read for this call.  A relocation means a function in another section. */
void sw_sass_lower_call(struct sw_sass *s)
{
	uint64_t target = branch_target(s);
	if (target == UINT64_MAX || s->relocation) {
		s->relocation = NULL;
		sw_sass_wild(s, "a call of a function in another section");
		return;
	}
	emit_skippable(s, SW_OP_JUMP);
	enter_subroutine(s, target, (uint32_t)s->insn.n - 1, false);
}

/* CALL through a register: any function of this section but the kernel itself. */
void sw_sass_lower_call_register(struct sw_sass *s)
{
	uint32_t first = (uint32_t)s->target.n;
	sw_sass_cubin_symbols(s->cubin);
	for (size_t k = 0; k < s->cubin->function.n && s->target.n - first < 256; k++) {
		const struct sw_sass_function *f = &s->cubin->function.at[k];
		if (f->section != s->cubin->code || !f->at || f->at % 16 || f->at / 16 >= s->instructions)
			continue;
		*sw_vec_push(&s->target) = 0;
		enter_subroutine(s, f->at / 16, (uint32_t)s->target.n - 1, true);
	}
	struct sw_insn *i = emit_skippable(s, SW_OP_SWITCH);
	i->target = first;
	i->targets = (uint32_t)s->target.n - first;
	if (!i->targets)
		sw_sass_wild(s, "an indirect call");
}

/* RET: back to the instruction after the call; of the kernel itself, its end. */
void sw_sass_lower_ret(struct sw_sass *s)
{
	const struct sw_sass_instance *here = &s->instance.at[s->current];
	struct sw_insn *i = emit_skippable(s, here->parent == UINT32_MAX ? SW_OP_EXIT : SW_OP_JUMP);
	i->target = here->back_at;
}

/* CALL.ABS: functions of the driver's.  Arguments are from R4 on, results in R4 and R5 (seen with nvcc 13.0). */
void sw_sass_lower_call_absolute(struct sw_sass *s)
{
	sw_reg ra = sw_sass_reg(s, 24, false);
	const struct sw_sass_known *k = ra != SW_NO_REG ? &s->known[ra] : NULL;
	const char *name = NULL;
	uint32_t section;
	uint64_t value, bytes;
	if (s->relocation && s->relocation->kind == SW_RELOCATION_CALL)
		name = sw_sass_cubin_symbol(s->cubin, s->relocation->symbol, &section, &value, &bytes);
	else if (sw_sass_bits(s, 9, 3) == 1 && k && k->stamp == s->stamp && k->kind == SW_KNOWN_SYMBOL)
		name = sw_sass_cubin_symbol(s->cubin, (uint64_t)k->value, &section, &value, &bytes);
	if (name && section) /* in another section of the cubin */
		name = NULL;
	s->relocation = NULL;
	if (name)
		name = sw_arena_strndup(&s->program->arena, name, strlen(name));
	else
		sw_sass_wild(s, "a call of a function that is not known");
	*sw_vec_push(&s->call) = (struct sw_program_call){.function = UINT32_MAX, .name = name};
	struct sw_operand src[SW_MAX_SRC] = {sw_sass_pair(s, ra)};
	unsigned n = 1;
	for (sw_reg r = 4; r < 16; r += 2)
		src[n++] = sw_sass_pair(s, r);
	struct sw_insn *i = emit_skippable(s, SW_OP_CALL);
	i->target = (uint32_t)s->call.n - 1;
	i->n = (uint8_t)n;
	memcpy(i->src, src, sizeof src);
	struct sw_operand result = sw_sass_leaf(s, SW_OP_ENVIRONMENT, 64, 0, 0);
	sw_sass_halves(s, 4, result);
}

/* ---- what is reached -------------------------------------------------------------------------------------------- */

/* Marks an instruction; the first time it is put on the list, whose part from the cursor on is still to be followed. */
static void mark_reached(struct sw_sass *s, uint64_t at, uint8_t how)
{
	if (at >= s->instructions)
		return;
	if (!(s->seen[at] & SW_SASS_REACHED)) {
		s->seen[at] |= SW_SASS_REACHED;
		*sw_vec_push(&s->reached) = at;
	}
	s->seen[at] |= how;
}

/* Marks where the current instruction may lead, but for the next one; true: also there. */
static bool follow_targets(struct sw_sass *s)
{
	unsigned code = (unsigned)(s->low & 0x1ff);
	bool always = s->guard == SW_NO_REG && !s->never, condition = sw_sass_bits(s, 87, 4) != 7;
	switch (code) {
	case 0x147: /* BRA */
		mark_reached(s, branch_target(s), SW_SASS_LEADER);
		return !always || condition || sw_sass_bit(s, 91) || sw_sass_bits(s, 84, 2);
	case 0x148: /* WARPSYNC */
		mark_reached(s, branch_target(s), SW_SASS_LEADER);
		return true;
	case 0x149: /* BRX, BRXU */
	case 0x158: {
		uint32_t targets;
		struct sw_bytes list = sw_sass_cubin_targets(s->cubin, s->at * 16, &targets);
		for (uint32_t k = 0; k < targets; k++)
			mark_reached(s, sw_u32(list, 4ull * k) / 16, SW_SASS_LEADER);
		return !always;
	}
	case 0x14d: /* EXIT, KILL */
	case 0x15b:
		return !always || condition;
	case 0x150: /* RET, JMP, JMX */
	case 0x14a:
	case 0x14b:
	case 0x159:
		return !always;
	default:
		return true;
	}
}

void sw_sass_reach(struct sw_sass *s, uint64_t entry)
{
	s->reached.n = 0;
	mark_reached(s, entry, SW_SASS_LEADER);
	for (size_t i = 0; i < s->reached.n; i++) {
		uint64_t at = s->reached.at[i];
		if (!sw_sass_may_control(s, at)) {
			mark_reached(s, at + 1, 0);
			continue;
		}
		sw_sass_fetch(s, at);
		bool control = s->op && s->op->flags & SW_CONTROL;
		if (!control || follow_targets(s))
			mark_reached(s, s->at + 1, control ? SW_SASS_LEADER : 0);
	}
}
