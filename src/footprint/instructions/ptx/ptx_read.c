/* SPDX-License-Identifier: Apache-2.0 */
/* From a module's text to one kernel's program: statements, functions, symbols. */
#include <stdlib.h>
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

/* Bounds on what one kernel reaches through calls and tables of functions. */
#define MOST_FUNCTIONS 4096
#define MOST_SYMBOLS   (1u << 16)

/* Counts lines up to the current word. */
static void count_lines(struct sw_ptx_reader *r)
{
	while (r->counted < r->l.word) {
		const char *nl = memchr(r->counted, '\n', (size_t)(r->l.word - r->counted));
		if (!nl) {
			r->counted = r->l.word;
			return;
		}
		r->line++;
		r->counted = nl + 1;
	}
}

/* Goes on to the next word; false: the function ends, or reading failed. */
static bool next_word(struct sw_ptx_reader *r)
{
	return !r->failed && sw_ptx_next(&r->l);
}

/* Skips up to the semicolon. */
static void skip_statement(struct sw_ptx_reader *r)
{
	while (next_word(r) && !sw_ptx_is(&r->l, ";"))
		;
}

/* ---- statements ---- */

/* .branchtargets a, b; after its label. */
static void read_targets(struct sw_ptx_reader *r, struct sw_ptx_lexer label)
{
	struct sw_ptx_thing targets = {.kind = SW_PTX_TARGETS, .a = (uint32_t)r->targets.n};
	while (next_word(r) && !sw_ptx_is(&r->l, ";")) {
		if (sw_ptx_is(&r->l, ","))
			continue;
		sw_ptx_wait_for(r, r->l.word, r->l.n,
				(struct sw_ptx_pending){.is_target = true, .at = (uint32_t)r->targets.n});
		*sw_vec_push(&r->targets) = UINT32_MAX;
	}
	targets.many = (uint32_t)r->targets.n - targets.a;
	sw_ptx_bind(r, label.word, label.n, false, targets);
}

/* .calltargets a, b; after its label: like .branchtargets, but of functions. */
static void read_callees(struct sw_ptx_reader *r, struct sw_ptx_lexer label)
{
	struct sw_ptx_thing callees = {.kind = SW_PTX_CALLEES, .a = (uint32_t)r->callees.n};
	while (next_word(r) && !sw_ptx_is(&r->l, ";"))
		if (!sw_ptx_is(&r->l, ",")) {
			struct sw_ptx_thing code = sw_ptx_lookup(r, r->l.word, r->l.n);
			*sw_vec_push(&r->callees) = code.kind == SW_PTX_CODE ? code.a : UINT32_MAX;
		}
	callees.many = (uint32_t)r->callees.n - callees.a;
	sw_ptx_bind(r, label.word, label.n, false, callees);
}

/* The lexer stands on a label, its colon comes next. */
static void read_label(struct sw_ptx_reader *r)
{
	struct sw_ptx_lexer label = r->l, ahead;
	next_word(r);
	ahead = r->l;
	if (sw_ptx_next(&ahead) && sw_ptx_is(&ahead, ".branchtargets")) {
		r->l = ahead;
		read_targets(r, label);
	} else if (sw_ptx_is(&ahead, ".calltargets")) {
		r->l = ahead;
		read_callees(r, label);
	} else if (sw_ptx_is(&ahead, ".callprototype")) {
		skip_statement(r);
	} else {
		sw_ptx_bind(r, label.word, label.n, false,
			    (struct sw_ptx_thing){.kind = SW_PTX_LABEL, .a = (uint32_t)r->insn.n});
		r->end_is_target = true;
	}
}

/* Is the current word a label, followed by a colon? */
static bool label_here(const struct sw_ptx_reader *r)
{
	struct sw_ptx_lexer ahead = r->l;
	return sw_ptx_next(&ahead) && sw_ptx_is(&ahead, ":") && !(ahead.at < ahead.end && *ahead.at == ':');
}

/* @%p or @!%p: the lexer stands on the @ and is left on the opcode. */
static void read_guard(struct sw_ptx_reader *r)
{
	struct sw_ptx_thing guard = {0};
	if (next_word(r) && sw_ptx_is(&r->l, "!")) {
		r->guard_not = true;
		next_word(r);
	}
	if (!r->failed)
		guard = sw_ptx_lookup(r, r->l.word, r->l.n);
	if (guard.kind != SW_PTX_REGISTERS || guard.bits != 1 || guard.many)
		sw_ptx_fail(r, "a guard that is no predicate");
	r->guard = guard.a;
	if (!next_word(r))
		sw_ptx_fail(r, "the text ends within an instruction");
}

/* Qualifiers may have two colons in them, which are no part of a word elsewhere: ".shared::cluster". */
static void join_colons(struct sw_ptx_lexer *l)
{
	while (l->end - l->at > 2 && l->at[0] == ':' && l->at[1] == ':') {
		struct sw_ptx_lexer rest = *l;
		rest.at += 2;
		if (!sw_ptx_next(&rest) || rest.word != l->at + 2)
			return;
		l->at = rest.at;
		l->n = (size_t)(l->at - l->word);
	}
}

/* Is the node the register that guards the instruction? */
static bool is_guard(const struct sw_ptx_reader *r, const struct sw_ptx_node *node)
{
	return sw_ptx_is_register(node) && node->thing.a == r->guard;
}

/* Copies the guard where the instruction writes it with one result before the other is written: "@%p setp.ne.u32
   %p|%q, ...". */
static void keep_guard(struct sw_ptx_reader *r)
{
	if (r->failed || r->guard == SW_NO_REG || !r->operands)
		return;
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	const struct sw_ptx_node *other = dst->other == SW_PTX_NO_NODE ? NULL : &r->nodes.at[dst->other];
	if (other && (is_guard(r, dst) || is_guard(r, other)))
		r->guard = sw_ptx_temp(r, sw_ptx_op1(SW_OP_MOV, 1, sw_operand_reg(r->guard))).reg;
}

/* Reads one instruction: guard, opcode, operands; its meaning then emits what it does. */
static void read_instruction(struct sw_ptx_reader *r)
{
	r->guard = SW_NO_REG;
	r->guard_not = false;
	r->op = NULL;
	if (sw_ptx_is(&r->l, "@"))
		read_guard(r);
	if (r->failed)
		return;
	join_colons(&r->l);
	const struct sw_ptx_opcode *op = sw_ptx_opcode(r, r->l.word, r->l.n);
	if (!op)
		return;
	r->op = op;
	sw_ptx_operands(r);
	keep_guard(r);
	if (!r->failed)
		op->means(r, op->arg);
	r->op = NULL;
}

/* Reads all statements of a function: declarations, labels, instructions, blocks. */
static void read_statements(struct sw_ptx_reader *r)
{
	while (next_word(r)) {
		count_lines(r);
		char c = *r->l.word;
		if (c == '{')
			sw_ptx_scope_open(r);
		else if (c == '}' && r->scopes.n > 1)
			sw_ptx_scope_close(r);
		else if (c == ';')
			continue;
		else if (c == '.' && sw_ptx_state_of(&r->l))
			sw_ptx_declare(r);
		else if (c == '.')
			skip_statement(r);
		else if (c != '@' && label_here(r))
			read_label(r);
		else
			read_instruction(r);
	}
}

/* ---- functions ---- */

/* Copies n elements of a vector into the program's arena. */
static void *copy_to_arena(struct sw_ptx_reader *r, const void *from, size_t n, size_t bytes)
{
	void *to = sw_arena_alloc(&r->program->arena, n * bytes + 1);
	if (n)
		memcpy(to, from, n * bytes);
	return to;
}

/* Sets the reader to the start of a function's body. */
static void begin_function(struct sw_ptx_reader *r, const struct sw_ptx_function *f)
{
	r->function = f;
	r->l = sw_ptx_lexer(f->body, (size_t)(f->body_end - f->body));
	r->counted = f->body;
	r->line = f->line;
	r->insn.n = r->targets.n = r->calls.n = r->callees.n = 0;
	r->bindings.n = r->undo.n = r->pending.n = r->scopes.n = 0;
	sw_ptx_names_clear(&r->names);
	r->regs = 0;
	r->carry = SW_NO_REG;
	r->guard = SW_NO_REG;
	r->guard_not = false;
	r->end_is_target = true;
}

/* Reads one function into the neutral form. */
static struct sw_program_function read_function(struct sw_ptx_reader *r, const struct sw_ptx_function *is)
{
	struct sw_program_function f = {.name = sw_arena_strndup(&r->program->arena, is->name, strlen(is->name))};
	begin_function(r, is);
	sw_ptx_scope_open(r);
	sw_ptx_declare_formals(r, &f);
	read_statements(r);
	/* Falling off the end is returning. */
	const struct sw_insn *last = r->insn.n ? &r->insn.at[r->insn.n - 1] : NULL;
	bool ends = last && last->guard == SW_NO_REG &&
		    (last->op == SW_OP_RETURN || last->op == SW_OP_EXIT || last->op == SW_OP_JUMP);
	r->guard = SW_NO_REG;
	r->guard_not = false;
	if (!ends || r->end_is_target)
		sw_ptx_ret(r, 0);
	while (r->scopes.n && !r->failed)
		sw_ptx_scope_close(r);
	if (r->failed)
		return f;
	f.insn = copy_to_arena(r, r->insn.at, r->insn.n, sizeof *r->insn.at);
	f.insns = (uint32_t)r->insn.n;
	f.regs = r->regs;
	f.targets = copy_to_arena(r, r->targets.at, r->targets.n, sizeof *r->targets.at);
	f.n_targets = (uint32_t)r->targets.n;
	f.calls = copy_to_arena(r, r->calls.at, r->calls.n, sizeof *r->calls.at);
	f.n_calls = (uint32_t)r->calls.n;
	r->insns += r->insn.n;
	return f;
}

/* ---- symbols ---- */

/* Describes a module variable, with the functions and variables that its initialiser points to. */
static struct sw_symbol read_symbol(struct sw_ptx_reader *r, const struct sw_ptx_variable *v)
{
	struct sw_arena *arena = &r->program->arena;
	struct sw_symbol s = {.name = sw_arena_strndup(arena, v->name, strlen(v->name)),
			      .bytes = v->bytes,
			      .constant = v->state == SW_PTX_CONST};
	uint32_t *functions = sw_arena_alloc(arena, v->pointees * sizeof *functions);
	uint32_t *symbols = sw_arena_alloc(arena, v->pointees * sizeof *symbols);
	for (uint32_t i = 0; i < v->pointees; i++) {
		uint32_t name = r->module->pointees.at[v->pointee + i];
		struct sw_ptx_named named = sw_ptx_module_meaning(r->module, name);
		if (named.meaning == SW_PTX_IS_FUNCTION)
			functions[s.n_functions++] = r->module->functions.at[named.index].body
							     ? sw_ptx_function_index(r, named.index)
							     : UINT32_MAX;
		else if (named.meaning == SW_PTX_IS_VARIABLE &&
			 r->module->variables.at[named.index].state >= SW_PTX_GLOBAL)
			symbols[s.n_symbols++] = sw_ptx_symbol_index(r, named.index);
	}
	s.functions = functions;
	s.symbols = symbols;
	return s;
}

/* ---- the program ---- */

/* Reads the kernel and all that it reaches: functions name symbols, whose initialisers name functions. */
static void read_all(struct sw_ptx_reader *r)
{
	SW_VEC(struct sw_program_function) functions = {0};
	SW_VEC(struct sw_symbol) symbols = {0};
	/* Functions name symbols, whose initialisers name functions. */
	while (!r->failed && (functions.n < r->order.n || symbols.n < r->variables.n)) {
		if (functions.n < r->order.n) {
			struct sw_program_function f =
				read_function(r, &r->module->functions.at[r->order.at[functions.n]]);
			*sw_vec_push(&functions) = f;
		} else {
			struct sw_symbol s = read_symbol(r, &r->module->variables.at[r->variables.at[symbols.n]]);
			*sw_vec_push(&symbols) = s;
		}
		if (r->order.n > MOST_FUNCTIONS || r->variables.n > MOST_SYMBOLS)
			sw_ptx_fail(r, "more functions or variables than a kernel can use");
	}
	r->program->function = copy_to_arena(r, functions.at, functions.n, sizeof *functions.at);
	r->program->functions = (uint32_t)functions.n;
	r->program->symbol = copy_to_arena(r, symbols.at, symbols.n, sizeof *symbols.at);
	r->program->symbols = (uint32_t)symbols.n;
	free(functions.at);
	free(symbols.at);
}

/* Fills in how the kernel's parameters lie in their block. */
static void read_layout(struct sw_ptx_reader *r, const struct sw_ptx_function *kernel)
{
	struct sw_param *param = sw_arena_alloc(&r->program->arena, kernel->params * sizeof *param);
	if (kernel->block_bytes > UINT16_MAX)
		sw_ptx_fail(r, "more parameter bytes than a kernel can have");
	for (uint32_t i = 0; i < kernel->params; i++) {
		const struct sw_ptx_formal *formal = &r->module->formals.at[kernel->param + i];
		param[i] = (struct sw_param){(uint16_t)formal->offset, (uint16_t)formal->is.bytes};
	}
	r->program->param = param;
	r->program->params = kernel->params;
	r->program->param_bytes = kernel->block_bytes;
}

/* Frees what the reader holds; the program that it made stays. */
static void free_reader(struct sw_ptx_reader *r)
{
	free(r->order.at);
	free(r->variables.at);
	free(r->opcodes.at);
	free(r->insn.at);
	free(r->targets.at);
	free(r->calls.at);
	free(r->callees.at);
	free(r->bindings.at);
	free(r->undo.at);
	free(r->pending.at);
	free(r->scopes.at);
	free(r->nodes.at);
	sw_map_free(&r->functions);
	sw_map_free(&r->symbols);
	sw_map_free(&r->slots);
	sw_ptx_names_free(&r->names);
	sw_ptx_names_free(&r->opcode_names);
}

int sw_ptx_read(const struct sw_ptx_module *module, const char *kernel, struct sw_program *program,
		struct sw_error *error)
{
	struct sw_ptx_reader r = {.module = module, .program = program, .error = error};
	struct sw_ptx_named named = sw_ptx_module_find(module, kernel, strlen(kernel));
	*program = (struct sw_program){0};
	const struct sw_ptx_function *f =
		named.meaning == SW_PTX_IS_FUNCTION ? &module->functions.at[named.index] : NULL;
	if (!f || !f->entry || !f->body)
		return sw_fail(error, SW_E_FORMAT, "PTX: no kernel \"%.200s\"", kernel);
	sw_ptx_function_index(&r, named.index);
	r.line = f->line;
	read_layout(&r, f);
	read_all(&r);
	free_reader(&r);
	if (r.failed)
		sw_program_free(program);
	return r.failed;
}
