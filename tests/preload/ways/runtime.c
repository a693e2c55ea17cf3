/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

int runtime_allocate(size_t bytes);

int main(void)
{
	return runtime_allocate(666);
}
