/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/launch_variables.h"

#include <string.h>

#include "base/hash.h"
#include "detect/memory/address_space.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "footprint/footprint.h"

uint64_t sw_variable_stand_in(void *arg, const char *name)
{
	(void)arg;
	return SW_NOWHERE + ((sw_hash_bytes(0, name, strlen(name)) & 0x7ff) << 36);
}

uint64_t sw_variable_address(struct sw_model *m, const struct sw_trace_function *function, const char *name,
			     uint64_t bytes)
{
	uint8_t ctx = m->record->rec->ctx, whole = m->context[ctx].whole;
	struct sw_variable_key key = {function->image, whole ? whole : ctx, name, strlen(name)};
	struct sw_block *made;
	if (!strncmp(name, ".nv.", 4))
		return 0;
	uint64_t address = sw_variables_find(m->variables, &m->space, &key, bytes, &made);
	if (made) {
		made->ctx = key.ctx;
		made->device = m->context[key.ctx].device;
		made->name = sw_model_name(m, name, key.bytes);
	}
	return address;
}

uint64_t sw_variable_byte(struct sw_model *m, const struct sw_trace_function *function,
			  const struct sw_footprint *footprint, uint64_t address)
{
	uint64_t found = 0;
	for (uint32_t i = 0; i < footprint->symbols; i++) {
		const struct sw_footprint_symbol *symbol = &footprint->symbol[i];
		const char *name = footprint->string + symbol->name;
		uint64_t offset = address - sw_variable_stand_in(NULL, name);
		if (offset >= symbol->bytes)
			continue;
		uint64_t at = sw_variable_address(m, function, name, symbol->bytes);
		if (!at || found) /* or two have one address */
			return 0;
		found = at + offset;
	}
	return found;
}
