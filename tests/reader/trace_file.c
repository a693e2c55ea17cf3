/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/trace_file.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char path[64];

void fresh_path(void)
{
	strcpy(path, "/tmp/sw_trace_XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

void remove_path(void)
{
	unlink(path);
}

struct sw_reader *reader(void)
{
	struct sw_reader *r = NULL;
	struct sw_error error = {0};
	ck_assert_msg(!sw_reader_open(path, &r, &error), "%s", error.text);
	return r;
}

int open_code(struct sw_error *error)
{
	struct sw_reader *r = NULL;
	int rc = sw_reader_open(path, &r, error);
	ck_assert(rc < 0);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(rc, error->code);
	return rc;
}

struct sw_record until(struct sw_reader *r, uint8_t kind)
{
	struct sw_record rec;
	struct sw_error error = {0};
	int rc;
	while ((rc = sw_reader_next(r, &rec, &error)) == 1)
		if (rec.rec->kind == kind)
			return rec;
	ck_abort_msg("no %s record: %d %s", sw_record_kind_name(kind), rc, error.text);
}

size_t read_all(struct sw_reader *r)
{
	struct sw_record rec;
	struct sw_error error = {0};
	size_t n = 0;
	uint64_t seq = 0;
	int rc;
	while ((rc = sw_reader_next(r, &rec, &error)) == 1) {
		n++;
		if (rec.seq) {
			ck_assert_uint_gt(rec.seq, seq);
			seq = rec.seq;
		}
	}
	ck_assert_msg(!rc, "%s", error.text);
	return n;
}

void patch(uint64_t offset, const void *bytes, size_t n)
{
	int fd = open(path, O_RDWR);
	ck_assert_int_eq(pwrite(fd, bytes, n, (off_t)offset), (ssize_t)n);
	close(fd);
}

void cut(uint64_t bytes)
{
	ck_assert_int_eq(truncate(path, (off_t)bytes), 0);
}

bool damage_says(const struct sw_reader *r, const char *text)
{
	const char *line;
	for (size_t i = 0; (line = sw_reader_damage(r, i)); i++)
		if (strstr(line, text) && strstr(line, path) && strstr(line, "offset "))
			return true;
	return false;
}
