/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one kernel and what it can call.  Shared by ptx_read.c (statements), ptx_scope.c (names), ptx_operand.c,
 * ptx_opcode.c and the files with what instructions mean (ptx_insns.def).
 *
 * Errors are sticky: sw_ptx_fail() keeps the first, everything afterwards is harmless and thrown away.
 */
#ifndef SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_READER_H
#define SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_READER_H

#include "base/map.h"
#include "footprint/instructions/ptx/ptx_module.h"

/* ---- opcodes ---- */

struct sw_ptx_reader;
typedef void sw_ptx_meaning_fn(struct sw_ptx_reader *reader, int arg);

#define SW_PTX_MAX_PARTS 24
struct sw_ptx_opcode {
	sw_ptx_meaning_fn *means; /* NULL: unknown */
	int arg;		  /* for means */
	uint8_t parts;
	struct sw_ptx_part {
		const char *at;
		size_t n;
	} part[SW_PTX_MAX_PARTS]; /* what the dots divide, part[0] the name */
	struct sw_ptx_type type[4];
	uint8_t types;
	uint8_t space;	  /* enum sw_space: the first that is named, else SW_GENERIC */
	uint8_t vector;	  /* 2, 4, 8; 1 */
	uint8_t polls;	  /* SW_VOLATILE or 0 */
	const char *text; /* without types; the program's arena */
};
/* Has the opcode this part behind a dot, such as "wrap"? */
bool sw_ptx_has(const struct sw_ptx_opcode *op, const char *part);
/* The decoded opcode of a word such as "ld.global.u32", kept for all instructions that have it.  NULL when it has
   too many parts. */
const struct sw_ptx_opcode *sw_ptx_opcode(struct sw_ptx_reader *reader, const char *at, size_t n);

/* ---- names in a function ---- */

enum sw_ptx_thing_kind {
	SW_PTX_NOTHING,
	SW_PTX_REGISTERS, /* a: the first; many 0: one */
	SW_PTX_SLOT,	  /* a: local slot */
	SW_PTX_BLOCK,	  /* a: offset in the kernel's parameter block */
	SW_PTX_IN_SHARED,
	SW_PTX_SYMBOL,	/* a: index of the program's symbol */
	SW_PTX_CODE,	/* a: function of the program, UINT32_MAX without code; name */
	SW_PTX_SPECIAL, /* a: index of ptx_special.def */
	SW_PTX_LABEL,	/* a: instruction */
	SW_PTX_TARGETS, /* a: first of the function's targets, many: how many */
	SW_PTX_CALLEES	/* the same in callees */
};
struct sw_ptx_thing {
	uint8_t kind;	/* enum sw_ptx_thing_kind */
	uint8_t vector; /* REGISTERS: elements of each */
	uint16_t bits;	/* REGISTERS: of an element */
	uint32_t depth; /* of the scope that it belongs to */
	uint32_t a, many;
	const char *name; /* CODE */
};

/* ---- operands ---- */

enum sw_ptx_node_kind {
	SW_PTX_SINK,  /* _ */
	SW_PTX_VALUE, /* thing + imm; REGISTERS: one register */
	SW_PTX_NUMBER,
	SW_PTX_FLOATING, /* a number that is not given by its bits */
	SW_PTX_NAME,	 /* of nothing that is known: labels, functions without declaration */
	SW_PTX_LIST,	 /* ( ... ) */
	SW_PTX_VECTOR,	 /* { ... } */
	SW_PTX_MEMORY	 /* [ ... ] */
};
#define SW_PTX_NO_NODE UINT32_MAX
struct sw_ptx_node {
	uint8_t kind;
	bool negated;	/* !%p */
	uint32_t next;	/* the operand after it */
	uint32_t first; /* LIST, VECTOR, MEMORY: what is in it */
	uint32_t other; /* %p|%q */
	struct sw_ptx_thing thing;
	int64_t imm; /* NUMBER; displacement */
	const char *name;
	size_t n;
};

/* ---- the reader ---- */

struct sw_ptx_binding {
	struct sw_ptx_thing single, family; /* "%r1" and the "%r" of "%r<10>" */
};
struct sw_ptx_undo {
	uint32_t name;
	bool family;
	struct sw_ptx_thing old;
};
struct sw_ptx_pending { /* a label that may be declared later in its scope */
	uint32_t name;
	bool in_switch; /* `at` is an instruction that needs a list of targets */
	bool is_target; /* `at` is an element of targets */
	uint32_t at, line;
};

struct sw_ptx_scope { /* lengths of undo and pending where it began */
	size_t undo, pending;
};

/* An instruction while it is made: struct sw_insn with its operands. */
struct sw_ptx_insn {
	uint8_t op, width, flags, space, count, n;
	uint16_t bytes;
	sw_reg dst, guard;
	struct sw_operand src[SW_MAX_SRC];
	int64_t imm, imm2;
	uint32_t target, targets;
};

struct sw_ptx_reader {
	const struct sw_ptx_module *module;
	struct sw_program *program;
	struct sw_error *error;
	int failed; /* code of the first error, 0: none */

	/* of the program */
	SW_VEC(uint32_t) order;	    /* the module's function by the program's */
	struct sw_map functions;    /* the other way, +1 */
	SW_VEC(uint32_t) variables; /* the module's variable by the program's symbol */
	struct sw_map symbols;	    /* the other way, +1 */
	struct sw_map slots;	    /* of module variables in .local, +1 */
	size_t insns;		    /* of all functions read so far */
	struct sw_ptx_names opcode_names;
	SW_VEC(struct sw_ptx_opcode) opcodes;

	/* of the current function */
	const struct sw_ptx_function *function;
	struct sw_ptx_lexer l;
	const char *counted;
	uint32_t line;
	SW_VEC(struct sw_insn) insn;
	SW_VEC(uint32_t) targets;
	SW_VEC(struct sw_program_call) calls;
	SW_VEC(uint32_t) callees; /* of .calltargets: functions of the program */
	const uint32_t *result_slot;
	uint32_t regs;
	sw_reg carry; /* CC.CF; SW_NO_REG: not used yet */
	struct sw_ptx_names names;
	SW_VEC(struct sw_ptx_binding) bindings;
	SW_VEC(struct sw_ptx_undo) undo;
	SW_VEC(struct sw_ptx_pending) pending;
	SW_VEC(struct sw_ptx_scope) scopes;
	bool end_is_target; /* a label is after the last instruction */

	/* of the current instruction */
	const struct sw_ptx_opcode *op;
	sw_reg guard;
	bool guard_not;
	SW_VEC(struct sw_ptx_node) nodes;
	uint32_t operand; /* the first, SW_PTX_NO_NODE */
	uint32_t operands;
};

/* Notes an error with the current line, unless there was one before. */
void sw_ptx_fail(struct sw_ptx_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- ptx_scope.c */
/* Begins a scope of names: a function's body, or a block within it. */
void sw_ptx_scope_open(struct sw_ptx_reader *reader);
/* Ends a scope: names mean again what they did before it, and jumps to its labels get their targets. */
void sw_ptx_scope_close(struct sw_ptx_reader *reader);
/* Makes a name stand for a thing in the current scope.  family: it is the "%r" of "%r<10>". */
void sw_ptx_bind(struct sw_ptx_reader *reader, const char *name, size_t n, bool family, struct sw_ptx_thing thing);
/* The thing that a name stands for here; kind SW_PTX_NOTHING: none. */
struct sw_ptx_thing sw_ptx_lookup(struct sw_ptx_reader *reader, const char *name, size_t n);
/* A declaration within a function; the lexer stands on its state space and is left on the semicolon. */
void sw_ptx_declare(struct sw_ptx_reader *reader);
/* Declares parameters and results of the current function. */
void sw_ptx_declare_formals(struct sw_ptx_reader *reader, struct sw_program_function *function);
/* The number of a new local slot. */
uint32_t sw_ptx_slot(struct sw_ptx_reader *reader);
/* The instruction that gives the value of a special register such as %tid.x. */
struct sw_ptx_insn sw_ptx_special(struct sw_ptx_reader *reader, const struct sw_ptx_thing *thing);
/* The instruction or target list pending.at names a label that may be declared further down. */
void sw_ptx_wait_for(struct sw_ptx_reader *reader, const char *name, size_t n, struct sw_ptx_pending pending);
/* The program's number of a function of the module, which is read later if it is new. */
uint32_t sw_ptx_function_index(struct sw_ptx_reader *reader, uint32_t function);
/* The program's number of a variable of the module. */
uint32_t sw_ptx_symbol_index(struct sw_ptx_reader *reader, uint32_t variable);

/* ---- ptx_operand.c */
/* Reads the operands of the current instruction. */
void sw_ptx_operands(struct sw_ptx_reader *reader);
/* Operand i of the current instruction; NULL (and an error) when there is none. */
struct sw_ptx_node *sw_ptx_at(struct sw_ptx_reader *reader, uint32_t i);
/* Element i of a list, vector or memory operand; NULL: there is none. */
struct sw_ptx_node *sw_ptx_child(struct sw_ptx_reader *reader, const struct sw_ptx_node *node, uint32_t i);
/* The number of elements of a list, vector or memory operand. */
uint32_t sw_ptx_children(const struct sw_ptx_reader *reader, const struct sw_ptx_node *node);
/* Is the operand one register? */
bool sw_ptx_is_register(const struct sw_ptx_node *node);
/* The value of an operand; of a 128-bit register the low half. */
struct sw_operand sw_ptx_use(struct sw_ptx_reader *reader, const struct sw_ptx_node *node);
struct sw_operand sw_ptx_value(struct sw_ptx_reader *reader, uint32_t i); /* operand i */
/* The instruction that moves an operand's value, for results that need no temporary. */
struct sw_ptx_insn sw_ptx_move(struct sw_ptx_reader *reader, const struct sw_ptx_node *node, unsigned bits);

/* ---- ptx_emit.c */
/* The first of `count` new registers of the function. */
sw_reg sw_ptx_new(struct sw_ptx_reader *reader, uint32_t count);
/* Appends an instruction whose result goes to a new register.  It is executed whatever the guard says, as nothing
   but instructions under the guard uses it. */
struct sw_operand sw_ptx_temp(struct sw_ptx_reader *reader, struct sw_ptx_insn insn);
/* Appends an instruction that writes register dst under the guard of the current instruction. */
void sw_ptx_into(struct sw_ptx_reader *reader, sw_reg dst, struct sw_ptx_insn insn);
/* Appends an instruction without a result under the guard of the current instruction. */
void sw_ptx_do(struct sw_ptx_reader *reader, struct sw_ptx_insn insn);
/* Appends an instruction whose result goes to a destination operand, extended to its width as insn.flags say.
   Nothing for the sink "_". */
void sw_ptx_set(struct sw_ptx_reader *reader, const struct sw_ptx_node *dst, struct sw_ptx_insn insn);
/* Makes dst and its elements (and the other half of "p|q") any value of their width that holds no address. */
void sw_ptx_set_range(struct sw_ptx_reader *reader, const struct sw_ptx_node *dst);
/* Makes dst and its elements any value that may contain pieces of `of`. */
void sw_ptx_set_mix(struct sw_ptx_reader *reader, const struct sw_ptx_node *dst, struct sw_operand of);
/* The instruction that gives any number of `bits` bits. */
struct sw_ptx_insn sw_ptx_any(unsigned bits);
/* Appends the load of a parameter or result of a call from its local slot to registers. */
void sw_ptx_from_slot(struct sw_ptx_reader *reader, uint32_t slot, const struct sw_ptx_thing *registers);
/* Appends the store of a parameter or result of a call from registers to its local slot. */
void sw_ptx_to_slot(struct sw_ptx_reader *reader, uint32_t slot, const struct sw_ptx_thing *registers);
/* The instruction that gives any number from `low` to `high`. */
struct sw_ptx_insn sw_ptx_between(unsigned bits, int64_t low, int64_t high);

/* An instruction with one operand. */
static inline struct sw_ptx_insn sw_ptx_op1(enum sw_op op, unsigned width, struct sw_operand a)
{
	return (struct sw_ptx_insn){.op = (uint8_t)op, .width = (uint8_t)width, .n = 1, .src = {a}};
}
/* An instruction with two operands. */
static inline struct sw_ptx_insn sw_ptx_op2(enum sw_op op, unsigned width, struct sw_operand a, struct sw_operand b)
{
	return (struct sw_ptx_insn){.op = (uint8_t)op, .width = (uint8_t)width, .n = 2, .src = {a, b}};
}
/* An instruction with three operands. */
static inline struct sw_ptx_insn sw_ptx_op3(enum sw_op op, unsigned width, struct sw_operand a, struct sw_operand b,
					    struct sw_operand c)
{
	return (struct sw_ptx_insn){.op = (uint8_t)op, .width = (uint8_t)width, .n = 3, .src = {a, b, c}};
}
/* The instruction, as one on signed numbers if `yes`. */
static inline struct sw_ptx_insn sw_ptx_signed(struct sw_ptx_insn insn, bool yes)
{
	insn.flags |= yes ? SW_SIGNED : 0;
	return insn;
}
/* The instruction that extends the low `from` bits of a number to `width` bits. */
static inline struct sw_ptx_insn sw_ptx_extend(unsigned width, struct sw_operand a, unsigned from, bool sign)
{
	struct sw_ptx_insn insn = sw_ptx_signed(sw_ptx_op1(SW_OP_EXTEND, width, a), sign);
	insn.imm = from;
	return insn;
}
/* The instruction that compares two numbers of `bits` bits. */
static inline struct sw_ptx_insn sw_ptx_compare(enum sw_condition condition, unsigned bits, bool sign,
						struct sw_operand a, struct sw_operand b)
{
	struct sw_ptx_insn insn = sw_ptx_signed(sw_ptx_op2(SW_OP_COMPARE, 1, a, b), sign);
	insn.imm = condition;
	insn.imm2 = bits;
	return insn;
}

/* Where a memory operand points to. */
struct sw_ptx_place {
	struct sw_operand address;
	int64_t displacement;
	uint8_t space; /* enum sw_space */
	bool block;    /* at `displacement` of the parameter block, no address is needed */
};
/* Finds the place that a memory operand stands for.  space: that of the instruction. */
struct sw_ptx_place sw_ptx_place(struct sw_ptx_reader *reader, const struct sw_ptx_node *memory, unsigned space);

/* Functions that lower instructions; ptx_insns.def has one a line. */
/* Redundant declarations of a function that several instructions share are fine. */
#define SW_PTX_INSN(name, means, arg) sw_ptx_meaning_fn means;
#include "footprint/instructions/ptx/ptx_insns.def"
/* ptx_opcode.c: an unknown instruction. */
sw_ptx_meaning_fn sw_ptx_unknown;
/* ptx_bulk.c: st.bulk */
sw_ptx_meaning_fn sw_ptx_st_bulk;

#endif
