/* SPDX-License-Identifier: Apache-2.0 */
/* Stored footprints of any bytes: what passes the check is evaluated, printed and packed again. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/footprint.h"

static uint64_t symbol(void *arg, const char *name)
{
	(void)arg;
	return name[0] ? 0x7f0000000000 : 0;
}

static void use(const struct sw_footprint *f)
{
	unsigned char block[256];
	char text[200];
	struct sw_reaches reaches = {0};
	for (size_t i = 0; i < sizeof block; i++)
		block[i] = (unsigned char)(i * 37);
	struct sw_geometry geometry = {.grid = {70000, 3, 2},
				       .block = {32, 4, 1},
				       .cluster = 2,
				       .shared_bytes = 1024,
				       .params = block,
				       .param_bytes = sizeof block,
				       .symbol = symbol};
	sw_footprint_evaluate(f, &geometry, &reaches);
	sw_footprint_directions(f, &reaches);
	for (uint32_t i = 0; i < f->sites && i < 100; i++) {
		sw_footprint_address_text(f, i, text, sizeof text);
		sw_footprint_facts_text(f, i, text, sizeof text);
	}
	free(reaches.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_footprint *f, *again;
	struct sw_error error;
	void *packed;
	size_t bytes;
	if (sw_footprint_unpack(data, size, &f, &error))
		return 0;
	use(f);
	sw_footprint_pack(f, &packed, &bytes);
	if (sw_footprint_unpack(packed, bytes, &again, &error))
		abort(); /* what was good once is good again */
	sw_footprint_free(again);
	sw_footprint_free(f);
	free(packed);
	return 0;
}
