/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of a module of PTX outside its functions' bodies: made once, then only read (by any number of
   threads). */
#ifndef SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_MODULE_H
#define SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "footprint/code.h"
#include "image/ptx.h"

/* Names to small numbers.  The text that they lie in must outlive the table. */

#define SW_PTX_NO_NAME UINT32_MAX

struct sw_ptx_name {
	const char *at;
	uint32_t n, hash;
};
/* Zero-initialise.  Not thread-safe, but any number of threads may find while none adds. */
struct sw_ptx_names {
	SW_VEC(struct sw_ptx_name) name; /* by number */
	uint32_t *slot;			 /* number + 1, 0 free */
	size_t slots;			 /* power of two */
};

/* The number of a name, SW_PTX_NO_NAME when it was never added. */
uint32_t sw_ptx_names_find(const struct sw_ptx_names *names, const char *at, size_t n);
/* The number of a name, which gets the next one if it is new. */
uint32_t sw_ptx_names_add(struct sw_ptx_names *names, const char *at, size_t n);
/* Forgets all names and keeps the memory. */
void sw_ptx_names_clear(struct sw_ptx_names *names);
void sw_ptx_names_free(struct sw_ptx_names *names);

/* Declarations of PTX: parameters, registers, variables of every state space. */

enum sw_ptx_class { SW_PTX_UNSIGNED, SW_PTX_SIGNED, SW_PTX_BITS, SW_PTX_FLOAT, SW_PTX_PACKED, SW_PTX_PREDICATE };

struct sw_ptx_type {
	uint16_t bits; /* 0: no type */
	uint8_t class; /* enum sw_ptx_class */
};
/* The type that a word such as "u32" (without its dot) names; bits 0 when it is no type. */
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
/* The state space that the current word names, ".reg" to ".const". */
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

/* Reads a declaration from its state space (where the lexer stands) up to and with its first name.  NULL, or text
   that says what is wrong. */
const char *sw_ptx_declaration_begin(struct sw_ptx_lexer *lexer, struct sw_ptx_declaration *declaration);
/* Reads the sizes after a name: <count>, [sizes].  The lexer then stands on what ends it: a comma, semicolon, "=" or
   ")". */
const char *sw_ptx_declaration_name(struct sw_ptx_lexer *lexer, struct sw_ptx_declaration *declaration);
/* A formal parameter or result. */
struct sw_ptx_formal {
	struct sw_ptx_declaration is;
	uint32_t offset; /* in the parameter block, for kernels */
};

struct sw_ptx_function {
	const char *name; /* NUL-terminated; the module's arena */
	bool entry;
	const char *body, *body_end;		 /* between the braces; NULL: no code */
	uint32_t line;				 /* of body, from 1 */
	uint32_t param, params, result, results; /* in formals */
	uint32_t block_bytes;			 /* of a kernel's parameters */
	uint32_t cluster[3];			 /* .reqnctapercluster; 0: none */
};

struct sw_ptx_variable {
	const char *name;
	enum sw_ptx_state state;
	uint64_t bytes;		    /* 0 unknown */
	uint32_t pointee, pointees; /* names in its initialiser: in pointees */
};

enum sw_ptx_meaning { SW_PTX_UNDECLARED, SW_PTX_IS_FUNCTION, SW_PTX_IS_VARIABLE, SW_PTX_IS_ALIAS };

struct sw_ptx_module {
	struct sw_arena arena;
	const char *text, *end;
	uint32_t arch;
	struct sw_ptx_names names;
	SW_VEC(struct sw_ptx_named {
		uint8_t meaning; /* enum sw_ptx_meaning */
		uint32_t index;	 /* in functions or variables; the name that an alias stands for */
	})
	named; /* by number of the name */
	SW_VEC(struct sw_ptx_function) functions;
	SW_VEC(struct sw_ptx_variable) variables;
	SW_VEC(struct sw_ptx_formal) formals;
	SW_VEC(uint32_t) pointees; /* numbers of names */
};

/* Finds the thing that a name of the module stands for, through aliases. */
struct sw_ptx_named sw_ptx_module_find(const struct sw_ptx_module *module, const char *name, size_t n);
/* The function or variable that a name, by its number, stands for, through aliases. */
struct sw_ptx_named sw_ptx_module_meaning(const struct sw_ptx_module *module, uint32_t name);

#endif
