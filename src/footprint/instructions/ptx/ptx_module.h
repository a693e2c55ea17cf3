/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of a module of PTX outside its functions' bodies: made once, then only read (by any number of
   threads). */
#ifndef SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_MODULE_H
#define SW_FOOTPRINT_INSTRUCTIONS_PTX_PTX_MODULE_H

#include "footprint/code.h"
#include "footprint/instructions/ptx/ptx_declare.h"
#include "footprint/instructions/ptx/ptx_names.h"

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
struct sw_ptx_named sw_ptx_module_meaning(const struct sw_ptx_module *module, uint32_t name);

#endif
