/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table for coverage.sh and toolkits: symbol, class, runtime function, version that has it. */
#include <stdio.h>

#include "api/api.h"

int main(void)
{
	static const char *const classes[] = {
#define SW_API_CLASS_NAME(name, text) #name,
		SW_API_CLASSES(SW_API_CLASS_NAME)
#undef SW_API_CLASS_NAME
	};

	/* By the index of sw_api_at(). */
	static const unsigned since[] = {
		0,
#define SW_CU_SYMBOL(symbol, name, runtime, version, ...) version,
#define SW_CU_PASS_SYMBOL(symbol, name, version, ...)	  version,
#define SW_CU_WAY(symbol, name, version)		  version,
#include "api/cuda.def"
	};

	static const char *const records[] = {
		"-",
#define SW_CU_SYMBOL(symbol, name, runtime, version, cls, thread, form, where, record, ...) #record,
#define SW_CU_PASS_SYMBOL(symbol, ...)							    "-",
#define SW_CU_WAY(symbol, ...)								    "-",
#include "api/cuda.def"
	};

	for (size_t i = 1; i < sw_api_count(); i++) {
		const struct sw_api_info *info = sw_api_at(i);

		printf("%s %s %s %u %s\n", info->symbol, classes[info->cls], *info->runtime ? info->runtime : "-",
		       since[i], records[i]);
	}
	return 0;
}
