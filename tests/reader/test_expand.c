/* SPDX-License-Identifier: Apache-2.0 */
/* Traces compressed with zstd read as the plain ones do; damaged frames are reported with their place. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "reader/packed.h"
#include "reader/reader.h"
#include "reader/trace_builder.h"
#include "../run_suite.h"

#define CALLS 5000

static char path[64];

static void put(const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

/* A plain trace at `path`; its bytes are the caller's to free. */
static void *plain(size_t *n)
{
	strcpy(path, "/tmp/test_expand_XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	unlink(path);
	close(fd);
	struct tb *tb = tb_new(path, NULL);
	tb_alloc(tb, SW_MEM_DEVICE, 0x7f0000000000, 4096);
	for (int i = 0; i < CALLS; i++)
		tb_copy(tb, 0x7f0000000000, SW_SIDE_DEVICE, 0x7f0000000800, SW_SIDE_DEVICE, 64, 0);
	tb_close(tb, true);
	struct stat st;
	fd = open(path, O_RDONLY);
	ck_assert(!fstat(fd, &st));
	void *bytes = malloc((size_t)st.st_size);
	ck_assert_int_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*n = (size_t)st.st_size;
	return bytes;
}

/* Compresses the trace at `path` in place, with a checksum as zstd(1) does. Returns its new size. */
static size_t compress(const void *bytes, size_t n)
{
	size_t room = ZSTD_compressBound(n);
	void *packed = malloc(room);
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	size_t got = ZSTD_compress2(context, packed, room, bytes, n);
	ck_assert(!ZSTD_isError(got));
	ZSTD_freeCCtx(context);
	put(packed, got);
	free(packed);
	return got;
}

static size_t copies(struct sw_reader *r)
{
	struct sw_record rec;
	struct sw_error error;
	size_t n = 0;
	while (sw_reader_next(r, &rec, &error) == 1)
		n += rec.rec->kind == SW_REC_COPY;
	return n;
}

START_TEST(a_compressed_trace_reads_as_the_plain_one)
{
	size_t n;
	struct sw_reader *r = NULL;
	struct sw_error error = {0};
	void *bytes = plain(&n);
	size_t packed = compress(bytes, n);
	ck_assert_uint_lt(packed, n / 2);
	ck_assert_msg(!sw_reader_open(path, &r, &error), "%s", error.text);
	ck_assert_uint_eq(copies(r), CALLS);
	ck_assert(sw_reader_totals(r).closed);
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	sw_reader_close(r);
	unlink(path);
	free(bytes);
}
END_TEST

START_TEST(a_frame_cut_short_yields_what_is_whole)
{
	size_t n;
	struct sw_reader *r = NULL;
	struct sw_error error = {0};
	void *bytes = plain(&n);
	size_t packed = compress(bytes, n);
	ck_assert(!truncate(path, (off_t)(packed - packed / 4)));
	int rc = sw_reader_open(path, &r, &error);
	if (!rc) { /* the header came out: so did whole chunks, or damage is reported */
		size_t got = copies(r);
		ck_assert(got == CALLS || sw_reader_damage(r, 0) || !sw_reader_totals(r).closed);
		ck_assert_uint_le(got, CALLS);
		sw_reader_close(r);
	} else {
		ck_assert_int_eq(rc, SW_E_FORMAT);
	}
	unlink(path);
	free(bytes);
}
END_TEST

/* Compresses a trace header and `zeros` bytes after it; header NULL: zeros only. */
static void bomb(const void *header, size_t header_bytes, uint64_t zeros)
{
	static const char block[1 << 20];
	static char packed[1 << 16];
	int fd = open(path, O_WRONLY | O_TRUNC);
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = {header, header_bytes, 0};
	while (in.pos < in.size || zeros) {
		if (in.pos == in.size) {
			in = (ZSTD_inBuffer){block, zeros < sizeof block ? zeros : sizeof block, 0};
			zeros -= in.size;
		}
		ZSTD_outBuffer out = {packed, sizeof packed, 0};
		ck_assert(!ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
		ck_assert_int_eq(write(fd, packed, out.pos), (ssize_t)out.pos);
	}
	size_t left;
	do {
		ZSTD_outBuffer out = {packed, sizeof packed, 0};
		left = ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
		ck_assert_int_eq(write(fd, packed, out.pos), (ssize_t)out.pos);
	} while (left);
	ZSTD_freeCCtx(context);
	close(fd);
}

/* How far the file at `path` is expanded, and what that takes on disk. */
static struct stat expanded(void)
{
	struct sw_error error;
	struct stat s;
	int fd = open(path, O_RDONLY), out = sw_expand(fd, path, &error);
	ck_assert_msg(out >= 0, "%s", error.text);
	ck_assert(!fstat(out, &s));
	close(out);
	close(fd);
	return s;
}

/* The work is bounded by what a reader could use, however much would come out. */
START_TEST(a_bomb_costs_little)
{
	size_t n;
	struct sw_error error;
	struct sw_reader *r;
	struct sw_file_header *header = plain(&n);
	bomb(NULL, 0, 8ull << 30);
	ck_assert_int_lt(expanded().st_size, 8 << 20);
	ck_assert_int_eq(sw_reader_open(path, &r, &error), SW_E_FORMAT);
	/* a trace that announces few chunks, and one that announces all that there is */
	header->chunks = 2;
	bomb(header, header->header_bytes, 8ull << 30);
	ck_assert_int_lt(expanded().st_size,
			 (off_t)(header->header_bytes + 64ull * header->chunk_bytes + (512u << 10)));
	header->chunks = UINT64_MAX;
	bomb(header, header->header_bytes, 8ull << 30);
	struct stat s = expanded();
	ck_assert_int_lt(s.st_size, 600 << 20);
	ck_assert_int_lt(s.st_blocks * 512, 1 << 20);
	ck_assert_msg(!sw_reader_open(path, &r, &error), "%s", error.text);
	ck_assert_uint_eq(copies(r), 0);
	ck_assert_ptr_nonnull(sw_reader_damage(r, 0));
	sw_reader_close(r);
	unlink(path);
	free(header);
}
END_TEST

/* A chunk of the trace far out in a file of holes is found, and no time is spent on the way. */
START_TEST(holes_cost_nothing)
{
	size_t n;
	struct sw_error error;
	struct sw_reader *r;
	struct sw_file_header *header = plain(&n);
	const uint64_t far = header->header_bytes + (1ull << 24) * header->chunk_bytes;
	put(header, n);
	int fd = open(path, O_WRONLY);
	if (ftruncate(fd, (off_t)far)) { /* file systems with smaller files */
		close(fd);
		unlink(path);
		free(header);
		return;
	}
	close(fd);
	ck_assert_msg(!sw_reader_open(path, &r, &error), "%s", error.text);
	ck_assert_uint_eq(copies(r), CALLS);
	sw_reader_close(r);
	unlink(path);
	free(header);
}
END_TEST

START_TEST(a_damaged_frame_is_told_with_its_place)
{
	size_t n;
	struct sw_reader *r = NULL;
	struct sw_error error = {0};
	void *bytes = plain(&n);
	size_t packed = compress(bytes, n);
	int fd = open(path, O_RDWR);
	char flipped[64];
	memset(flipped, 0xff, sizeof flipped);
	ck_assert_int_eq(pwrite(fd, flipped, sizeof flipped, (off_t)(packed / 2)), sizeof flipped);
	close(fd);
	ck_assert_int_eq(sw_reader_open(path, &r, &error), SW_E_FORMAT);
	ck_assert_msg(strstr(error.text, path) && strstr(error.text, "offset "), "%s", error.text);
	unlink(path);
	free(bytes);
}
END_TEST

START_TEST(something_else_compressed_is_no_trace)
{
	static const char text[] = "this was never a trace";
	size_t n;
	struct sw_reader *r = NULL;
	struct sw_error error = {0};
	free(plain(&n));
	compress(text, sizeof text);
	ck_assert_int_eq(sw_reader_open(path, &r, &error), SW_E_FORMAT);
	ck_assert_msg(strstr(error.text, "not a syncwatch trace"), "%s", error.text);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("expand");
	TCase *t = tcase_create("expand");
	tcase_add_test(t, a_compressed_trace_reads_as_the_plain_one);
	tcase_add_test(t, a_bomb_costs_little);
	tcase_add_test(t, holes_cost_nothing);
	tcase_add_test(t, a_frame_cut_short_yields_what_is_whole);
	tcase_add_test(t, a_damaged_frame_is_told_with_its_place);
	tcase_add_test(t, something_else_compressed_is_no_trace);
	suite_add_tcase(s, t);
	return run_suite(s);
}
