/* SPDX-License-Identifier: Apache-2.0 */
/* A fatbin of any bytes: every entry extracted, kernels of every kind of device listed. */
#include <stdlib.h>

#include "fuzz.h"
#include "image/image.h"

static int extract(void *arg, const struct sw_fatbin_entry *entry)
{
	struct sw_error error;
	void *content;
	size_t bytes;
	(void)arg;
	if (!sw_fatbin_extract(entry, &content, &bytes, &error))
		free(content);
	return 0;
}

static int nothing(void *arg, const struct sw_cubin_kernel *kernel)
{
	(void)arg;
	(void)kernel;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_error error;
	if (sw_fatbin_bytes(data, size) > size)
		abort();
	sw_fatbin_walk(data, size, extract, NULL, &error);
	sw_image_kernels(data, size, 0, nothing, NULL, &error);
	sw_image_kernels(data, size, 90, nothing, NULL, &error);
	return 0;
}
