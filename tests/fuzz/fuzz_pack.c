/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole trace file of any bytes, packed: it is judged as before, and packing it again changes nothing.  The latter
 * not where it held records of packing before, of which any bytes may be left.
 */
#include <string.h>

#include "detect/detect.h"
#include "fuzz.h"
#include "memory_file.h"
#include "pack/pack.h"

struct bytes {
	char *at;
	size_t n;
};

static bool pack(const void *data, size_t size, struct bytes *out)
{
	struct sw_pack_options options = {.version = "fuzz"};
	struct sw_pack_sums sums;
	struct sw_error error;
	char path[32];
	int fd = memory_file(data, size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	FILE *file = open_memstream(&out->at, &out->n);
	int rc = sw_pack(path, &options, file, &sums, &error);
	fclose(file);
	close(fd);
	sw_pack_sums_free(&sums);
	return !rc;
}

static struct sw_judgement *judge(const void *data, size_t size, struct sw_reader **reader)
{
	struct sw_judgement *judgement;
	struct sw_error error;
	*reader = reader_of(data, size);
	if (!*reader ||
	    sw_judge(*reader, &(struct sw_judge_options){.keep_possible = true, .threads = 1}, &judgement, &error))
		abort(); /* what was packed can be read */
	return judgement;
}

static void compare(const void *data, size_t size, const struct bytes *packed)
{
	struct sw_reader *a, *b;
	struct sw_judgement *before = judge(data, size, &a), *after = judge(packed->at, packed->n, &b);
	if (before->findings.n != after->findings.n ||
	    memcmp(&before->coverage, &after->coverage, sizeof before->coverage))
		abort();
	for (size_t i = 0; i < before->findings.n; i++)
		if (before->findings.at[i].id != after->findings.at[i].id ||
		    before->findings.at[i].confidence != after->findings.at[i].confidence)
			abort();
	sw_judgement_free(before);
	sw_judgement_free(after);
	sw_reader_close(a);
	sw_reader_close(b);
}

static bool was_packed(const void *data, size_t size)
{
	struct sw_reader *reader = reader_of(data, size);
	struct sw_record record;
	struct sw_error error;
	bool packed = false;
	while (reader && !packed && sw_reader_next(reader, &record, &error) == 1)
		packed = record.rec->kind >= SW_REC_PACK && record.rec->kind <= SW_REC_PACK_TABLE;
	packed = packed || (reader && sw_reader_packer(reader));
	sw_reader_close(reader);
	return packed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes once = {0}, twice = {0};
	uint8_t *open = without_checksums(data, size);
	if (pack(open, size, &once)) {
		compare(open, size, &once);
		const bool again = pack(once.at, once.n, &twice);
		if (!again || (!was_packed(open, size) && (once.n != twice.n || memcmp(once.at, twice.at, once.n))))
			abort();
	}
	free(open);
	free(once.at);
	free(twice.at);
	return 0;
}
