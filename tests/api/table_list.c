/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table for coverage.sh: symbol, class, runtime function. */
#include <stdio.h>

#include "api/api.h"

int main(void)
{
	static const char *const classes[] = {
#define SW_API_CLASS_NAME(name, text) #name,
		SW_API_CLASSES(SW_API_CLASS_NAME)
#undef SW_API_CLASS_NAME
	};

	for (size_t i = 1; i < sw_api_count(); i++) {
		const struct sw_api_info *info = sw_api_at(i);

		printf("%s %s %s\n", info->symbol, classes[info->cls], *info->runtime ? info->runtime : "-");
	}
	return 0;
}
