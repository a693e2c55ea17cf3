/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the reader of machine code (sass_*.c): from a cubin to struct sw_program.
 *
 *     cubin ─► sass_cubin.c ─► sass_read.c ─► sass_ops.def ─► sass_integer.c, ... ─► struct sw_insn
 *              sections        instances      operation       lowering               by sass_build.c
 *
 * NVIDIA documents no encoding: all of it was established by experiment, see sass_ops.def.
 */
#ifndef SW_FOOTPRINT_INSTRUCTIONS_SASS_SASS_H
#define SW_FOOTPRINT_INSTRUCTIONS_SASS_SASS_H

#include "base/map.h"
#include "footprint/code.h"
#include "image/bytes.h"

/* ---- registers of the program: machine registers, then temporaries, which no machine instruction outlives ------- */

enum {
	SW_SASS_R = 0,	  /* R0 to R254 */
	SW_SASS_UR = 256, /* UR0 to UR254 */
	SW_SASS_P = 512,  /* P0 to P6 */
	SW_SASS_UP = 520, /* UP0 to UP6 */
	SW_SASS_TEMP = 528,
	SW_SASS_TEMPS = 240,
	SW_SASS_REGS = SW_SASS_TEMP + SW_SASS_TEMPS
};

/* ---- table ------------------------------------------------------------------------------------------------------ */

enum {
	SW_UNIFORM = 1 << 0,	/* of the uniform datapath: UR and UP throughout */
	SW_PREDICATE = 1 << 1,	/* writes the predicate in bits 81-83 */
	SW_PREDICATES = 1 << 2, /* and the one in bits 84-86 */
	SW_CONTROL = 1 << 3
};
#define SW_SPACE(space)	    ((space) << 8)
#define SW_SPACE_OF(flags)  ((flags) >> 8 & 0xff)
#define SW_WEAK(words)	    (0x80 | (words))
#define SW_WORDS_OF(column) ((column)&0x7f)

struct sw_sass;
struct sw_sass_op {
	uint16_t code, mask, first, last;
	const char *name;
	void (*lower)(struct sw_sass *s);
	uint8_t words;
	uint16_t flags;
};

/* ---- cubin ------------------------------------------------------------------------------------------------------ */

struct sw_sass_function { /* symbol of a function within a section of code */
	const char *name;
	uint32_t section;
	uint64_t at, bytes;
};
struct sw_sass_variable { /* symbol of a variable */
	const char *name;
	uint32_t section;
	uint64_t at, bytes;
	bool constant;
};

/* Kinds of values that the loader puts into an instruction. */
enum sw_sass_relocation_kind { SW_RELOCATION_OTHER, SW_RELOCATION_LOW, SW_RELOCATION_HIGH, SW_RELOCATION_CALL };
struct sw_sass_relocation {
	enum sw_sass_relocation_kind kind;
	uint32_t symbol;
	int64_t addend;
};

struct sw_sass_cubin {
	struct sw_bytes all;
	uint32_t arch, sections, symtab;
	struct sw_bytes names; /* of sections */
	uint64_t table;
	uint32_t code;		/* section of the kernel */
	uint32_t info;		/* its .nv.info section, 0: none */
	uint32_t bank[16];	/* sections of its constant banks, 0: none */
	uint32_t bank4_rela[2]; /* relocations of bank 4, with addends and without; 0: none */
	struct sw_param *param; /* owned */
	uint32_t params, param_bytes;
	uint32_t param_base; /* in bank 0 */
	bool tile;	     /* of CUDA Tile IR */
	bool has_symbols;    /* sw_sass_cubin_symbols() has filled the next two */
	SW_VEC(struct sw_sass_function) function;
	SW_VEC(struct sw_sass_variable) variable;
	SW_VEC(struct sw_sass_relocation) relocation; /* of the kernel's code */
	struct sw_map relocated;		      /* offset in it -> index into relocation, + 1 */
};
/* Finds the kernel in a cubin: its code, layout of parameters, constant banks and relocations.  <0 with error
   filled: damaged, or no such kernel. */
int sw_sass_cubin_open(struct sw_sass_cubin *cubin, const void *bytes, size_t size, const char *kernel,
		       struct sw_error *error);
void sw_sass_cubin_close(struct sw_sass_cubin *cubin);
/* Fills `function` and `variable`, which few kernels need: of all kernels that the cubin has. */
void sw_sass_cubin_symbols(struct sw_sass_cubin *cubin);
/* The bytes of a section; none for section 0. */
struct sw_bytes sw_sass_cubin_content(const struct sw_sass_cubin *cubin, uint32_t section);
/* Name of a symbol of the table, its section in *section (0: undefined), value and size; NULL: there is none. */
const char *sw_sass_cubin_symbol(const struct sw_sass_cubin *cubin, uint64_t index, uint32_t *section, uint64_t *value,
				 uint64_t *bytes);
/* The symbol whose address the 8 bytes at `offset` of bank 4 are; false: they are none. */
bool sw_sass_cubin_address(const struct sw_sass_cubin *cubin, uint64_t offset, uint64_t *symbol, int64_t *addend);
/* Targets of the indirect jump at `offset` of the code, offsets as well; n: how many, 0 unknown. */
struct sw_bytes sw_sass_cubin_targets(const struct sw_sass_cubin *cubin, uint64_t offset, uint32_t *n);

/* ---- the reader's state ----------------------------------------------------------------------------------------- */

/* The known value of a register, from straight-line code. */
enum sw_sass_known_kind { SW_KNOWN_NOTHING, SW_KNOWN_CONST, SW_KNOWN_SYMBOL };
struct sw_sass_known {
	uint32_t stamp; /* valid if it is the reader's */
	uint32_t kind;
	int64_t value; /* constant, or symbol of the cubin */
};

/* A piece of code read for one caller: the kernel itself, or a subroutine for one place that calls it. */
struct sw_sass_instance {
	uint64_t entry;	  /* instruction of the section */
	uint32_t parent;  /* UINT32_MAX: none, the kernel */
	uint32_t caller;  /* JUMP or entry of the list of targets that leads here */
	bool listed;	  /* the caller is an entry of the list of targets */
	uint64_t back;	  /* instruction after the call, in the parent */
	uint32_t back_at; /* ... where it became the program's */
	uint32_t start;	  /* first instruction in the program */
	uint32_t depth;
};
struct sw_sass_fix {
	uint32_t insn; /* or index into targets */
	bool listed;
	uint64_t target; /* instruction of the section */
};

struct sw_sass {
	struct sw_program *program;
	struct sw_sass_cubin *cubin;
	struct sw_bytes code;
	uint64_t instructions;
	SW_VEC(struct sw_insn) insn;
	struct sw_operand *operands_end; /* of the piece of the arena that the last instruction's operands are in */
	SW_VEC(uint32_t) target;
	SW_VEC(struct sw_program_call) call;
	SW_VEC(struct sw_symbol) symbol;
	SW_VEC(uint64_t) variable; /* the cubin's symbol of each */
	SW_VEC(struct sw_sass_instance) instance;
	SW_VEC(struct sw_sass_fix) fix;
	uint32_t *place;	  /* instruction of the section -> of the program, in this instance */
	uint8_t *seen;		  /* SW_SASS_REACHED, SW_SASS_LEADER; all 0 between instances */
	SW_VEC(uint64_t) reached; /* instructions of this instance */
	const char *failed;	  /* why it can't be read; NULL */
	/* The current instruction. */
	uint64_t low, high, at; /* at: its number */
	uint32_t current;	/* instance */
	const struct sw_sass_op *op;
	sw_reg guard;
	bool guard_not, never;
	uint32_t temps;
	struct sw_sass_known known[512]; /* of R and UR */
	uint32_t stamp;
	uint64_t unknown;			     /* unknown instructions */
	const struct sw_sass_relocation *relocation; /* of the current instruction; NULL: none, or it was heeded */
};

/* ---- sass_fields.c: what the bits say --------------------------------------------------------------------------- */

/* The number in bits at .. at+n-1 of the current instruction's 128. */
uint64_t sw_sass_bits(const struct sw_sass *s, unsigned at, unsigned n);
/* One bit of the current instruction's 128. */
static inline bool sw_sass_bit(const struct sw_sass *s, unsigned at)
{
	return (at < 64 ? s->low >> at : s->high >> (at - 64)) & 1;
}
/* sw_sass_bits() as a signed number. */
int64_t sw_sass_signed(const struct sw_sass *s, unsigned at, unsigned n);
/* Is it an instruction of the uniform datapath, with UR registers throughout? */
bool sw_sass_uniform(const struct sw_sass *s);
/* The program's register for the number in bits at .. at+7, of R or (uniform) UR; SW_NO_REG for RZ, URZ. */
sw_reg sw_sass_reg(const struct sw_sass *s, unsigned at, bool uniform);
/* Operands of the common layout of instructions. */
enum sw_sass_operand { SW_SASS_A, SW_SASS_B, SW_SASS_C };
/* Operand A, B or C of the common layout, in 32 bits; negation is left to the caller. */
struct sw_operand sw_sass_plain(struct sw_sass *s, enum sw_sass_operand which);
/* Is the operand negated? */
bool sw_sass_negated(const struct sw_sass *s, enum sw_sass_operand which);
/* Operand A, B or C of the common layout, in 32 bits, negated where the instruction says so (inverted, in .X
   instructions). */
struct sw_operand sw_sass_operand(struct sw_sass *s, enum sw_sass_operand which);
/* Operand A, B or C of the common layout, in 64 bits. */
struct sw_operand sw_sass_wide(struct sw_sass *s, enum sw_sass_operand which);
/* Where the predicates of the common layout lie, two that are written and two that are read: three bits each, and for
   one that is read the bit that inverts it. */
enum { SW_AT_OUT = 81, SW_AT_OUT2 = 84, SW_AT_IN = 87, SW_AT_IN_NOT = 90, SW_AT_IN2 = 77, SW_AT_IN2_NOT = 80 };
/* A predicate that is read, at bits at .. at+2, inverted by bit `inverted`; constant ones become immediate. */
struct sw_operand sw_sass_predicate(struct sw_sass *s, unsigned at, unsigned inverted);
/* A predicate that is written; SW_NO_REG for PT. */
sw_reg sw_sass_predicate_out(const struct sw_sass *s, unsigned at);

/* ---- sass_build.c: instructions of the program ------------------------------------------------------------------ */

/* Appends an instruction to the program, for the caller to complete. */
struct sw_insn *sw_sass_emit(struct sw_sass *s, enum sw_op op, unsigned width);
/* A new temporary register. */
struct sw_operand sw_sass_temp(struct sw_sass *s);
/* Appends an instruction whose result goes to a new temporary.  flags: SW_SIGNED. */
struct sw_operand sw_sass_value(struct sw_sass *s, enum sw_op op, unsigned width, unsigned flags, unsigned n,
				const struct sw_operand *src);
/* sw_sass_value() for one operand. */
struct sw_operand sw_sass_unary(struct sw_sass *s, enum sw_op op, unsigned width, struct sw_operand a);
/* sw_sass_value() for two operands. */
struct sw_operand sw_sass_binary(struct sw_sass *s, enum sw_op op, unsigned width, struct sw_operand a,
				 struct sw_operand b);
/* A temporary of 1 bit: the comparison of two numbers of `bits` bits. */
struct sw_operand sw_sass_compare(struct sw_sass *s, enum sw_condition condition, unsigned bits, bool is_signed,
				  struct sw_operand a, struct sw_operand b);
/* A temporary: the low `from` bits of a number extended to `width` bits. */
struct sw_operand sw_sass_extend(struct sw_sass *s, unsigned width, unsigned from, bool is_signed, struct sw_operand a);
/* A temporary for an operation without operands, whose meaning is in imm and imm2. */
struct sw_operand sw_sass_leaf(struct sw_sass *s, enum sw_op op, unsigned width, int64_t imm, int64_t imm2);
/* A temporary that may be any number of `width` bits. */
struct sw_operand sw_sass_anything(struct sw_sass *s, unsigned width);
/* Is the operand this constant? */
static inline bool sw_sass_is(struct sw_operand a, int64_t imm)
{
	return a.reg == SW_NO_REG && a.imm == imm;
}
/* Gives a register of the machine a value, where the current instruction is executed. */
void sw_sass_set(struct sw_sass *s, sw_reg reg, unsigned width, struct sw_operand value);
/* Gives a register of the machine perhaps a new value: afterwards it holds something made of what it held. */
void sw_sass_blur(struct sw_sass *s, sw_reg reg, unsigned width);
/* Writes the result to Rd. */
void sw_sass_result(struct sw_sass *s, struct sw_operand value);
/* Writes a result of 64 bits to Rd and the register after it. */
void sw_sass_result64(struct sw_sass *s, struct sw_operand value);
/* Writes 64 bits to a register and the one after it. */
void sw_sass_halves(struct sw_sass *s, sw_reg reg, struct sw_operand value);
/* The 64 bits in a register and the one after it; 0 for SW_NO_REG. */
struct sw_operand sw_sass_pair(struct sw_sass *s, sw_reg reg);
/* A 1-bit register that is true where the instruction is executed and `condition` holds. */
sw_reg sw_sass_condition(struct sw_sass *s, struct sw_operand condition, bool *never);

/* ---- sass_constant.c -------------------------------------------------------------------------------------------- */

/* `bytes` bytes (1, 2, 4, 8) at `offset` of a constant bank, in 32 or 64 bits. */
struct sw_operand sw_sass_constant(struct sw_sass *s, uint32_t bank, uint32_t offset, unsigned bytes, bool is_signed);
/* `bytes` bytes of a constant bank at offset + index. */
struct sw_operand sw_sass_constant_at(struct sw_sass *s, uint32_t bank, int64_t offset, sw_reg index, unsigned bytes,
				      bool is_signed);
/* The address of a symbol of the cubin, 64 bits. */
struct sw_operand sw_sass_symbol(struct sw_sass *s, uint64_t symbol, int64_t addend);

/* ---- sass_flow.c ------------------------------------------------------------------------------------------------ */

/* Follows the code from instruction `entry`: s->reached lists what it leads to, s->seen marks it. */
void sw_sass_reach(struct sw_sass *s, uint64_t entry);
/* Makes instruction `at` of the section the current one. */
void sw_sass_fetch(struct sw_sass *s, uint64_t at);
bool sw_sass_may_control(const struct sw_sass *s, uint64_t at); /* false: it leads to the next instruction */
/* Notes why nothing may be concluded from this program. */
void sw_sass_wild(struct sw_sass *s, const char *why);
enum { SW_SASS_REACHED = 1, SW_SASS_LEADER = 2 };

#define SW_SASS_MAX_DEPTH 12 /* of calls; seen are 2 */

#endif
