/* SPDX-License-Identifier: Apache-2.0 */
/* The table of entry points as data. */
#include "api/api.h"

#include <string.h>

#define SW_API_THREAD_LEGACY     false
#define SW_API_THREAD_PER_THREAD true

static const struct sw_api_info entries[] = {
	{ "", "", "", SW_API_PASS, false },
#define SW_CU(symbol, name, runtime, cls, thread, form, where, record, fill, signature)                                \
	{ #symbol, name, runtime, SW_API_##cls, SW_API_THREAD_##thread },
#define SW_CU_PASS(symbol, name, thread) { #symbol, name, "", SW_API_PASS, SW_API_THREAD_##thread },
#define SW_CU_WAY(symbol, name)          { #symbol, name, "", SW_API_PASS, false },
#include "api/cuda.def"
};

size_t sw_api_count(void)
{
	return sizeof entries / sizeof *entries;
}

const struct sw_api_info *sw_api_at(size_t index)
{
	return &entries[index < sw_api_count() ? index : 0];
}

size_t sw_api_find(const char *symbol)
{
	size_t low = 1, high = sw_api_count();

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(symbol, entries[middle].symbol);

		if (order == 0)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}
