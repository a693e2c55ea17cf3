/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/module_variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* From one variable whose address was not taken to the next; of one whose size is not known. */
#define SW_VARIABLE_STRIDE (1ull << 32)
#define SW_MAX_VARIABLES   65536u

struct sw_variables {
	struct sw_map images; /* module or library -> image */
	struct sw_map
		addresses;    /* context, image and name -> address; image 0: of a module whose load was not recorded */
	struct sw_map placed; /* the same -> address that stands for it */
	uint64_t epoch;	      /* grows with what is known */
	uint64_t made;
};

struct sw_variables *sw_variables_new(void)
{
	return sw_calloc(1, sizeof(struct sw_variables));
}

static uint64_t key_of(const struct sw_variable_key *key, uint32_t image, uint8_t ctx)
{
	return sw_hash_bytes(sw_hash_u64((uint64_t)image << 8 | ctx), key->name, key->bytes);
}

void sw_variables_loaded(struct sw_variables *variables, uint64_t module, uint32_t image)
{
	if (image)
		*sw_map_put(&variables->images, module) = image;
}

uint32_t sw_variables_image(const struct sw_variables *variables, uint64_t owner)
{
	return (uint32_t)sw_map_get(&variables->images, owner);
}

struct sw_block *sw_variables_asked(struct sw_variables *variables, struct sw_address_space *space,
				    const struct sw_variable_key *key, struct sw_block *asked, uint64_t address)
{
	uint64_t hash = key_of(key, key->image, key->ctx), offset, placed;
	uint64_t *known = sw_map_put(&variables->addresses, hash);
	variables->epoch += *known != address;
	*known = address;
	placed = sw_map_get(&variables->placed, key_of(key, key->image, asked->ctx));
	struct sw_block *block = placed ? sw_space_find_outer(space, placed, &offset) : NULL;
	if (!block || block == asked)
		return asked;
	sw_space_settle(space, block, asked);
	return block;
}

/* The address that the program took, 0: none. */
static uint64_t recorded_address(const struct sw_variables *variables, const struct sw_variable_key *key, uint64_t hash)
{
	uint64_t address = sw_map_get(&variables->addresses, hash);
	return address ? address : sw_map_get(&variables->addresses, key_of(key, key->image, 0));
}

uint64_t sw_variables_find(struct sw_variables *variables, struct sw_address_space *space,
			   const struct sw_variable_key *key, uint64_t size, struct sw_block **made)
{
	uint64_t hash = key_of(key, key->image, key->ctx), address = recorded_address(variables, key, hash);
	*made = NULL;
	if (address || !key->image)
		return address;
	if (sw_map_get(&variables->addresses, key_of(key, 0, key->ctx)))
		return 0; /* of a module that was not seen to be loaded, perhaps this one */
	uint64_t *placed = sw_map_put(&variables->placed, hash);
	if (*placed || variables->made == SW_MAX_VARIABLES)
		return *placed;
	if (!size || size > SW_VARIABLE_STRIDE)
		size = SW_VARIABLE_STRIDE;
	*placed = SW_NOWHERE + variables->made++ * SW_VARIABLE_STRIDE;
	*made = sw_space_add_nowhere(space, *placed, size);
	return *placed;
}

void sw_variables_free(struct sw_variables *variables)
{
	sw_map_free(&variables->images);
	sw_map_free(&variables->addresses);
	sw_map_free(&variables->placed);
	free(variables);
}

uint64_t sw_variables_epoch(const struct sw_variables *variables)
{
	return variables->epoch;
}
