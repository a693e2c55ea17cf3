/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name of any bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum sw_signature sig[8];
	char *name = malloc(size + 1);
	if (!name)
		abort();
	if (size)
		memcpy(name, data, size);
	name[size] = 0;
	size_t n = sw_signature_of(name, sig, 8);
	for (size_t i = 0; i < n && i < 8; i++)
		if (sig[i] > SW_SIG_UNKNOWN)
			abort();
	free(name);
	return 0;
}
