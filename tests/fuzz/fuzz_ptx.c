/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text of any bytes. */
#include "fuzz.h"
#include "touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_error error;
	sw_image_kind_of(data, size);
	sw_ptx_walk((const char *)data, size, touch_kernel, NULL, &error);
	return 0;
}
