/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel's code in a neutral form.  Two readers make it (PTX text, machine code), one data flow reads it.
 *
 *     ptx_*.c ──┐
 *               ├─► struct sw_program ─► graph, roots, guards, loops ─► struct sw_footprint (footprint.h)
 *     sass_*.c ─┘
 *
 * Sound first: what a reader does not know becomes MIX, OPAQUE or `wild`, never nothing.  Readers take untrusted bytes:
 * every read is bounded and the sizes below are caps; beyond them the kernel is "unreadable: why".
 */
#ifndef SW_FOOTPRINT_CODE_H
#define SW_FOOTPRINT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "syncwatch/format.h"

enum sw_op {
#define SW_OP(name, operands, text) SW_OP_##name,
#include "footprint/ops.def"
	SW_OPS
};
/* The name of an operation, for messages and sw_program_print(). */
const char *sw_op_text(enum sw_op op);

/* Numbers that differ by thread or launch without being computed. */
enum sw_special {
	SW_TID_X,
	SW_TID_Y,
	SW_TID_Z,
	SW_NTID_X,
	SW_NTID_Y,
	SW_NTID_Z,
	SW_CTAID_X,
	SW_CTAID_Y,
	SW_CTAID_Z,
	SW_NCTAID_X,
	SW_NCTAID_Y,
	SW_NCTAID_Z,
	SW_LANEID,	   /* 0 to 31 */
	SW_WARPID,	   /* 0 to 31 */
	SW_CLUSTER_BLOCKS, /* blocks of a cluster (%cluster_nctarank) */
	SW_CLUSTER_RANK,   /* of the block in its cluster (%cluster_ctarank) */
	SW_SHARED_BYTES,   /* %dynamic_smem_size */
	SW_SPECIALS
};
/* The name of a special number, "tid.x"; "?" for another value. */
const char *sw_special_text(int64_t special);

enum sw_condition { SW_EQ, SW_NE, SW_LT, SW_LE, SW_GT, SW_GE };

enum sw_space {
	SW_GENERIC, /* by the address itself */
	SW_GLOBAL,
	SW_SHARED,
	SW_LOCAL,
	SW_PARAM_SPACE, /* parameters of the kernel; .param slots of calls are SW_LOCAL */
	SW_CONSTANT
};

/* Flags of an instruction. */
enum {
	SW_SIGNED = 1 << 0,
	SW_READS = 1 << 1, /* with SW_WRITES, of an ATOMIC: no wider than a block or a cluster */
	SW_WRITES = 1 << 2,
	SW_VOLATILE = 1 << 3,  /* volatile, acquire, release, mmio, system scope: may poll or signal */
	SW_GUARD_NOT = 1 << 4, /* executed where the guard is false */
	SW_ATOMICS =
		1 << 5 /* in addition to SW_READS and SW_WRITES: each access is one atomic operation (reductions) */
};

typedef uint32_t sw_reg; /* number within the function; SW_NO_REG: none, or a constant zero where a value is wanted */
#define SW_NO_REG UINT32_MAX

/* An operand: a register, or with reg == SW_NO_REG the constant imm. */
struct sw_operand {
	sw_reg reg;
	int64_t imm;
};
/* A register as an operand. */
static inline struct sw_operand sw_operand_reg(sw_reg reg)
{
	return (struct sw_operand){reg, 0};
}
/* A constant as an operand. */
static inline struct sw_operand sw_operand_imm(int64_t imm)
{
	return (struct sw_operand){SW_NO_REG, imm};
}

#define SW_MAX_SRC                                                                                                     \
	10 /* a store of eight elements and its address; an OPAQUE with more keeps the first ten and sets `wild` */

struct sw_insn {
	uint8_t op;	/* enum sw_op */
	uint8_t width;	/* bits of the result: 1, 8, 16, 32, 64; 128-bit values are two registers of 64 */
	uint8_t flags;	/* SW_* above */
	uint8_t space;	/* enum sw_space: LOAD, STORE, ATOMIC, BULK */
	uint8_t count;	/* elements of LOAD and STORE, at least 1 */
	uint8_t n;	/* operands */
	uint16_t bytes; /* of one element */
	sw_reg dst;	/* SW_NO_REG: none.  A guarded instruction leaves dst as it was where it is not executed */
	sw_reg guard;	/* a 1-bit register; SW_NO_REG: always executed */
	struct sw_operand *src; /* n; of an arena: most have one or two, and all instructions are passed over often */
	int64_t imm, imm2;
	uint32_t target;  /* JUMP: instruction; SWITCH: first of targets; CALL: index of calls */
	uint32_t targets; /* SWITCH: how many */
	uint32_t place;	  /* line of the PTX, byte offset in the machine code */
	const char
		*text; /* mnemonic for evidence strings ("st.global", "STG"); static or owned by the program's arena */
};

/* A call: values pass through local slots (PTX .param variables). */
struct sw_program_call {
	uint32_t function;   /* of the program; UINT32_MAX: src[0] holds its address, or no code: `name` */
	const char *name;    /* function without code: "vprintf"; NULL */
	uint32_t args, rets; /* numbers of slots */
	const uint32_t *arg; /* local slots in the order of the parameters; arena */
	const uint32_t *ret;
};

struct sw_program_function {
	const char *name;
	struct sw_insn *insn;
	uint32_t insns;
	uint32_t regs;		 /* registers are 0 .. regs-1 */
	const uint32_t *targets; /* of SWITCHes */
	uint32_t n_targets;
	const struct sw_program_call *calls;
	uint32_t n_calls;
	const uint32_t *param_slot, *result_slot; /* local slots; the kernel itself has none (PARAM) */
	uint32_t param_slots, result_slots;
};

/* A __device__, __constant__ or managed variable. */
struct sw_symbol {
	const char *name; /* mangled */
	uint64_t bytes;	  /* 0 unknown */
	bool constant;
	/* Functions and symbols that its initialiser points to, whose addresses a load may give; arena. */
	const uint32_t *functions, *symbols;
	uint32_t n_functions, n_symbols;
};

/* One kernel and whatever it can call. */
struct sw_program {
	struct sw_arena arena; /* owns everything below */
	struct sw_program_function *function;
	uint32_t functions; /* [0] is the kernel */
	struct sw_symbol *symbol;
	uint32_t symbols;
	uint32_t slots;		      /* local slots used, all functions */
	const struct sw_param *param; /* layout, by index */
	uint32_t params, param_bytes;
	const char *wild; /* why nothing may be concluded from this code (NULL: one may); the accesses still count */
	void *code;	  /* malloc'ed instructions that are not the arena's; NULL */
};
/* Frees all that the program owns. */
void sw_program_free(struct sw_program *program);

#define SW_CODE_MAX_INSNS (1u << 18) /* of one kernel with all it calls */
#define SW_CODE_MAX_REGS  (1u << 18)

/*
 * Readers.  0, or <0 with error filled (unreadable, no such kernel): *program is empty then.  Thread-safe.
 *
 * A module of PTX is parsed once for all its kernels; *text must outlive it.  A cubin is read kernel by kernel.
 */
struct sw_ptx_module;
/* Parses a module of PTX once for all its kernels; *text must outlive it.  0, or <0 with error filled. */
int sw_ptx_module_open(const char *text, size_t bytes, struct sw_ptx_module **module, struct sw_error *error);
/* Frees a module; NULL is allowed. */
void sw_ptx_module_close(struct sw_ptx_module *module);
uint32_t sw_ptx_module_arch(const struct sw_ptx_module *module); /* 90 for .target sm_90a */
/* Reads a kernel of a module, with all that it can call. */
int sw_ptx_read(const struct sw_ptx_module *module, const char *kernel, struct sw_program *program,
		struct sw_error *error);
/* Reads a kernel of a cubin, with all that it can call.  *arch: 90 for sm_90. */
int sw_sass_read(const void *cubin, size_t bytes, const char *kernel, struct sw_program *program, uint32_t *arch,
		 struct sw_error *error);

/* Writes the program as text, one instruction a line, for tests and `syncwatch kernels --code`.  */
void sw_program_print(const struct sw_program *program, void *file); /* FILE * */

#endif
