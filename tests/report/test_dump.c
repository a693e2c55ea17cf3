/* SPDX-License-Identifier: Apache-2.0 */
/* dump and stat over traces that hold every kind of record. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/kinds.h"
#include "reader/every_kind.h"
#include "reader/trace_file.h"
#include "report/listing/listing.h"
#include "../run_suite.h"

static char *dump(const char *kinds)
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct sw_error error;
	struct sw_reader *r = reader();
	ck_assert_int_eq(sw_dump(out, r, &(struct sw_dump_options){.kinds = kinds}, &error), 0);
	sw_reader_close(r);
	fclose(out);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;
	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static bool holds(const char *text, const char *what)
{
	if (!strstr(text, what))
		fprintf(stderr, "not there: %s\n", what);
	return strstr(text, what) != NULL;
}

START_TEST(every_record_is_one_line_with_its_fields)
{
	tb_every_kind(path, true);
	char *text = dump(NULL);
	struct sw_reader *r = reader();
	struct sw_record rec;
	struct sw_error error;
	size_t records = 0;
	bool seen[256] = {false};
	while (sw_reader_next(r, &rec, &error) == 1) {
		records++;
		seen[rec.rec->kind] = true;
	}
	sw_reader_close(r);
	seen[SW_REC_PAD] = seen[SW_REC_END] = true; /* the reader's own */
#define X(name, value, type, text) ck_assert_msg(seen[value], "no %s record in this test", #name);
	SW_RECORDS(X)
#undef X
	ck_assert_uint_eq(count(text, "\n"), records + 1);
	char head[64];
	snprintf(head, sizeof head, "TRACE version=%d.%d flags=CLOSED|GPU pid=1000 ", SW_FORMAT_MAJOR, SW_FORMAT_MINOR);
	ck_assert(!strncmp(text, head, strlen(head)));
	ck_assert(holds(text, " id=1 first_line=1 file=\"/src/train \\\"x\\\".py\" function=\"Trainer.step\"\n"));
	ck_assert(holds(text, " id=2 native=1 python_flags=0x0 frames="));
	ck_assert(holds(text, "\nMODULE seq="));
	ck_assert(holds(
		text, " build_id=abababababababababababababababababababab path=\"/usr/bin/a \\\"quoted\\\" name\"\n"));
	ck_assert(holds(text, " of=STREAM handle=0xa bytes=0 name=\"copy\\u000a\"\n"));
	ck_assert(holds(text, " exe=\"/usr/bin/app\" cwd=\"/home/user\" args=2 arg=\"app\",\"--fast\"\n"));
	ck_assert(holds(text, " op=BEGIN handle=0x1 result=0 arguments=0x1,0xd0000 name=\"cufftExecC2C\"\n"));
	ck_assert(holds(text, " ips=0x401000,0x402000\n"));
	ck_assert(holds(text, " params=0:8,8:4 name=\"_Z4stepPf\"\n"));
	ck_assert(holds(text, " grid=1x7x1 block=256x1x1 "));
	ck_assert(holds(text, " kernel=\"_Z4stepPf\" block_bytes=00000000007f00000500000000000000\n"));
	ck_assert_uint_eq(count(text, "block_bytes=00000000007f00000500000000000000\n"),
			  2); /* the second one by number */
	ck_assert(holds(text,
			" dst=0x1000 dst_side=HOST dst_ctx=0 src=0x7f0000000000 src_side=DEVICE src_ctx=0 bytes=64 "));
	ck_assert(holds(text, " flags=BEGIN|RUNTIME status=0 "));
	ck_assert(holds(text, " flags=END|RUNTIME status=0 "));
	ck_assert(holds(text, " what=STREAM handle=0xa "));
	ck_assert(holds(text, " arguments=0x0,0x0,0x0,0x0,0x0,0x66 driver=\"cuFutureCall\" runtime=\"\"\n"));
	ck_assert(holds(text, " status=719 "));
	ck_assert(holds(text, " begin_seq="));
	free(text);
}
END_TEST

START_TEST(kinds_can_be_chosen)
{
	tb_every_kind(path, true);
	char *text = dump("LAUNCH,EVENT_RECORD");
	ck_assert_uint_eq(count(text, "\n"), 4);
	ck_assert_uint_eq(count(text, "\nLAUNCH "), 2);
	ck_assert_uint_eq(count(text, "\nEVENT_RECORD "), 1);
	free(text);
	struct sw_error error;
	struct sw_reader *r = reader();
	ck_assert_int_eq(sw_dump(stdout, r, &(struct sw_dump_options){.kinds = "LAUNCH,LUNCH"}, &error), SW_E_USAGE);
	ck_assert(strstr(error.text, "'LUNCH'"));
	sw_reader_close(r);
}
END_TEST

START_TEST(damage_is_dumped_last)
{
	struct tb *tb = tb_new(path, NULL);
	tb->seq += 3;
	tb_event_create(tb, 1);
	tb_close(tb, true);
	char *text = dump(NULL);
	ck_assert(strstr(strrchr(text, '\n') - 200, "DAMAGE text=\"/tmp/sw_trace_"));
	ck_assert(holds(text, "LOSS "));
	free(text);
}
END_TEST

/* Every byte after the header of every struct is printed, except what is called reserved. */
START_TEST(the_table_of_fields_covers_the_structs)
{
	static const struct {
		uint8_t kind;
		size_t bytes;
	} kinds[] = {
#define X(name, value, type, text) {value, sizeof(struct type)},
		SW_RECORDS(X)
#undef X
	};
	static const struct {
		uint8_t kind;
		size_t from, to;
	} reserved[] = {
#define R(kind, type, member)                                                                                          \
	{SW_REC_##kind, offsetof(struct type, member), offsetof(struct type, member) + sizeof((struct type *)0)->member}
		R(API, sw_rec_api, reserved),
		R(MODULE, sw_rec_module, reserved),
		R(DEVICE, sw_rec_device, reserved),
		R(LOSS, sw_rec_loss, reserved),
		R(NOTICE, sw_rec_notice, reserved),
		R(COUNTS, sw_rec_counts, reserved),
		R(LAUNCH, sw_rec_launch, reserved),
		R(COPY_ND, sw_rec_copy_nd, reserved),
		R(COPY_ND, sw_rec_copy_nd, dst.reserved),
		R(COPY_ND, sw_rec_copy_nd, src.reserved),
		R(EVENT_RECORD, sw_rec_event_record, reserved),
		R(STREAM_WAIT, sw_rec_stream_wait, reserved),
		R(HOST_ACCESS, sw_rec_host_access, reserved),
		R(COLLECTIVE, sw_rec_collective, reserved),
		R(HOST_FUNC, sw_rec_host_func, reserved),
		R(HOST_FUNC_RUN, sw_rec_host_func, reserved),
		R(PACK_FRAME, sw_rec_pack_frame, reserved),
		R(PACK_TABLE, sw_rec_pack_table, reserved),
		/* MODULE_GONE has the base only. */
		{SW_REC_MODULE_GONE, sizeof(struct sw_rec) + 8, sizeof(struct sw_rec_module)},
#undef R
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		unsigned char covered[512] = {0};
		sw_fields_cover(kinds[i].kind, covered, sizeof covered);
		for (size_t j = 0; j < sizeof reserved / sizeof *reserved; j++)
			if (reserved[j].kind == kinds[i].kind)
				memset(covered + reserved[j].from, 1, reserved[j].to - reserved[j].from);
		for (size_t at = sizeof(struct sw_rec); at < kinds[i].bytes; at++)
			ck_assert_msg(covered[at], "byte %zu of %s is in no field", at,
				      sw_record_kind_name(kinds[i].kind));
	}
}
END_TEST

START_TEST(stat_tells_calls_kernels_bytes_losses_and_cost)
{
	tb_every_kind(path, true);
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct sw_error error;
	struct sw_reader *r = reader(), *judged = reader();
	struct sw_judgement *judgement;
	struct sw_call_times *times = sw_call_times_new(judged);
	ck_assert_int_eq(sw_judge(judged,
				  &(struct sw_judge_options){.observer = sw_call_times_observer(times),
							     .no_footprints = true,
							     .no_schedule = true},
				  &judgement, &error),
			 0);
	sw_call_times_sort(times, judgement);
	ck_assert_int_eq(sw_stat(out, r, times, &error), 0);
	sw_call_times_free(times);
	sw_judgement_free(judgement);
	sw_reader_close(judged);
	sw_reader_close(r);
	fclose(out);
	ck_assert(holds(text, "program      /usr/bin/app --fast (pid 1000)\n"));
	ck_assert(holds(text, "device 0     Test GPU, sm_90, 132 multiprocessors, 64.0 GiB\n"));
	ck_assert(holds(text, "cost         40.0 ns a record, 90.0 ns with its call stack"));
	ck_assert(holds(text, "copies       2 calls, 320 bytes\n"));
	ck_assert(holds(text, "sets         1 call, 100 bytes\n"));
	ck_assert(holds(text, "allocations  1 call, 4096 bytes\n"));
	ck_assert(holds(text, "lost         0 records\n"));
	ck_assert(holds(text, "failed       1 call\n"));
	ck_assert(holds(text, "in flight    1 call began and did not return\n"));
	ck_assert(holds(text, "unclassified 1 call"));
	ck_assert(holds(text, "notice       libunwind was not found.\n"));
	const char *calls = strstr(text, "calls of the API"),
		   *launch = strstr(text, "cudaLaunchKernel (cuLaunchKernel)\n");
	ck_assert(calls && launch && calls < launch);
	ck_assert(holds(text, "kernels, device time"));
	ck_assert(holds(text, "  step(float*)\n") || holds(text, "  _Z4stepPf\n")); /* no demangler */
	ck_assert(holds(text, "ended        in order\n"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump");
	TCase *tc = tcase_create("dump");
	tcase_add_checked_fixture(tc, fresh_path, remove_path);
	tcase_add_test(tc, every_record_is_one_line_with_its_fields);
	tcase_add_test(tc, kinds_can_be_chosen);
	tcase_add_test(tc, damage_is_dumped_last);
	tcase_add_test(tc, the_table_of_fields_covers_the_structs);
	tcase_add_test(tc, stat_tells_calls_kernels_bytes_losses_and_cost);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
