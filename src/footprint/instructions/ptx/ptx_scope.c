/* SPDX-License-Identifier: Apache-2.0 */
/* Names within a function: blocks redeclare them, labels may be used before they are declared. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

/* Deeper than any compiler nests; each level looks again at the jumps that leave it. */
#define MOST_SCOPES 64

/* ---- special registers ---- */

/* A special register: how its value is said in the neutral form. */
struct special {
	const char *name;
	uint8_t bits, op;
	int64_t what, most;
};
static const struct special specials[] = {
#define SW_PTX_SPECIAL_REGISTER(name, bits, op, what, most) {name, bits, SW_OP_##op, what, most},
#include "footprint/instructions/ptx/ptx_special.def"
};

/* In addition to indices of the table. */
enum { COUNTER = SW_SPECIALS + 1000, ENVIRONMENT };
static_assert(sizeof specials / sizeof *specials < COUNTER, "indices of the table lie below");
/* The axes of %ctaid and %nctaid are numbers modulo 3. */
static_assert(SW_CTAID_X % 3 == 0 && SW_NCTAID_X % 3 == 0, "as enum sw_special has them");

/* Is the name `with` and then a digit, as "%envreg3"? */
static bool is_numbered(const char *name, size_t n, const char *with)
{
	return n > strlen(with) && !memcmp(name, with, strlen(with)) && name[strlen(with)] >= '0' &&
	       name[strlen(with)] <= '9';
}

/* The special register of this name; kind SW_PTX_NOTHING: there is none. */
static struct sw_ptx_thing find_special(const char *name, size_t n)
{
	if (is_numbered(name, n, "%envreg"))
		return (struct sw_ptx_thing){.kind = SW_PTX_SPECIAL, .bits = 32, .a = ENVIRONMENT};
	if (is_numbered(name, n, "%pm")) /* %pm0 to %pm7, %pm0_64 to %pm7_64 */
		return (struct sw_ptx_thing){.kind = SW_PTX_SPECIAL, .bits = n > 4 ? 64 : 32, .a = COUNTER};
	for (uint32_t i = 0; i < sizeof specials / sizeof *specials; i++)
		if (strlen(specials[i].name) == n && !memcmp(specials[i].name, name, n))
			return (struct sw_ptx_thing){.kind = SW_PTX_SPECIAL, .bits = specials[i].bits, .a = i};
	return (struct sw_ptx_thing){0};
}

struct sw_ptx_insn sw_ptx_special(struct sw_ptx_reader *r, const struct sw_ptx_thing *thing)
{
	if (thing->a == ENVIRONMENT)
		return (struct sw_ptx_insn){.op = SW_OP_ENVIRONMENT, .width = 32};
	if (thing->a == COUNTER)
		return sw_ptx_any(thing->bits);
	const struct special *s = &specials[thing->a];
	struct sw_ptx_insn plain = {.op = s->op, .width = s->bits, .imm = s->what};
	if (s->op == SW_OP_SPECIAL || s->op == SW_OP_MIX)
		return plain;
	if (s->op == SW_OP_RANGE && s->what == s->most)
		return (struct sw_ptx_insn){.op = SW_OP_CONST, .width = s->bits, .imm = s->what};
	if (s->op == SW_OP_RANGE)
		return sw_ptx_between(s->bits, s->what, s->most);
	const uint32_t *cluster = r->module->functions.at[r->order.at[0]].cluster;
	uint32_t blocks = cluster[s->what % 3];
	if (!blocks)
		return sw_ptx_between(s->bits, 0, s->most);
	if (s->op == SW_OP_CONST) {
		plain.imm = blocks;
		return plain;
	}
	plain.op = SW_OP_SPECIAL;
	return sw_ptx_op2((enum sw_op)s->op, s->bits, sw_ptx_temp(r, plain), sw_operand_imm(blocks));
}

/* ---- scopes ---- */

void sw_ptx_scope_open(struct sw_ptx_reader *r)
{
	if (r->scopes.n == MOST_SCOPES)
		sw_ptx_fail(r, "blocks nested deeper than %d", MOST_SCOPES);
	else
		*sw_vec_push(&r->scopes) = (struct sw_ptx_scope){r->undo.n, r->pending.n};
}

/* The place for what the name stands for: a single thing, or a family such as "%r<10>". */
static struct sw_ptx_thing *binding_of(struct sw_ptx_reader *r, uint32_t name, bool family)
{
	return family ? &r->bindings.at[name].family : &r->bindings.at[name].single;
}

/* The number of a name in this function. */
static uint32_t add_name(struct sw_ptx_reader *r, const char *name, size_t n)
{
	uint32_t number = sw_ptx_names_add(&r->names, name, n);
	while (r->bindings.n <= number)
		*sw_vec_push(&r->bindings) = (struct sw_ptx_binding){0};
	return number;
}

void sw_ptx_bind(struct sw_ptx_reader *r, const char *name, size_t n, bool family, struct sw_ptx_thing thing)
{
	uint32_t number = add_name(r, name, n);
	struct sw_ptx_thing *at = binding_of(r, number, family);
	*sw_vec_push(&r->undo) = (struct sw_ptx_undo){number, family, *at};
	thing.depth = (uint32_t)r->scopes.n;
	*at = thing;
}

/* Fills in the target of a jump or list that waited for this label; false: the label is not in this scope. */
static bool settle_label(struct sw_ptx_reader *r, const struct sw_ptx_pending *p)
{
	const struct sw_ptx_thing *label = &r->bindings.at[p->name].single;
	if (label->depth != r->scopes.n || label->kind != (p->in_switch ? SW_PTX_TARGETS : SW_PTX_LABEL))
		return false;
	if (p->is_target) {
		r->targets.at[p->at] = label->a;
	} else {
		r->insn.at[p->at].target = label->a;
		r->insn.at[p->at].targets = label->many;
	}
	return true;
}

void sw_ptx_scope_close(struct sw_ptx_reader *r)
{
	struct sw_ptx_scope scope = r->scopes.at[r->scopes.n - 1];
	size_t kept = scope.pending;
	for (size_t i = scope.pending; i < r->pending.n && !r->failed; i++)
		if (!settle_label(r, &r->pending.at[i]))
			r->pending.at[kept++] = r->pending.at[i];
	r->pending.n = kept;
	while (r->undo.n > scope.undo) {
		const struct sw_ptx_undo *u = &r->undo.at[--r->undo.n];
		*binding_of(r, u->name, u->family) = u->old;
	}
	r->scopes.n--;
	if (!r->scopes.n && kept && !r->failed) {
		const struct sw_ptx_name *name = &r->names.name.at[r->pending.at[0].name];
		r->line = r->pending.at[0].line;
		sw_ptx_fail(r, "a jump to \"%.*s\", which is nowhere", (int)(name->n > 80 ? 80 : name->n), name->at);
	}
}

void sw_ptx_wait_for(struct sw_ptx_reader *r, const char *name, size_t n, struct sw_ptx_pending pending)
{
	pending.name = add_name(r, name, n);
	pending.line = r->line;
	*sw_vec_push(&r->pending) = pending;
}

/* ---- lookup ---- */

/* The register "%r12" of a declared family "%r<20>"; kind SW_PTX_NOTHING: there is none. */
static struct sw_ptx_thing find_family(const struct sw_ptx_reader *r, const char *name, size_t n)
{
	uint64_t number = 0, scale = 1;
	size_t digits = 0;
	while (digits < n - 1 && digits < 9 && name[n - 1 - digits] >= '0' && name[n - 1 - digits] <= '9') {
		number += scale * (uint64_t)(name[n - 1 - digits] - '0');
		scale *= 10;
		digits++;
		/* "%r10" is 10 of "%r", but may as well be 0 of "%r1": the longer number that has a family wins. */
	}
	for (; digits; digits--) {
		uint32_t prefix = sw_ptx_names_find(&r->names, name, n - digits);
		if (prefix < r->bindings.n) {
			struct sw_ptx_thing f = r->bindings.at[prefix].family;
			/* "%r01" is none of "%r<10>". */
			bool padded = digits > 1 && name[n - digits] == '0';
			if (f.kind == SW_PTX_REGISTERS && number < f.many && !padded) {
				f.a += (uint32_t)number * f.vector * (f.bits == 128 ? 2 : 1);
				f.many = 0;
				return f;
			}
		}
		scale /= 10;
		number %= scale;
	}
	return (struct sw_ptx_thing){0};
}

/* The function, module variable or special register that a name stands for which the function does not declare. */
static struct sw_ptx_thing find_outside(struct sw_ptx_reader *r, const char *name, size_t n)
{
	struct sw_ptx_named named = sw_ptx_module_find(r->module, name, n);
	if (named.meaning == SW_PTX_IS_FUNCTION) {
		const struct sw_ptx_function *f = &r->module->functions.at[named.index];
		return (struct sw_ptx_thing){.kind = SW_PTX_CODE,
					     .a = f->body ? sw_ptx_function_index(r, named.index) : UINT32_MAX,
					     .name = f->name};
	}
	if (named.meaning != SW_PTX_IS_VARIABLE)
		return find_special(name, n);
	const struct sw_ptx_variable *v = &r->module->variables.at[named.index];
	if (v->state == SW_PTX_SHARED)
		return (struct sw_ptx_thing){.kind = SW_PTX_IN_SHARED};
	if (v->state == SW_PTX_LOCAL) {
		uint64_t *slot = sw_map_put(&r->slots, named.index);
		if (!*slot)
			*slot = sw_ptx_slot(r) + 1;
		return (struct sw_ptx_thing){.kind = SW_PTX_SLOT, .a = (uint32_t)*slot - 1};
	}
	return (struct sw_ptx_thing){.kind = SW_PTX_SYMBOL, .a = sw_ptx_symbol_index(r, named.index)};
}

/* The thing of this function that a name stands for, in the innermost scope. Kind 0: the function declares no such
   name. */
static struct sw_ptx_thing find_here(struct sw_ptx_reader *r, const char *name, size_t n)
{
	struct sw_ptx_thing single = {0}, family = find_family(r, name, n);
	uint32_t number = sw_ptx_names_find(&r->names, name, n);
	if (number < r->bindings.n)
		single = r->bindings.at[number].single;
	if (!single.kind && !family.kind)
		return single;
	return !family.kind || (single.kind && single.depth >= family.depth) ? single : family;
}

/* The thing that "%v.x" stands for, an element of a vector register; kind 0: it is none. */
static struct sw_ptx_thing find_element(struct sw_ptx_reader *r, const char *name, size_t n)
{
	static const char elements[] = "xyzwrgba";
	const char *at = n > 2 && name[n - 2] == '.' ? memchr(elements, name[n - 1], 8) : NULL;
	struct sw_ptx_thing vector = {0};
	/* "%r1.b3", "%r1.h0" in video instructions, whose results are not followed */
	if (n > 3 && name[n - 3] == '.' && (name[n - 2] == 'b' || name[n - 2] == 'h'))
		return find_here(r, name, n - 3);
	if (at)
		vector = find_here(r, name, n - 2);
	unsigned k = at ? (unsigned)(at - elements) & 3 : 0;
	if (vector.kind != SW_PTX_REGISTERS || k >= vector.vector)
		return (struct sw_ptx_thing){0};
	vector.a += k * (vector.bits == 128 ? 2 : 1);
	vector.vector = 1;
	return vector;
}

struct sw_ptx_thing sw_ptx_lookup(struct sw_ptx_reader *r, const char *name, size_t n)
{
	struct sw_ptx_thing thing = find_here(r, name, n);
	if (!thing.kind)
		thing = find_element(r, name, n);
	return thing.kind ? thing : find_outside(r, name, n);
}

/* ---- what belongs to the program ---- */

uint32_t sw_ptx_slot(struct sw_ptx_reader *r)
{
	return r->program->slots++;
}

uint32_t sw_ptx_function_index(struct sw_ptx_reader *r, uint32_t function)
{
	uint64_t *at = sw_map_put(&r->functions, function);
	if (!*at) {
		*sw_vec_push(&r->order) = function;
		*at = r->order.n;
	}
	return (uint32_t)*at - 1;
}

uint32_t sw_ptx_symbol_index(struct sw_ptx_reader *r, uint32_t variable)
{
	uint64_t *at = sw_map_put(&r->symbols, variable);
	if (!*at) {
		*sw_vec_push(&r->variables) = variable;
		*at = r->variables.n;
	}
	return (uint32_t)*at - 1;
}

/* ---- declarations ---- */

/* Makes the registers of a .reg declaration. */
static struct sw_ptx_thing declare_registers(struct sw_ptx_reader *r, const struct sw_ptx_declaration *d)
{
	uint64_t count = d->many ? d->many : 1;
	uint64_t each = d->vector * (d->type.bits == 128 ? 2u : 1u);
	if (count > SW_CODE_MAX_REGS) {
		sw_ptx_fail(r, "more registers than a kernel can have");
		count = 1;
	}
	if (d->type.bits > 128)
		sw_ptx_fail(r, "a register of %u bits", d->type.bits);
	return (struct sw_ptx_thing){.kind = SW_PTX_REGISTERS,
				     .vector = (uint8_t)d->vector,
				     .bits = d->type.bits,
				     .a = sw_ptx_new(r, (uint32_t)(count * each)),
				     .many = (uint32_t)d->many};
}

void sw_ptx_declare(struct sw_ptx_reader *r)
{
	struct sw_ptx_declaration d;
	const char *wrong = sw_ptx_declaration_begin(&r->l, &d);
	while (!wrong && !r->failed && !(wrong = sw_ptx_declaration_name(&r->l, &d))) {
		struct sw_ptx_thing thing = {.kind = SW_PTX_IN_SHARED};
		if (d.state == SW_PTX_REG)
			thing = declare_registers(r, &d);
		else if (d.state == SW_PTX_LOCAL || d.state == SW_PTX_PARAM)
			thing = (struct sw_ptx_thing){.kind = SW_PTX_SLOT, .a = sw_ptx_slot(r)};
		else if (d.state != SW_PTX_SHARED)
			wrong = "a variable of the module within a function";
		sw_ptx_bind(r, d.name, d.n, d.many != 0, thing);
		while (!wrong && !sw_ptx_is(&r->l, ",") && !sw_ptx_is(&r->l, ";"))
			if (!sw_ptx_next(&r->l))
				wrong = "the text ends within a declaration";
		if (wrong || sw_ptx_is(&r->l, ";"))
			break;
		if (!sw_ptx_next(&r->l))
			wrong = "the text ends within a declaration";
	}
	if (wrong)
		sw_ptx_fail(r, "%s", wrong);
}

/* Gives each formal parameter or result a slot, and declares its name.  Those in registers (PTX ISA, "Function
   Declarations and Definitions") are passed through slots, as all are: the body copies them at its beginning,
   ptx_control.c at its end. */
static const uint32_t *declare_list(struct sw_ptx_reader *r, uint32_t first, uint32_t count, bool results)
{
	uint32_t *slots = sw_arena_alloc(&r->program->arena, count * sizeof *slots);
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		const struct sw_ptx_declaration *d = &r->module->formals.at[first + i].is;
		slots[i] = sw_ptx_slot(r);
		struct sw_ptx_thing thing = {.kind = SW_PTX_SLOT, .a = slots[i]};
		if (d->state == SW_PTX_REG) {
			thing = declare_registers(r, d);
			if (!results)
				sw_ptx_from_slot(r, slots[i], &thing);
		}
		sw_ptx_bind(r, d->name, d->n, false, thing);
	}
	return slots;
}

void sw_ptx_declare_formals(struct sw_ptx_reader *r, struct sw_program_function *f)
{
	const struct sw_ptx_function *is = r->function;
	if (!is->entry) {
		f->param_slots = is->params;
		f->result_slots = is->results;
		f->param_slot = declare_list(r, is->param, is->params, false);
		f->result_slot = r->result_slot = declare_list(r, is->result, is->results, true);
		return;
	}
	for (uint32_t i = 0; i < is->params; i++) {
		const struct sw_ptx_formal *formal = &r->module->formals.at[is->param + i];
		sw_ptx_bind(r, formal->is.name, formal->is.n, false,
			    (struct sw_ptx_thing){.kind = SW_PTX_BLOCK, .a = formal->offset});
	}
}
