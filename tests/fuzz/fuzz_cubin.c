/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin of any bytes. */
#include "fuzz.h"
#include "touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_error error;
	uint32_t arch;
	sw_cubin_walk(data, size, &arch, touch_kernel, NULL, &error);
	return 0;
}
