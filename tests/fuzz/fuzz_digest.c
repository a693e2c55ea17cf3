/* SPDX-License-Identifier: Apache-2.0 */
/* A report as JSON of any bytes, as "syncwatch diff" reads it: compared with itself nothing is new, gone or changed. */
#include <stdlib.h>

#include "fuzz.h"
#include "report/diff/diff.h"

static int read_bytes(struct sw_digest *digest, const void *data, size_t size)
{
	FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
	struct sw_error error;
	if (!in)
		abort();
	int rc = sw_digest_read(digest, in, "report", &error);
	fclose(in);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct sw_digest a, b;
	struct sw_diff diff;
	if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
		abort();
	if (!size || read_bytes(&a, data, size))
		return 0;
	if (read_bytes(&b, data, size))
		abort();
	sw_diff_make(&diff, &a, &b, &b, 1);
	if (diff.count[SW_CHANGE_SAME] != diff.entries.n || diff.entries.n != a.findings.n || diff.new_errors)
		abort();
	sw_diff_text(&diff, nowhere, &(struct sw_diff_style){.colour = true, .all = true});
	sw_diff_json(&diff, nowhere);
	sw_diff_free(&diff);
	sw_digest_free(&a);
	sw_digest_free(&b);
	return 0;
}
