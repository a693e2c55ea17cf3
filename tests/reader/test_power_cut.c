/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a power cut leaves of a trace: any of its pages may be as they were before, and the file may be shorter.  No
 * record comes out that was not made, and where one is missing the reader says so: by damage, by a loss, or by the
 * missing end.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/reader.h"
#include "reader/trace_builder.h"
#include "../run_suite.h"

#define PAGE	4096u
#define CHUNK	(4 * PAGE)
#define CUTS	300u
#define RECORDS 3000u
#define WRITERS 3u

static char path[64];
static struct sw_rec_event_record made[RECORDS * 2]; /* by sequence number */
static unsigned char *whole;
static size_t whole_bytes;

static uint64_t random_state;

static unsigned below(unsigned n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % n;
}

/* Reads all; calls visit for each EVENT_RECORD. False: records are missing, and the reader says so. */
static bool read_trace(bool (*visit)(const struct sw_record *record))
{
	struct sw_reader *r = NULL;
	struct sw_error error = {0};
	struct sw_record record;
	int rc;
	if (sw_reader_open(path, &r, &error))
		return false; /* the first page is lost */
	while ((rc = sw_reader_next(r, &record, &error)) == 1)
		if (record.rec->kind == SW_REC_EVENT_RECORD)
			ck_assert(visit(&record));
	ck_assert_msg(!rc, "%s", error.text);
	const struct sw_trace_totals totals = sw_reader_totals(r);
	const bool complete = totals.closed && !totals.lost && !sw_reader_damage(r, 0);
	sw_reader_close(r);
	return complete;
}

static bool keep(const struct sw_record *record)
{
	made[record->seq] = *(const struct sw_rec_event_record *)record->rec;
	return true;
}

static uint64_t seen;

/* Compares a record with the one written, or, in a chunk without a checksum, one whose end lay on a page that is lost.
 */
static bool compare(const struct sw_record *record)
{
	const unsigned char *now = (const unsigned char *)record->rec,
			    *then = (const unsigned char *)&made[record->seq];
	size_t same = 0;
	if (record->seq)
		seen++;
	else
		same = 8; /* not even its number was written, nor anything after it */
	while (same < sizeof made[0] && now[same] == then[same])
		same++;
	for (size_t i = same; i < sizeof made[0]; i++)
		if (now[i])
			return false;
	return true;
}

static void make(bool ended)
{
	struct stat s;
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = CHUNK});
	for (uint32_t i = 0; i < RECORDS; i++) {
		tb_thread(tb, 1 + i % WRITERS);
		tb_event_record(tb, 1, i * 0x0101010101ull + 1);
	}
	tb_close(tb, ended);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert(fd >= 0 && !fstat(fd, &s));
	whole_bytes = (size_t)s.st_size;
	whole = malloc(whole_bytes);
	ck_assert_int_eq(read(fd, whole, whole_bytes), (ssize_t)whole_bytes);
	close(fd);
}

/* Some pages hold only what they held earlier: their first records, or nothing. */
static void cut_power(unsigned seed)
{
	unsigned char *left = malloc(whole_bytes);
	size_t bytes = whole_bytes;
	random_state = seed;
	memcpy(left, whole, bytes);
	for (size_t page = PAGE; page < bytes; page += PAGE)
		if (below(16) < seed % 8) {
			const size_t kept = below(2) ? 0 : below(PAGE / 8) * 8;
			memset(left + page + kept, 0, (bytes - page < PAGE ? bytes - page : PAGE) - kept);
		}
	if (below(4) == 0)
		bytes = below((unsigned)(bytes / PAGE)) * PAGE;
	struct sw_file_header *header = (void *)left;
	if (bytes >= PAGE && below(4) == 0) {
		header->flags &= ~(uint32_t)SW_FILE_CLOSED;
		header->chunks = below((unsigned)header->chunks + 1);
	}
	const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ck_assert_int_eq(write(fd, left, bytes), (ssize_t)bytes);
	close(fd);
	free(left);
}

START_TEST(what_a_power_cut_leaves)
{
	strcpy(path, "/tmp/test_power_cut_XXXXXX");
	close(mkstemp(path));
	make(_i);
	ck_assert(read_trace(keep) == (bool)_i);
	unsigned complete = 0, cut = 0;
	for (unsigned seed = 0; seed < CUTS; seed++) {
		cut_power(seed);
		seen = 0;
		const bool says_complete = read_trace(compare);
		ck_assert_msg(!says_complete || seen == RECORDS, "seed %u: %lu of %u records, and not a word", seed,
			      (unsigned long)seen, RECORDS);
		complete += says_complete;
		cut += seen < RECORDS;
	}
	ck_assert_uint_gt(cut, CUTS / 2);
	ck_assert(_i ? complete > 0 : complete == 0);
	free(whole);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("power cut");
	TCase *c = tcase_create("power cut");
	tcase_add_loop_test(c, what_a_power_cut_leaves, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
