/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

void early_use(void);

int main(void)
{
	early_use();
	puts("done");
	return 3;
}
