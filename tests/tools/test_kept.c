/* SPDX-License-Identifier: Apache-2.0 */
/* A trace whose first chunks were dropped: readers take it, and it says nothing false of the time before. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "detect/detect.h"
#include "../preload/launch_sequence.h"
#include "reader/trace_builder.h"
#include "run/kept.h"
#include "../run_suite.h"

#define DEV  0x7f0000000000ull
#define TEMP 0x7f4000000000ull
#define PIN  0x7e0000000000ull
#define S1   0xa0ull
#define S2   0xb0ull
#define E1   0xe10ull
#define E2   0xe20ull

static char build[4096]; /* the folder that programs of the tests are in */
static uint64_t state;

static uint64_t below(uint64_t n)
{
	state = sw_hash_u64(state + 1);
	return state % n;
}

/* ---- a trace cut into its chunks --------------------------------------------------------------------------------- */

struct cut_trace {
	unsigned char *file;
	struct sw_file_header header;
	size_t chunks;
	uint64_t *order; /* chunks by their first number */
};

static const struct sw_chunk_header *chunk_of(const struct cut_trace *t, uint64_t number)
{
	return (const void *)(t->file + t->header.header_bytes + number * t->header.chunk_bytes);
}

static const struct cut_trace *sorted;

static int by_number(const void *a, const void *b)
{
	const struct sw_chunk_header *x = chunk_of(sorted, *(const uint64_t *)a),
				     *y = chunk_of(sorted, *(const uint64_t *)b);
	return x->first_seq < y->first_seq ? -1 : x->first_seq > y->first_seq;
}

static struct cut_trace load(const char *path)
{
	struct cut_trace t = {0};
	struct stat s;
	const int fd = open(path, O_RDONLY);
	ck_assert(fd >= 0 && fstat(fd, &s) == 0);
	t.file = calloc(1, (size_t)s.st_size + 65536);
	ck_assert_int_eq(read(fd, t.file, (size_t)s.st_size), s.st_size);
	close(fd);
	memcpy(&t.header, t.file, sizeof t.header);
	t.chunks = ((size_t)s.st_size - t.header.header_bytes) / t.header.chunk_bytes;
	t.order = calloc(t.chunks + 1, sizeof *t.order);
	for (size_t i = 0; i < t.chunks; i++)
		t.order[i] = i;
	sorted = &t;
	qsort(t.order, t.chunks, sizeof *t.order, by_number);
	return t;
}

static bool read_chunk(void *arg, uint64_t place, void *records, uint32_t *bytes, uint32_t room)
{
	const struct sw_chunk_header *h = chunk_of(arg, place);
	if (h->magic != SW_FORMAT_CHUNK_MAGIC || h->committed > room)
		return false;
	memcpy(records, h + 1, h->committed);
	*bytes = h->committed;
	return true;
}

/* Drops the first chunks of `path`, writes what is left to `to`; returns the bytes that were kept of them. */
static uint64_t cut(const char *path, const char *to, size_t dropped)
{
	struct cut_trace t = load(path);
	struct sw_kept *kept = sw_kept_new();
	struct sw_window window = {.read = read_chunk, .arg = &t};
	ck_assert_uint_lt(dropped, t.chunks);
	for (size_t i = 0; i < dropped; i++) {
		const struct sw_chunk_header *h = chunk_of(&t, t.order[i]);
		sw_kept_drop(kept, h->writer, h + 1, h->committed);
	}
	const uint64_t bytes = sw_kept_bytes(kept);
	window.chunk = calloc(t.chunks + 1, sizeof *window.chunk);
	for (size_t i = dropped; i < t.chunks; i++) {
		const struct sw_chunk_header *h = chunk_of(&t, t.order[i]);
		window.chunk[window.chunks++] = (struct sw_window_chunk){h->writer, h->index, t.order[i]};
	}
	const int fd = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_eq(sw_kept_write(kept, &t.header, &window, "what is left", fd), 0);
	close(fd);
	free(window.chunk);
	sw_kept_free(kept);
	free(t.order);
	free(t.file);
	return bytes;
}

static size_t chunks_in(const char *path)
{
	struct cut_trace t = load(path);
	const size_t n = t.chunks;
	free(t.order);
	free(t.file);
	return n;
}

static struct sw_judgement *judge_file(const char *path, bool sound, uint64_t *launches)
{
	static const struct sw_judge_options all = {.keep_possible = true};
	struct sw_reader *reader;
	struct sw_record record;
	struct sw_judgement *j;
	struct sw_error error = {0};
	ck_assert_msg(!sw_reader_open(path, &reader, &error), "%s", error.text);
	*launches = 0;
	while (sw_reader_next(reader, &record, &error) == 1)
		if (record.rec->kind == SW_REC_LAUNCH) {
			const struct sw_rec_launch *l = (const void *)record.rec;
			ck_assert_msg(l->params == 0 || record.params, "the parameters of launch %lu are missing",
				      (unsigned long)record.seq);
			++*launches;
		}
	if (sound) {
		ck_assert_msg(!sw_reader_damage(reader, 0), "%s", sw_reader_damage(reader, 0));
		ck_assert_uint_eq(sw_reader_totals(reader).lost, 0);
	}
	sw_reader_close(reader);
	ck_assert_msg(!sw_reader_open(path, &reader, &error), "%s", error.text);
	ck_assert_msg(!sw_judge(reader, &all, &j, &error), "%s", error.text);
	sw_reader_close(reader);
	return j;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

enum shape { ORDERED, RACES };

static void step(struct tb *tb, const uint32_t *f, enum shape shape)
{
	const uint64_t stream = below(2) ? S1 : S2, event = below(2) ? E1 : E2, temp = TEMP + below(8) * 4096;
	/* Each call of a racing program has a place of its own, so that each race is a finding. */
	tb_stack(tb, 1, 0x1000 + (shape == RACES ? state >> 8 : below(40)));
	switch (below(10)) {
	case 0:
	case 1:
		tb_launch(tb, f[below(2)], stream, 2, DEV + below(16) * 256, DEV + below(300) * 64);
		break;
	case 2:
		tb_set(tb, DEV + below(64) * 64, 1 + below(512), stream);
		break;
	case 3:
		tb_event_record(tb, event, stream);
		break;
	case 4:
		tb_stream_wait(tb, stream, event);
		break;
	case 5:
		tb_copy(tb, PIN + below(4096), SW_SIDE_HOST, DEV + below(4096), SW_SIDE_DEVICE, 64, stream);
		break;
	case 6:
		tb_alloc(tb, SW_MEM_DEVICE, temp, 4096);
		tb_set(tb, temp, 64, stream);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		tb_free_sync(tb, SW_MEM_UNKNOWN, temp);
		break;
	case 7:
		tb_event_create(tb, 0x9000 + event);
		tb_event_destroy(tb, 0x9000 + event);
		break;
	case 8:
		tb_thread(tb, 1 + (uint32_t)below(3));
		break;
	default:
		tb_sync(tb, SW_SYNC_STREAM, stream);
	}
	if (shape == ORDERED)
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
}

static void make(const char *path, uint64_t seed, enum shape shape, unsigned steps)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 4096});
	state = seed << 32;
	tb_alloc(tb, SW_MEM_DEVICE, DEV, 1 << 20);
	tb_alloc(tb, SW_MEM_PINNED, PIN, 1 << 20);
	tb_stream_create(tb, S1, 1);
	tb_stream_create(tb, S2, 1);
	tb_event_create(tb, E1);
	tb_event_create(tb, E2);
	const uint32_t f[] = {tb_function(tb, "_Z3addPfPKf", 2, 8, 8), tb_function(tb, "plain", 2, 8, 8)};
	for (unsigned i = 0; i < steps; i++)
		step(tb, f, shape);
	tb_close(tb, true);
}

/* Where accesses of a kernel end is guessed from pointers of earlier launches: what is only possible may differ. */
static bool is_hazard(const struct sw_finding *f)
{
	return sw_finding_is(f->id, SW_FAMILY_HAZARD) && f->confidence != SW_POSSIBLE;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Ordered work stays ordered, wherever the cut is; the calls after the cut are all there. */
START_TEST(no_false_alarm)
{
	uint64_t launches = 0;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t all, left;
		make("whole.swt", seed, ORDERED, 600);
		sw_judgement_free(judge_file("whole.swt", true, &all));
		const size_t chunks = chunks_in("whole.swt");
		for (int i = 0; i < 4; i++) {
			cut("whole.swt", "cut.swt", 1 + below(chunks - 2));
			struct sw_judgement *j = judge_file("cut.swt", true, &left);
			for (size_t n = 0; n < j->findings.n; n++)
				ck_assert_msg(!is_hazard(&j->findings.at[n]), "seed %lu: SW%d", (unsigned long)seed,
					      j->findings.at[n].id);
			ck_assert_uint_lt(left, all);
			launches += left;
			sw_judgement_free(j);
		}
	}
	ck_assert_uint_gt(launches, 1000);
}
END_TEST

/* A racing program: no finding that the whole trace does not have, and its last races are found. */
START_TEST(same_findings)
{
	size_t found = 0;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t launches;
		make("whole.swt", seed, RACES, 600);
		struct sw_judgement *whole = judge_file("whole.swt", true, &launches);
		cut("whole.swt", "cut.swt", 1 + below(chunks_in("whole.swt") - 2));
		struct sw_judgement *left = judge_file("cut.swt", true, &launches);
		for (size_t i = 0; i < left->findings.n; i++) {
			const struct sw_finding *f = &left->findings.at[i];
			bool there = false;
			for (size_t n = 0; is_hazard(f) && n < whole->findings.n && !there; n++)
				there = whole->findings.at[n].id == f->id &&
					whole->findings.at[n].access[0]->seq == f->access[0]->seq &&
					whole->findings.at[n].access[1]->seq == f->access[1]->seq;
			ck_assert_msg(there || !is_hazard(f), "seed %lu: SW%d at %lu is new", (unsigned long)seed,
				      f->id, (unsigned long)f->access[0]->seq);
			found += is_hazard(f);
		}
		sw_judgement_free(whole);
		sw_judgement_free(left);
	}
	ck_assert_uint_gt(found, 20);
}
END_TEST

/* The size of the kept records does not grow with the number of those dropped. */
START_TEST(bounded)
{
	uint64_t few, many;
	make("whole.swt", 7, ORDERED, 3000);
	few = cut("whole.swt", "cut.swt", 60);
	make("whole.swt", 7, ORDERED, 30000);
	many = cut("whole.swt", "cut.swt", chunks_in("whole.swt") - 10);
	ck_assert_msg(many < few + 16384, "%lu bytes, then %lu", (unsigned long)few, (unsigned long)many);
}
END_TEST

/* The calls that made things which still live are known after the cut. */
START_TEST(lifecycle_stays)
{
	struct tb *tb = tb_new("whole.swt", &(struct tb_options){.chunk_bytes = 4096});
	uint64_t launches;
	tb_alloc(tb, SW_MEM_DEVICE, DEV, 1 << 20);
	tb_alloc(tb, SW_MEM_PINNED, PIN, 1 << 20);
	tb_stream_create(tb, S1, 1);
	tb_stream_create(tb, S2, 1);
	tb_name(tb, SW_NAME_STREAM, S1, 0, "copies");
	for (int i = 0; i < 400; i++)
		tb_set(tb, DEV, 64, S1);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_set(tb, DEV, 64, S1);
	if (_i == 0)
		tb_set(tb, DEV, 64, S2);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb->dur = 5000000;
	tb_copy(tb, PIN, SW_SIDE_HOST, DEV, SW_SIDE_DEVICE, 4096, S1);
	tb_close(tb, true);
	cut("whole.swt", "cut.swt", 3);
	struct sw_judgement *j = judge_file("cut.swt", true, &launches);
	size_t hazards = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		hazards += is_hazard(&j->findings.at[i]) && j->findings.at[i].severity == SW_ERROR;
	for (size_t i = 0; i < j->findings.n; i++)
		ck_assert_int_ne(j->findings.at[i].id, 302); /* it is known that the memory is pinned */
	ck_assert_uint_eq(hazards, _i == 0); /* known memory, two streams that do not wait for each other */
	sw_judgement_free(j);
}
END_TEST

/* The launches of the window as they were recorded, wherever it begins: many refer to launches and parameters of chunks
   that were dropped. */
START_TEST(launches_of_the_window)
{
	static struct launch_sequence sequence;
	struct sw_reader *reader;
	struct sw_record r;
	struct sw_error error = {0};
	char command[4200];
	uint64_t all, left;
	snprintf(command, sizeof command,
		 "SYNCWATCH_OPTIONS=trace=whole.swt:quiet:report=0:stacks=0 '%s/tests/preload/launch_program' %d 60000",
		 build, _i);
	ck_assert_int_eq(system(command), 0);
	sw_judgement_free(judge_file("whole.swt", true, &all));
	ck_assert_uint_eq(all, 60000);
	cut("whole.swt", "cut.swt", (size_t)_i * 3 + 1);
	sw_judgement_free(judge_file("cut.swt", true, &left));
	ck_assert(left > 5000 && left < all);
	memset(&sequence, 0, sizeof sequence);
	for (sequence.state = (uint64_t)_i; all > left; all--)
		next_launch(&sequence);
	ck_assert_int_eq(sw_reader_open("cut.swt", &reader, &error), 0);
	while (sw_reader_next(reader, &r, &error) == 1) {
		const struct made_launch *e;
		if (r.rec->kind != SW_REC_LAUNCH)
			continue;
		e = next_launch(&sequence);
		left--;
		ck_assert_uint_eq(((const struct sw_rec_launch *)(const void *)r.rec)->function, e->launch.function);
		ck_assert_uint_eq(r.params ? r.param_bytes : 0, e->bytes);
		ck_assert_int_eq(memcmp(e->bytes ? r.params : e->block, e->block, e->bytes), 0);
	}
	ck_assert_uint_eq(left, 0);
	sw_reader_close(reader);
}
END_TEST

/* The chunks are the program's: anything may stand in them. */
START_TEST(hostile_chunks)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		make("whole.swt", seed, RACES, 300);
		const int fd = open("whole.swt", O_RDWR);
		const off_t size = lseek(fd, 0, SEEK_END);
		for (int i = 0; i < 20; i++) {
			const uint8_t byte = (uint8_t)below(256);
			const off_t at = SW_FORMAT_HEADER_BYTES + (off_t)below((uint64_t)size - SW_FORMAT_HEADER_BYTES);
			/* Not in the header of a chunk: which are there is what the caller says. */
			if ((at - SW_FORMAT_HEADER_BYTES) % 4096 >= (off_t)sizeof(struct sw_chunk_header))
				ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		}
		close(fd);
		cut("whole.swt", "cut.swt", 1 + below(chunks_in("whole.swt") - 2));
		struct sw_reader *reader;
		struct sw_record record;
		struct sw_error error;
		ck_assert_int_eq(sw_reader_open("cut.swt", &reader, &error), 0);
		while (sw_reader_next(reader, &record, &error) == 1)
			;
		sw_reader_close(reader);
	}
}
END_TEST

static char directory[] = "/tmp/syncwatch-kept-XXXXXX";

static void enter(void)
{
	ck_assert_ptr_nonnull(getcwd(build, sizeof build));
	strcpy(directory, "/tmp/syncwatch-kept-XXXXXX");
	ck_assert(mkdtemp(directory) && chdir(directory) == 0);
}

static void leave(void)
{
	unlink("whole.swt");
	unlink("cut.swt");
	ck_assert(chdir("/") == 0 && rmdir(directory) == 0);
}

int main(void)
{
	Suite *suite = suite_create("kept");
	TCase *tc = tcase_create("kept");
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, no_false_alarm);
	tcase_add_test(tc, same_findings);
	tcase_add_test(tc, bounded);
	tcase_add_loop_test(tc, lifecycle_stays, 0, 2);
	tcase_add_loop_test(tc, launches_of_the_window, 0, 4);
	tcase_add_test(tc, hostile_chunks);
	return run_suite(suite);
}
