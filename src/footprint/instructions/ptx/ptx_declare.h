/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of PTX: parameters, registers, variables of every state space. */
#ifndef SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_DECLARE_H
#define SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_DECLARE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/ptx.h"

enum sw_ptx_class { SW_PTX_UNSIGNED, SW_PTX_SIGNED, SW_PTX_BITS, SW_PTX_FLOAT, SW_PTX_PACKED, SW_PTX_PREDICATE };

struct sw_ptx_type {
	uint16_t bits; /* 0: no type */
	uint8_t class; /* enum sw_ptx_class */
};
/* "u32" (without its dot); bits 0 when it is no type. */
struct sw_ptx_type sw_ptx_type_of(const char *at, size_t n);

enum sw_ptx_state {
	SW_PTX_NO_STATE,
	SW_PTX_REG,
	SW_PTX_PARAM,
	SW_PTX_LOCAL,
	SW_PTX_SHARED,
	SW_PTX_GLOBAL,
	SW_PTX_CONST
};
/* ".reg" to ".const" */
enum sw_ptx_state sw_ptx_state_of(const struct sw_ptx_lexer *lexer);

struct sw_ptx_declaration {
	enum sw_ptx_state state;
	struct sw_ptx_type type;
	uint32_t vector; /* elements of a .v2 or .v4, at least 1 */
	uint64_t align;	 /* bytes */
	/* One name of it. */
	const char *name;
	uint32_t n;
	uint64_t many;	/* %r<many>; 0: a single one */
	uint64_t bytes; /* of the whole; 0: an array of unknown length */
};

/* From the state space (where the lexer stands) up to and with the first name.  NULL, or what is wrong. */
const char *sw_ptx_declaration_begin(struct sw_ptx_lexer *lexer, struct sw_ptx_declaration *declaration);
/* Reads the sizes after a name: <count>, [sizes].  The lexer then stands on what ends it: a comma, semicolon, "=" or
   ")". */
const char *sw_ptx_declaration_name(struct sw_ptx_lexer *lexer, struct sw_ptx_declaration *declaration);
/* After an opening bracket: up to the one that closes it. */
bool sw_ptx_skip_group(struct sw_ptx_lexer *lexer);

#endif
