/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module variables: memory with an identity of its own, (context, image, name).
 *
 * Kernels use them without any address, so the first kernel that does makes the variable: a block at an address that no
 * memory has.  When the program asks for the real address (cudaGetSymbolAddress, copies to and from symbols) the block
 * has both, and an access by either meets the same uses, earlier ones included.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_MODULE_VARIABLES_H
#define SW_DETECT_MEMORY_MODULE_VARIABLES_H

#include "detect/memory/address_space.h"

/* One of them, as code names it. */
struct sw_variable_key {
	uint32_t image;
	uint8_t ctx;
	const char *name; /* mangled, `bytes` long */
	size_t bytes;
};

struct sw_variables;
struct sw_variables *sw_variables_new(void);
void sw_variables_free(struct sw_variables *variables);
/* Incremented whenever a variable becomes known. */
uint64_t sw_variables_epoch(const struct sw_variables *variables);
void sw_variables_loaded(struct sw_variables *variables, uint64_t module, uint32_t image);
/* The program asked a module or library where the variable is (key->image 0: one whose image is not known; key->ctx 0:
   the variable is there for all contexts): `asked` is the block that was made for the answer.  Returns the block that
   is the variable from then on. */
struct sw_block *sw_variables_asked(struct sw_variables *variables, struct sw_address_space *space,
				    const struct sw_variable_key *key, struct sw_block *asked, uint64_t address);
/* The image of a module or library, 0 not known. */
uint32_t sw_variables_image(const struct sw_variables *variables, uint64_t owner);
/* Where a kernel's variable is.  One whose address the program did not take is made, of `size` bytes (0: not known):
 *made is its block, else NULL.  0: it cannot be distinguished from others of its name. */
uint64_t sw_variables_find(struct sw_variables *variables, struct sw_address_space *space,
			   const struct sw_variable_key *key, uint64_t size, struct sw_block **made);

#endif
