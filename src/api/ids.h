/* SPDX-License-Identifier: Apache-2.0 */
/* The index of each entry point in the table, for code that is generated from it: SW_ID_cuMemAlloc_v2 and so on. */
#ifndef SW_API_IDS_H
#define SW_API_IDS_H

enum sw_api_id {
	SW_ID_NONE,
#define SW_CU_SYMBOL(symbol, ...)      SW_ID_##symbol,
#define SW_CU_PASS_SYMBOL(symbol, ...) SW_ID_##symbol,
#define SW_CU_WAY(symbol, ...)	       SW_ID_##symbol,
#include "api/cuda.def"
	SW_ID_COUNT
};

#endif
