/* SPDX-License-Identifier: Apache-2.0 */
/* A table of calibrate of any bytes: what is read can be written, and says the same when it is read again. */
#include <stdlib.h>
#include <string.h>

#include "detect/behaviour/behaviour.h"
#include "fuzz.h"

static int read_bytes(struct sw_behaviour *table, const void *data, size_t size)
{
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	struct sw_error error;
	if (!in)
		abort();
	int rc = sw_behaviour_read(table, in, "table", &error);
	fclose(in);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sw_behaviour table, again;
	char *text = NULL;
	size_t bytes;
	if (!size || read_bytes(&table, data, size))
		return 0;
	FILE *out = open_memstream(&text, &bytes);
	sw_behaviour_write(&table, out);
	fclose(out);
	if (read_bytes(&again, text, bytes) || again.rows.n != table.rows.n || strcmp(again.gpu, table.gpu) != 0)
		abort();
	for (size_t i = 0; i < table.rows.n; i++)
		if (memcmp(&table.rows.at[i], &again.rows.at[i], sizeof table.rows.at[i]) != 0)
			abort();
	free(text);
	sw_behaviour_free(&table);
	sw_behaviour_free(&again);
	return 0;
}
