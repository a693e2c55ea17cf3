/* SPDX-License-Identifier: Apache-2.0 */
/* Reads everything that a kernel's description points to, so that the sanitizers see what a caller would see. */
#ifndef TESTS_FUZZ_TOUCH_H
#define TESTS_FUZZ_TOUCH_H

#include <string.h>

#include "image/image.h"

static volatile unsigned touched; /* so that the reads are not optimised away */

static inline int touch_kernel(void *arg, const struct sw_cubin_kernel *k)
{
	unsigned sum = (unsigned)strlen(k->name);
	(void)arg;
	for (uint32_t i = 0; i < k->params; i++)
		sum += k->param[i].offset + k->param[i].bytes;
	for (size_t i = 0; i < k->code_bytes; i += 64)
		sum += ((const unsigned char *)k->code)[i];
	touched = sum;
	return 0;
}

#endif
