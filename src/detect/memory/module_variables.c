/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/module_variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

struct sw_variables {
	struct sw_map images;	 /* module or library -> image */
	struct sw_map addresses; /* context, image and name -> address */
	uint64_t epoch;		 /* grows with what is known */
};

struct sw_variables *sw_variables_new(void)
{
	return sw_calloc(1, sizeof(struct sw_variables));
}

static uint64_t key_of(uint8_t ctx, uint64_t image, const char *name, size_t bytes)
{
	return sw_hash_bytes(sw_hash_u64(image << 8 | ctx), name, bytes);
}

void sw_variables_loaded(struct sw_variables *variables, uint64_t module, uint32_t image)
{
	if (image)
		*sw_map_put(&variables->images, module) = image;
}

void sw_variables_add(struct sw_variables *variables, uint8_t ctx, uint64_t module, const char *name, size_t bytes,
		      uint64_t address)
{
	uint64_t image = sw_map_get(&variables->images, module);
	if (!image)
		return;
	uint64_t *known = sw_map_put(&variables->addresses, key_of(ctx, image, name, bytes));
	variables->epoch += *known != address;
	*known = address;
}

uint64_t sw_variables_find(const struct sw_variables *variables, uint8_t ctx, uint32_t image, const char *name)
{
	return sw_map_get(&variables->addresses, key_of(ctx, image, name, strlen(name)));
}

void sw_variables_free(struct sw_variables *variables)
{
	sw_map_free(&variables->images);
	sw_map_free(&variables->addresses);
	free(variables);
}

uint64_t sw_variables_epoch(const struct sw_variables *variables)
{
	return variables->epoch;
}
