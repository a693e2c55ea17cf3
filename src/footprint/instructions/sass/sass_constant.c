/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the banks of constants hold: 0 launch values and parameters, 2 the compiler's constants of this kernel, 3 the
 * program's __constant__ variables, 4 addresses of variables and functions.  1 and others are the driver's.
 */
#include "footprint/instructions/sass/sass.h"

enum { BANK_LAUNCH = 0, BANK_COMPILER = 2, BANK_PROGRAM = 3, BANK_ADDRESSES = 4 };

enum { OF_BANK = 1 }; /* the address where the bank begins, not the parameters */

/* Bank 0 below the parameters.  Seen in kernels that read these values, nvcc 13.0. */
static const struct {
	uint16_t first, last, offset;
	uint8_t op, imm;
} launch[] = {
	{0, 99, 0x00, SW_OP_SPECIAL, SW_NTID_X},
	{0, 99, 0x04, SW_OP_SPECIAL, SW_NTID_Y},
	{0, 99, 0x08, SW_OP_SPECIAL, SW_NTID_Z},
	{0, 99, 0x0c, SW_OP_SPECIAL, SW_NCTAID_X},
	{0, 99, 0x10, SW_OP_SPECIAL, SW_NCTAID_Y},
	{0, 99, 0x14, SW_OP_SPECIAL, SW_NCTAID_Z},
	{0, 99, 0x18, SW_OP_SHARED_ADDRESS, 0},
	{0, 99, 0x1c, SW_OP_SHARED_ADDRESS, 0},
	{0, 99, 0x20, SW_OP_CONST, 0},
	/* local window */ {0, 99, 0x24, SW_OP_CONST, 0},
	{0, 99, 0x28, SW_OP_LOCAL_ADDRESS, 0},
	{90, 99, 0x198, SW_OP_PARAM_ADDRESS, 0},
	/* nvjet kernels of cuBLAS 13 add to it what leads to their tensor maps in the parameters, each at a multiple of
	   64 and beginning with the address of an operand (H200). */
	{90, 99, 0xc0, SW_OP_PARAM_ADDRESS, OF_BANK},
	{100, 999, 0x360, SW_OP_SPECIAL, SW_NTID_X},
	{100, 999, 0x364, SW_OP_SPECIAL, SW_NTID_Y},
	{100, 999, 0x368, SW_OP_SPECIAL, SW_NTID_Z},
	{100, 999, 0x370, SW_OP_SPECIAL, SW_NCTAID_X},
	{100, 999, 0x374, SW_OP_SPECIAL, SW_NCTAID_Y},
	{100, 999, 0x378, SW_OP_SPECIAL, SW_NCTAID_Z},
	{100, 999, 0x2f8, SW_OP_CONST, 0},
	{100, 999, 0x2fc, SW_OP_CONST, 0},
	{100, 999, 0x37c, SW_OP_LOCAL_ADDRESS, 0},
	{100, 999, 0x348, SW_OP_PARAM_ADDRESS, 0},
};
/* Stacks grow down from here, in the one slot of local memory: more than a thread's local memory can be (512 KiB). */
#define STACK_TOP (1 << 20)

/* The word of bank 0 below the parameters at this offset; one that is not known comes from the driver. */
static struct sw_operand launch_word(struct sw_sass *s, uint32_t offset)
{
	for (size_t i = 0; i < sizeof launch / sizeof *launch; i++) {
		if (s->cubin->arch < launch[i].first || s->cubin->arch > launch[i].last)
			continue;
		if (launch[i].op == SW_OP_PARAM_ADDRESS &&
		    (offset == launch[i].offset || offset == launch[i].offset + 4u))
			return sw_sass_unary(s, offset == launch[i].offset ? SW_OP_LOW : SW_OP_HIGH, 32,
					     sw_sass_leaf(s, SW_OP_PARAM_ADDRESS, 64,
							  launch[i].imm == OF_BANK ? -(int64_t)s->cubin->param_base : 0,
							  0));
		if (offset != launch[i].offset)
			continue;
		if (launch[i].op == SW_OP_CONST)
			return sw_operand_imm(0);
		if (launch[i].op == SW_OP_LOCAL_ADDRESS)
			return sw_sass_leaf(s, SW_OP_LOCAL_ADDRESS, 32, 0, STACK_TOP);
		return sw_sass_leaf(s, (enum sw_op)launch[i].op, 32, launch[i].imm, 0);
	}
	return sw_sass_leaf(s, SW_OP_ENVIRONMENT, 32, 0, 0);
}

/* Do these bytes of bank 0 lie in the parameters? */
static bool in_params(const struct sw_sass *s, uint32_t offset, unsigned bytes)
{
	uint32_t base = s->cubin->param_base;
	return offset >= base && offset - base + bytes <= s->cubin->param_bytes;
}

/* The program's number of a variable of the cubin, which is added when it is first met. */
static uint32_t variable_of(struct sw_sass *s, uint64_t symbol, const char *name, uint64_t bytes, bool constant)
{
	for (uint32_t i = 0; i < s->variable.n; i++)
		if (s->variable.at[i] == symbol)
			return i;
	*sw_vec_push(&s->variable) = symbol;
	*sw_vec_push(&s->symbol) = (struct sw_symbol){
		.name = sw_arena_strndup(&s->program->arena, name, strlen(name)),
		.bytes = bytes,
		.constant = constant,
	};
	return (uint32_t)s->symbol.n - 1;
}

/* The address of byte `offset` of bank 3; all of it is one variable where no symbol lies there. */
static struct sw_operand program_constant(struct sw_sass *s, uint64_t offset)
{
	sw_sass_cubin_symbols(s->cubin);
	for (size_t i = 0; i < s->cubin->variable.n; i++) {
		const struct sw_sass_variable *v = &s->cubin->variable.at[i];
		if (v->section == s->cubin->bank[BANK_PROGRAM] && offset >= v->at && offset - v->at < v->bytes) {
			uint32_t n = variable_of(s, (uint64_t)i << 32, v->name, v->bytes, true);
			return sw_sass_leaf(s, SW_OP_SYMBOL_ADDRESS, 64, n, (int64_t)(offset - v->at));
		}
	}
	uint32_t n = variable_of(s, UINT64_MAX, ".nv.constant3", 0, true);
	return sw_sass_leaf(s, SW_OP_SYMBOL_ADDRESS, 64, n, (int64_t)offset);
}

struct sw_operand sw_sass_symbol(struct sw_sass *s, uint64_t symbol, int64_t addend)
{
	uint32_t section;
	uint64_t value, bytes;
	const char *name = sw_sass_cubin_symbol(s->cubin, symbol, &section, &value, &bytes);
	if (!name)
		return sw_sass_value(s, SW_OP_MIX, 64, 0, 0, NULL);
	sw_sass_cubin_symbols(s->cubin);
	for (size_t i = 0; i < s->cubin->function.n; i++)
		if (section && s->cubin->function.at[i].section == section && s->cubin->function.at[i].at == value)
			return sw_sass_leaf(s, SW_OP_FUNCTION_ADDRESS, 64, UINT32_MAX, 0);
	for (size_t i = 0; section && i < s->cubin->variable.n; i++) {
		const struct sw_sass_variable *v = &s->cubin->variable.at[i];
		if (v->section == section && v->at == value && !strcmp(v->name, name)) {
			uint32_t n = variable_of(s, (uint64_t)i << 32, name, bytes, v->constant);
			return sw_sass_leaf(s, SW_OP_SYMBOL_ADDRESS, 64, n, addend);
		}
	}
	if (!section) /* of another cubin: a function of the driver's, or a variable */
		return sw_sass_leaf(s, SW_OP_FUNCTION_ADDRESS, 64, UINT32_MAX, 0);
	uint32_t n = variable_of(s, symbol, name, bytes, false);
	return sw_sass_leaf(s, SW_OP_SYMBOL_ADDRESS, 64, n, addend);
}

/* Emits a load of `bytes` bytes at an address in constant memory or in the parameter block. */
static struct sw_operand load_constant(struct sw_sass *s, unsigned space, struct sw_operand address, unsigned bytes,
				       bool is_signed)
{
	struct sw_operand t =
		sw_sass_value(s, SW_OP_LOAD, bytes == 8 ? 64 : 32, is_signed ? SW_SIGNED : 0, 1, &address);
	struct sw_insn *i = &s->insn.at[s->insn.n - 1];
	i->space = (uint8_t)space;
	i->bytes = (uint16_t)bytes;
	return t;
}

/* A value of fewer than 4 bytes, extended to 32 bits. */
static struct sw_operand narrow_value(struct sw_sass *s, struct sw_operand v, unsigned bytes, bool is_signed)
{
	return bytes < 4 ? sw_sass_extend(s, 32, 8 * bytes, is_signed, v) : v;
}

/* A constant of the compiler, whose value is in the file. */
static struct sw_operand compiler_constant(struct sw_sass *s, uint32_t offset, unsigned bytes, bool is_signed)
{
	struct sw_bytes bank = sw_sass_cubin_content(s->cubin, s->cubin->bank[BANK_COMPILER]);
	if (!sw_bytes_hold(bank, offset, bytes))
		return sw_sass_value(s, SW_OP_MIX, bytes == 8 ? 64 : 32, 0, 0, NULL);
	unsigned unused = 64 - 8 * bytes;
	uint64_t v = 0;
	memcpy(&v, bank.at + offset, bytes);
	return sw_operand_imm(is_signed || bytes == 4 ? (int64_t)(v << unused) >> unused : (int64_t)v);
}

/* An address in bank 4, which the loader fills in: that of a variable or function. */
static struct sw_operand address_constant(struct sw_sass *s, uint32_t offset, unsigned bytes)
{
	uint64_t symbol;
	int64_t addend;
	if (bytes >= 4 && sw_sass_cubin_address(s->cubin, offset & ~7u, &symbol, &addend)) {
		struct sw_operand v = sw_sass_symbol(s, symbol, addend);
		return bytes == 8 ? v : sw_sass_unary(s, offset & 4 ? SW_OP_HIGH : SW_OP_LOW, 32, v);
	}
	sw_sass_wild(s, "an address that is not known before the code is loaded");
	return sw_sass_value(s, SW_OP_MIX, bytes == 8 ? 64 : 32, 0, 0, NULL);
}

struct sw_operand sw_sass_constant(struct sw_sass *s, uint32_t bank, uint32_t offset, unsigned bytes, bool is_signed)
{
	unsigned width = bytes == 8 ? 64 : 32;
	switch (bank) {
	case BANK_LAUNCH:
		if (in_params(s, offset, bytes)) {
			int64_t at = offset - s->cubin->param_base;
			return narrow_value(s, sw_sass_leaf(s, SW_OP_PARAM, bytes < 4 ? 8 * bytes : width, at, 0),
					    bytes, is_signed);
		}
		if (bytes == 8)
			return sw_sass_binary(s, SW_OP_PAIR, 64, sw_sass_constant(s, bank, offset, 4, false),
					      sw_sass_constant(s, bank, offset + 4, 4, false));
		return narrow_value(s, launch_word(s, offset), bytes, is_signed);
	case BANK_COMPILER:
		return compiler_constant(s, offset, bytes, is_signed);
	case BANK_PROGRAM:
		return load_constant(s, SW_CONSTANT, program_constant(s, offset), bytes, is_signed);
	case BANK_ADDRESSES:
		return address_constant(s, offset, bytes);
	default:
		return sw_sass_leaf(s, SW_OP_ENVIRONMENT, width, 0, 0);
	}
}

struct sw_operand sw_sass_constant_at(struct sw_sass *s, uint32_t bank, int64_t offset, sw_reg index, unsigned bytes,
				      bool is_signed)
{
	unsigned width = bytes == 8 ? 64 : 32;
	const struct sw_sass_known *known = index < 512 ? &s->known[index] : NULL;
	if (known && known->stamp == s->stamp && known->kind == SW_KNOWN_CONST && known->value + offset >= 0 &&
	    known->value + offset < 65536)
		return sw_sass_constant(s, bank, (uint32_t)(known->value + offset), bytes, is_signed);
	struct sw_operand at = sw_sass_extend(s, 64, 32, true, sw_operand_reg(index)), base;
	if (bank == BANK_LAUNCH && offset + 64 >= s->cubin->param_base &&
	    offset < s->cubin->param_base + s->cubin->param_bytes) {
		base = sw_sass_leaf(s, SW_OP_PARAM_ADDRESS, 64, offset - s->cubin->param_base, 0);
		return load_constant(s, SW_PARAM_SPACE, sw_sass_binary(s, SW_OP_ADD, 64, base, at), bytes, is_signed);
	}
	if (bank == BANK_PROGRAM) {
		base = program_constant(s, (uint64_t)offset);
		return load_constant(s, SW_CONSTANT, sw_sass_binary(s, SW_OP_ADD, 64, base, at), bytes, is_signed);
	}
	if (bank ==
	    BANK_COMPILER) /* tables of numbers and of code: made from the index, but of no address that it may hold */
		at = sw_sass_compare(s, SW_NE, 64, false, at, sw_operand_imm(0));
	return sw_sass_value(s, SW_OP_MIX, width, 0, 1, &at);
}
