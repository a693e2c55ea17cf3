/* SPDX-License-Identifier: Apache-2.0 */
/* The table of entry points as data. */
#include "api/api.h"

#define SW_API_THREAD_LEGACY	 false
#define SW_API_THREAD_PER_THREAD true

static const struct sw_api_info entries[] = {
	{"", "", "", SW_API_PASS, false},
#define SW_CU_SYMBOL(symbol, name, runtime, since, cls, thread, form, where, record, fill, signature)                  \
	{#symbol, name, runtime, SW_API_##cls, SW_API_THREAD_##thread},
#define SW_CU_PASS_SYMBOL(symbol, name, since, thread) {#symbol, name, "", SW_API_PASS, SW_API_THREAD_##thread},
#define SW_CU_WAY(symbol, name, since)		       {#symbol, name, "", SW_API_PASS, false},
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
