/* SPDX-License-Identifier: Apache-2.0 */
/* Moves parameters from where the driver has them to where the analysed code has them. */
#include <string.h>

#include "footprint/footprint.h"

static bool param_fits(size_t bytes, const struct sw_param *p)
{
	return p->offset <= bytes && p->bytes <= bytes - p->offset;
}

bool sw_footprint_place_params(const struct sw_footprint *footprint, const struct sw_param *from, const void *block,
			       size_t bytes, void *out)
{
	bool whole = true;
	memset(out, 0, footprint->param_bytes);
	for (uint32_t i = 0; i < footprint->params; i++) {
		const struct sw_param *to = &footprint->param[i];
		bool there = from[i].bytes == to->bytes && param_fits(bytes, &from[i]) &&
			     param_fits(footprint->param_bytes, to);
		whole &= there;
		if (there && to->bytes)
			memcpy((unsigned char *)out + to->offset, (const unsigned char *)block + from[i].offset,
			       to->bytes);
	}
	return whole;
}
