/* SPDX-License-Identifier: Apache-2.0 */
/* Text and JSON of hand-made judgements against golden files; messages and fixes of every finding. */
#include <check.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_report.h"
#include "golden_file.h"
#include "report/symbols/stack.h"
#include "../run_suite.h"

static void add_scale(void)
{
	struct sw_finding *race = add_race(SW_ERROR, FAKE_SCALE);
	race->count = 3;
	race->operations = 0;
	side_of(race, 1)->extent_known = false;
}

static void add_copies(void)
{
	struct sw_finding *wait = add_wait(call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 3, FAKE_AT_COPY));
	wait->severity = SW_NOTE;
	wait->count = 40;
	static const struct sw_cost cost = {.calls = 40,
					    .p50_ns = 250000,
					    .p99_ns = 800000,
					    .share_ppm = 123456,
					    .parts = {.work_ns = 9000000, .transfer_ns = 800000, .driver_ns = 200000},
					    .waited_calls = 38,
					    .total_ns = 12300000,
					    .worst_ns = 812000,
					    .transfer_ns = 2100000,
					    .recoverable_low_ns = 4000000,
					    .recoverable_high_ns = 10200000,
					    .recoverable_sure_ns = 10200000,
					    .replayed = true,
					    .reliable = true};
	wait->cost = &cost;
	judgement.host_wait_ns = 12300000;
	judgement.host_waits[SW_HOST_WAIT_COPY] = (struct sw_host_wait){40, 12300000};
}

static void add_poll(void)
{
	struct sw_finding *poll = add(403, SW_WARNING, SW_CERTAIN);
	poll->accesses = 1;
	*side_of(poll, 0) = call(SW_WAIT, SW_REC_QUERY, FAKE_API_RECORD, 1, FAKE_AT_NOWHERE);
	poll->basis = SW_BASIS_MEASURED;
	poll->polls = 1001;
	static const struct sw_cost cost = {.calls = 1,
					    .waited_calls = 1,
					    .total_ns = 5000000,
					    .worst_ns = 5000000,
					    .parts.work_ns = 5000000,
					    .core_low_ns = 3100000,
					    .core_high_ns = 5000000};
	poll->cost = &cost;
	judgement.host_waits[SW_HOST_WAIT_POLL] = (struct sw_host_wait){1001, 5000000};
}

static void add_held(void)
{
	struct sw_finding *legacy = add(304, SW_NOTE, SW_CERTAIN);
	legacy->accesses = 2;
	legacy->count = 80;
	*side_of(legacy, 0) = call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 3, FAKE_AT_COPY);
	*side_of(legacy, 1) = launch(SW_CALL, FAKE_SCALE, 2, FAKE_AT_SCALE, 21);
	legacy->blocker.stream = 1;
	static struct sw_finding_details more = {.held = {.timed = 78, .untimed = 2, .ns = 241000000}};
	legacy->more = &more;
}

/* The event was recorded before the work that it should cover. */
static void add_event(void)
{
	struct sw_finding *early = add(202, SW_ERROR, SW_CERTAIN);
	early->accesses = 3;
	*side_of(early, 0) = call(SW_RECORD, SW_REC_EVENT_RECORD, FAKE_API_RECORD, 1, FAKE_AT_NOWHERE);
	*side_of(early, 1) = call(SW_WAIT, SW_REC_STREAM_WAIT, FAKE_API_WAIT, 2, FAKE_AT_NOWHERE);
	static struct sw_access work;
	work = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20);
	early->third = &work;
	early->missed.hazard = 101;
	early->missed.seq = 20;
	early->fix = SW_FIX_MOVE_RECORD;
	early->fix_call.seq = 90;
}

START_TEST(race_and_wait_read_as_agreed)
{
	add_scale();
	add_copies();
	add_poll();
	add_held();
	add_event();
	make(NULL);
	check_golden("golden/race.txt", text_of(false));
	check_golden("golden/race.json", json_of());
	make(&(struct sw_report_options){.all = true});
	check_golden("golden/race-all.txt", text_of(false));
}
END_TEST

START_TEST(clean_run_says_so_with_its_coverage)
{
	make(NULL);
	check_golden("golden/clean.txt", text_of(false));
	check_golden("golden/clean.json", json_of());
}
END_TEST

START_TEST(crashed_simulated_run_says_both)
{
	fake_trace.crashed = true;
	fake_trace.notice = "libunwind was not found: no call stacks";
	fake_trace.damage = "chunk 3 at offset 24576: bad checksum";
	judgement.simulated = true;
	make(NULL);
	*sw_vec_push(&report->in_flight) = (struct sw_in_flight){.thread = 1,
								 .stack = FAKE_AT_COPY,
								 .api = FAKE_API_SYNC,
								 .flags = SW_RF_RUNTIME,
								 .seq = 99,
								 .t_ns = 5000000};
	check_golden("golden/crashed.txt", text_of(false));
	check_golden("golden/crashed.json", json_of());
}
END_TEST

/* The text, to be searched, and what its headline must be. */
static void headline_is(const char *headline)
{
	char *text = text_of(false), *line = sw_format("syncwatch: %s", headline);
	ck_assert_msg(strstr(text, line) != NULL, "%s", text);
	free(line);
	ck_assert_int_eq(strstr(text, "no hazards") != NULL, strncmp(headline, "no hazards", 10) == 0);
	free(text);
}

static void gap_is(const char *gap)
{
	char *json = json_of();
	ck_assert_uint_eq(report->gaps.n, gap != NULL);
	ck_assert_ptr_nonnull(strstr(json, gap ? "\"complete\": false" : "\"complete\": true"));
	if (gap)
		ck_assert_ptr_nonnull(strstr(report->gaps.at[0], gap));
	free(json);
}

START_TEST(no_hazards_is_said_of_what_was_judged_whole)
{
	make(NULL);
	headline_is("no hazards in race");
	gap_is(NULL);

	fake_trace.damage = "chunk 3 at offset 24576: bad checksum";
	make(NULL);
	headline_is("not all was judged: 0 errors, 0 warnings in race");
	gap_is("its trace is damaged: chunk 3");
	add_race(SW_ERROR, FAKE_SCALE);
	make(NULL);
	headline_is("1 error, 0 warnings, and not all was judged, in race");
	judgement.findings.n = 0;
	fake_trace.damage = NULL;

	judgement.coverage.forgotten_accesses = 3;
	make(NULL);
	headline_is("not all was judged");
	gap_is("3 accesses were forgotten");
	judgement.coverage.forgotten_accesses = 0;

	judgement.shares_pools = true; /* which nothing compares */
	make(&(struct sw_report_options){.compared = true});
	headline_is("not all was judged");
	gap_is("it shares memory of a pool with other processes");
	judgement.shares_pools = false;

	judgement.shares_memory = true;
	make(NULL);
	headline_is("not all was judged");
	gap_is("it shares memory with other processes");
	make(&(struct sw_report_options){.compared = true});
	headline_is("no hazards in race");
	gap_is(NULL);
}
END_TEST

START_TEST(notes_of_hazards_are_no_clean_run)
{
	struct sw_finding *freed = add_hazard(105, SW_NOTE, launch(SW_READ, FAKE_SCALE, 1, FAKE_AT_SCALE, 20),
					      call(SW_FREE, SW_REC_FREE, FAKE_API_FREE, 0, FAKE_AT_FILL));
	freed->measured_order = true;
	make(NULL);
	headline_is("0 errors, 0 warnings, 1 note of hazards (SW105) in race");
	gap_is(NULL);
	struct sw_finding *alloc = add(305, SW_NOTE, SW_CERTAIN);
	alloc->accesses = 1;
	*side_of(alloc, 0) = call(SW_ALLOC, SW_REC_ALLOC, FAKE_API_ALLOC, 0, FAKE_AT_COPY);
	make(NULL);
	headline_is("0 errors, 0 warnings, 1 note of hazards (SW105), 1 other note in race");
	judgement.findings.at[0] = judgement.findings.at[1];
	judgement.findings.n = 1;
	make(NULL);
	headline_is("no hazards, 1 note in race");
}
END_TEST

START_TEST(hazards_that_an_unknown_call_lowered_are_a_gap)
{
	struct sw_finding *race = add_race(SW_NOTE, FAKE_SCALE);
	race->confidence = SW_POSSIBLE;
	race->hidden = true;
	make(NULL);
	headline_is("no hazards in race");
	gap_is(NULL);
	race->lowered = true;
	make(NULL);
	headline_is("not all was judged: 0 errors, 0 warnings in race");
	gap_is("1 hazard would be an error, but a call that syncwatch does not know may order the two sides");
	/* The user's own decision. */
	char path[] = "/tmp/sw-suppress-XXXXXX";
	struct sw_suppressions *s = NULL;
	struct sw_error error;
	const int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, "SW101\n", 6), 6);
	close(fd);
	ck_assert_int_eq(sw_suppress_load(path, SW_SUPPRESS_FILE, &s, &error), 0);
	unlink(path);
	make(&(struct sw_report_options){.suppressions = s});
	gap_is(NULL);
	sw_report_free(report);
	report = NULL;
	sw_suppress_free(s);
}
END_TEST

/* The trace ended, not the program. */
START_TEST(a_full_trace_is_not_blamed_on_the_program)
{
	static const struct {
		enum sw_loss_why why;
		const char *text, *gap;
	} cases[] = {
		{SW_LOSS_SIZE_LIMIT, "reached its size limit",
		 "7 of its records were lost: the trace had reached its size limit"},
		{SW_LOSS_NO_SPACE, "The disk had no more room", "7 of its records were lost: there was no more room"},
		{SW_LOSS_NO_MEMORY, "no more memory for the trace",
		 "7 of its records were lost: there was no more memory"}};
	fake_trace.full = cases[_i].why;
	make(NULL);
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, cases[_i].text));
	ck_assert_ptr_null(strstr(text, "did not end normally"));
	free(text);
	headline_is("not all was judged");
	gap_is(cases[_i].gap);
	/* One that was killed, too. */
	fake_trace.crashed = true;
	make(NULL);
	text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "did not end normally"));
	free(text);
}
END_TEST

START_TEST(a_program_that_was_killed_is_judged)
{
	fake_trace.crashed = true;
	make(NULL);
	headline_is("no hazards in race, which did not end normally");
	gap_is(NULL);
}
END_TEST

START_TEST(torch_stacks_collapse_and_advice_speaks_torch)
{
	fake_trace.torch = true;
	struct sw_finding *race = add(102, SW_WARNING, SW_LIKELY);
	race->accesses = 2;
	*side_of(race, 0) = launch(SW_READ, FAKE_PLAIN, 4, FAKE_AT_PYTHON, 20);
	side_of(race, 0)->device = 1;
	*side_of(race, 1) = call(SW_WRITE, SW_REC_COPY, FAKE_API_COPY, 1, FAKE_AT_PYTHON);
	race->joined = true;
	race->last_kind = SW_EDGE_EVENT;
	race->last_call = (struct sw_named_call){.seq = 17, .stack = FAKE_AT_COPY, .api = FAKE_API_WAIT};
	race->fix = SW_FIX_EVENT;
	make(NULL);
	check_golden("golden/torch.txt", text_of(false));
}
END_TEST

START_TEST(colour_is_asked_for_and_hostile_names_stay_text)
{
	add_scale();
	side_of(&judgement.findings.at[0], 1)->function = FAKE_HOSTILE;
	make(NULL);
	char *plain = text_of(false), *coloured = text_of(true);
	ck_assert_ptr_null(strchr(plain, '\033'));
	ck_assert_ptr_nonnull(strstr(coloured, "\033[1;31merror:"));
	ck_assert_ptr_nonnull(strstr(plain, "a?[31m?"));
	free(plain);
	free(coloured);
	check_golden("golden/hostile.json", json_of());
}
END_TEST

/* ---- every row of the tables ------------------------------------------------------------------------------------- */

START_TEST(every_finding_has_a_message_without_unfilled_facts)
{
	const struct sw_finding_info *info;
	*sw_vec_push(&judgement.gate) = (struct sw_gate_result){.option = "--forbid", .text = "wait@program"};
	for (size_t i = 0; (info = sw_finding_info_at(i)); i++)
		for (int role = SW_READ; role <= SW_ATOMIC; role++) {
			struct sw_wording words;
			const struct sw_access third = {.role = SW_READ},
					       fill = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20),
					       scale = launch((enum sw_role)role, FAKE_SCALE, 2, FAKE_AT_SCALE, 21);
			struct sw_finding finding = {.id = info->number,
						     .accesses = (uint8_t)(1 + role % 3),
						     .access = {&fill, &scale},
						     .third = &third,
						     .cost = &sw_no_cost};
			if (info->family == SW_FAMILY_HAZARD)
				finding.accesses = 2;
			make(NULL);
			sw_wording_of(&report->names, &finding, &words);
			ck_assert_msg(words.message[0] && !strchr(words.message, '{'), "SW%d: %s", info->number,
				      words.message);
			/* The title is used only for findings without a row of their own. */
			ck_assert_str_ne(words.message, info->title);
		}
}
END_TEST

/* Sets all counts of the coverage and of the time stamps, whatever they would mean together. */
static void count_everything(uint64_t n)
{
#define SW_COVERAGE(member, key, limit, words, meaning) judgement.coverage.member = n;
#include "detect/coverage.def"
	judgement.coverage.sticky_error_seq = 0;
	judgement.gpu = (struct sw_gpu_summary){.recorded = true,
						.complete = true,
						.operations_timed = 0,
						.operations_untimed = n,
						.lost = n,
						.unmatched = n,
						.untimed = n,
						.left_out = n,
						.clock_jumps = n};
	judgement.folded_waits = n;
	for (size_t i = 0; i < SW_HOST_WAITS; i++)
		judgement.host_waits[i] = (struct sw_host_wait){n, 5000000};
}

/* Whether a plural is among the two words after a 1: "1 calls", "1 driver calls". */
static bool is_a_plural_of_one(const char *text, char *found, size_t bytes)
{
	regex_t plural;
	regmatch_t at[1];
	bool is = false;
	ck_assert_int_eq(
		regcomp(&plural,
			"[^0-9.a-z-]1 ((driver|kernel|other|graph|executable|time|call) )?[a-z]*[a-rt-z]s[ ,;:)\n]",
			REG_EXTENDED),
		0);
	for (; !is && regexec(&plural, text, 1, at, 0) == 0; text += at[0].rm_so + 1) {
		snprintf(found, bytes, "%.*s", (int)(at[0].rm_eo - at[0].rm_so), text + at[0].rm_so);
		is = !strstr(found, "ends") && !strstr(found, " ms");
	}
	regfree(&plural);
	return is;
}

/* The line about launches that follow pointers, in a run with so many calls outside of windows; static. */
static const char *text_of_indirect(uint64_t left_out)
{
	static struct sw_coverage_count count;
	const struct sw_coverage coverage = {.indirect_kernels = 1, .left_out = left_out};
	for (size_t i = 0; sw_coverage_count_at(&coverage, i, &count); i++)
		if (strstr(count.text, "follows pointers"))
			return count.text;
	return "";
}

START_TEST(counts_of_one_and_two_agree_with_their_nouns)
{
	struct sw_coverage_count one, two;
	char found[64];
	count_everything(1);
	make(&(struct sw_report_options){.all = true});
	char *text = text_of(false);
	ck_assert_msg(!is_a_plural_of_one(text, found, sizeof found), "'%s' in: %s", found, text);
	ck_assert_ptr_nonnull(strstr(text, "1 launch that also"));
	ck_assert_ptr_nonnull(strstr(text, "1 time stamp was lost in CUPTI"));
	free(text);
	struct sw_coverage of_one = judgement.coverage;
	count_everything(2);
	for (size_t i = 0; sw_coverage_count_at(&judgement.coverage, i, &two) && sw_coverage_count_at(&of_one, i, &one);
	     i++) {
		if (!two.place)
			continue;
		ck_assert_msg(strcmp(one.text + 2, two.text + 2) != 0, "the words of one and of two are the same: %s",
			      one.text);
		ck_assert_msg(strlen(two.text) + 1 < sizeof two.text, "cut: %s", two.text);
		ck_assert_ptr_null(strpbrk(one.text, "{|}"));
		ck_assert_ptr_null(strpbrk(two.text, "{|}"));
	}
	make(&(struct sw_report_options){.all = true});
	text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "2 launches that also"));
	ck_assert_ptr_nonnull(strstr(text, "2 time stamps were lost in CUPTI"));
	free(text);
	/* Uploads of a pause: the report says why it does not know the pointers. */
	ck_assert_ptr_nonnull(strstr(text_of_indirect(1), "outside of the windows is not known"));
	ck_assert_ptr_null(strstr(text_of_indirect(0), "outside of the windows"));
	ck_assert(is_a_plural_of_one("in 1 calls,", found, sizeof found));
	ck_assert(is_a_plural_of_one("\n1 driver calls\n", found, sizeof found));
	ck_assert(!is_a_plural_of_one(" 11 calls, 1 call, 2 calls ", found, sizeof found));
}
END_TEST

START_TEST(possible_hazards_are_not_called_none)
{
	add_scale();
	judgement.findings.at[0].severity = SW_NOTE;
	judgement.findings.at[0].confidence = SW_POSSIBLE;
	judgement.findings.at[0].hidden = true;
	judgement.folded_waits = 2;
	make(&(struct sw_report_options){.all = true});
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "no certain or likely hazards, 1 note"));
	ck_assert_ptr_null(strstr(text, "not shown"));
	free(text);
	make(NULL);
	text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "no hazards in race"));
	ck_assert_ptr_nonnull(strstr(text, "2 waits"));
	free(text);
}
END_TEST

/* Notes of one id: five lines, the rest in a sum; cudaMalloc in one line wherever it is called; all in full on request.
 */
START_TEST(notes_take_a_line_each)
{
	static const uint32_t stacks[] = {FAKE_AT_COPY, FAKE_AT_FILL, FAKE_AT_NOWHERE};
	static const uint16_t apis[] = {FAKE_API_COPY, FAKE_API_SYNC,	FAKE_API_FREE,
					FAKE_API_WAIT, FAKE_API_RECORD, FAKE_API_DRIVER};
	add_scale();
	for (int i = 0; i < 3; i++) {
		struct sw_finding *alloc = add(305, SW_NOTE, SW_CERTAIN);
		alloc->accesses = 1;
		alloc->count = 2;
		*side_of(alloc, 0) = call(SW_ALLOC, SW_REC_ALLOC, FAKE_API_ALLOC, 0, stacks[i]);
		side_of(alloc, 0)->api = FAKE_API_ALLOC;
		static const struct sw_cost allocs = {.calls = 2, .total_ns = 100000};
		alloc->cost = &allocs;
	}
	for (int i = 0; i < 6; i++) {
		struct sw_finding *wait = add(402, SW_NOTE, SW_CERTAIN);
		wait->accesses = 1;
		*side_of(wait, 0) = call(SW_CALL, SW_REC_SYNC, apis[i], 0, FAKE_AT_NOWHERE);
		static const struct sw_cost waits = {.calls = 1, .total_ns = 7000};
		wait->cost = &waits;
	}
	make(NULL);
	check_golden("golden/notes.txt", text_of(false));
	make(&(struct sw_report_options){.all = true});
	char *text = text_of(false);
	ck_assert_ptr_null(strstr(text, "shortened"));
	ck_assert_ptr_nonnull(strstr(text, "note: SW402 redundant-sync"));
	free(text);
}
END_TEST

START_TEST(notes_of_one_line_name_each_library_once)
{
	static const uint32_t stacks[] = {FAKE_AT_PYTHON, FAKE_AT_LIBRARY, FAKE_AT_LIBRARY};
	fake_trace.torch = true;
	for (int i = 0; i < 3; i++) {
		struct sw_finding *alloc = add(305, SW_NOTE, SW_CERTAIN);
		alloc->accesses = 1;
		*side_of(alloc, 0) = call(SW_ALLOC, SW_REC_ALLOC, FAKE_API_ALLOC, 0, stacks[i]);
	}
	make(NULL);
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "    cudaMalloc, 3 times, in libtorch_python.so, libcublasLt.so.13\n"));
	free(text);
}
END_TEST

START_TEST(long_kernel_names_are_cut_unless_all_is_asked_for)
{
	add_scale();
	side_of(&judgement.findings.at[0], 1)->function = FAKE_LONG;
	for (int all = 0; all < 2; all++) {
		make(&(struct sw_report_options){.all = all});
		char *text = text_of(false);
		ck_assert((strstr(text, "kernel ns::elementwise<...>(...) on stream 2") != NULL) == !all);
		ck_assert((strstr(text, "lambda_argument_type)4242") != NULL) == all);
		free(text);
	}
	char *json = json_of();
	ck_assert_ptr_nonnull(strstr(json, "lambda_argument_type)4242"));
	free(json);
}
END_TEST

/* A sentence leaves out the middle of a name that is one long word; the heading and the suppression have all of it. */
START_TEST(long_words_are_cut_in_sentences)
{
	static const char whole[] = "sm80_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize2x2x1_cublas";
	add_scale();
	side_of(&judgement.findings.at[0], 1)->function = FAKE_WORD;
	make(NULL);
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "Kernel sm80_gemm_f32f32_f32f32_f32_...ze2x2x1_cublas reads"));
	unsigned times = 0;
	for (const char *at = text; (at = strstr(at, whole)); at++)
		times++;
	ck_assert_uint_eq(times, 2);
	free(text);
}
END_TEST

/* Frames without names: a run of one module is one line, what every program starts with is left out. */
START_TEST(nameless_frames_collapse)
{
	fake_trace.torch = true;
	add_scale();
	side_of(&judgement.findings.at[0], 1)->stack = FAKE_AT_STRIPPED;
	make(NULL);
	struct sw_stack_view view = sw_stack_view(&report->names, FAKE_AT_STRIPPED, 0);
	ck_assert_uint_eq(view.n, 2);
	ck_assert_str_eq(view.at[0].frame->module, "libcublasLt.so.13");
	ck_assert_uint_eq(view.at[0].folded, 2);
	ck_assert_str_eq(view.at[1].frame->module, "libpython3.11.so.1.0");
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "(libcublasLt.so.13+0x20) and 2 more of libcublasLt.so.13\n"));
	ck_assert_ptr_null(strstr(text, "libc.so.6"));
	free(text);
}
END_TEST

/* Nothing to name: the place in the library keeps the line from hiding all of this id. */
START_TEST(suppression_of_nameless_frames_names_the_module)
{
	fake_trace.torch = true;
	struct sw_finding *pin = add(307, SW_WARNING, SW_CERTAIN);
	pin->accesses = 1;
	*side_of(pin, 0) = call(SW_ALLOC, SW_REC_ALLOC, FAKE_API_ALLOC, 0, FAKE_AT_LIBRARY);
	make(NULL);
	ck_assert_str_eq(sw_report_suppression(report, &report->shown.at[0]),
			 "SW307 operation=cudaMalloc at=libcublasLt.so.13+0x20");
}
END_TEST

START_TEST(use_after_free_asks_for_no_edge)
{
	struct sw_finding *use = add(105, SW_ERROR, SW_CERTAIN);
	use->accesses = 2;
	*side_of(use, 0) = call(SW_FREE, SW_REC_FREE, FAKE_API_FREE, 0, FAKE_AT_NOWHERE);
	*side_of(use, 1) = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 100);
	make(NULL);
	ck_assert_str_eq(sw_report_words(report, &report->shown.at[0]).missing_edge, "");
	ck_assert_str_eq(
		sw_report_words(report, &report->shown.at[0]).message,
		"kernel fill uses allocation 1 (16.0 KiB, cudaMemcpy at race.cu:40), which cudaFree has freed");
}
END_TEST

START_TEST(every_fix_has_words_without_unfilled_facts)
{
	for (int fix = SW_FIX_NONE + 1; fix <= SW_FIX_UNNEEDED; fix++)
		for (int torch = 0; torch < 2; torch++) {
			struct sw_wording words;
			const struct sw_access fill = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20),
					       scale = launch(SW_READ, FAKE_SCALE, 2, FAKE_AT_SCALE, 21);
			struct sw_finding finding = {.id = fix == SW_FIX_DEPEND ? 107 : 101,
						     .accesses = 2,
						     .access = {&fill, &scale},
						     .fix = (enum sw_fix)fix,
						     .fix_stream = 1,
						     .cost = &sw_no_cost};
			fake_trace.torch = torch;
			make(NULL);
			sw_wording_of(&report->names, &finding, &words);
			ck_assert_msg(words.fix[0] && !strchr(words.fix, '{'), "fix %d: %s", fix, words.fix);
			/* Lines to paste, or why there are none. */
			struct sw_fix_lines lines;
			sw_fix_lines(&report->names, &finding, &fill, &scale, &lines);
			if (!lines.n && !lines.why)
				sw_fix_call(&report->names, &finding, &lines);
			ck_assert_msg(torch || lines.n || lines.why || fix == SW_FIX_EVENT_CUPY, "fix %d: neither",
				      fix);
		}
}
END_TEST

START_TEST(driver_users_are_told_driver_functions)
{
	add_scale();
	struct sw_finding *race = &judgement.findings.at[0];
	for (int i = 0; i < 2; i++) {
		side_of(race, i)->api = FAKE_API_DRIVER;
		side_of(race, i)->flags = 0;
		side_of(race, i)->stack = FAKE_AT_NOWHERE;
	}
	make(NULL);
	ck_assert_ptr_nonnull(strstr(sw_report_words(report, &report->shown.at[0]).fix, "cuEventRecord"));
	ck_assert_ptr_null(strstr(sw_report_words(report, &report->shown.at[0]).fix, "cudaEventRecord"));
}
END_TEST

/* 0: many calls that pin memory, one soon after the other.  1: as many over a minute.  2: as many copies. */
START_TEST(storms_of_pinning_are_reported)
{
	add_copies();
	struct sw_finding *pin = &judgement.findings.at[0];
	pin->id = _i == 2 ? SW_FINDING_SYNC_COPY : SW_FINDING_HOST_PIN;
	struct sw_finding_details more = {
		.pinned = 40 * 4096,
		.last_ns = pin->access[0]->t_ns + (_i == 1 ? 60000000000u : 390000000u),
	};
	pin->more = &more;
	make(&(struct sw_report_options){.all = true});
	char *text = text_of(false);
	ck_assert(!strstr(text, "100 calls a second") == (_i != 0));
	free(text);
}
END_TEST

START_TEST(changed_modules_give_offsets_and_a_complaint)
{
	add_scale();
	fake_trace.changed = true;
	make(NULL);
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "#0  (race+0x1081)\n"));
	/* At the end: the finding stands on what was recorded. */
	ck_assert_ptr_nonnull(
		strstr(text, "\n  no names:      2 files of the run are missing here or changed (race, libcud"));
	ck_assert_ptr_null(strstr(text, "weaker evidence"));
	free(text);
}
END_TEST

START_TEST(missing_files_are_reported_first_with_what_helps)
{
	static struct sw_unusable_code code[2] = {{"/lib/libtorch_cuda.so", false, 3}, {"/lib/libcublas.so", true, 1}};
	add_scale();
	make(NULL);
	char *text = text_of(false);
	ck_assert_ptr_null(strstr(text, "syncwatch pack"));
	free(text);
	judgement.unusable_code.at = code;
	judgement.unusable_code.n = 2;
	text = text_of(false);
	static const char first[] =
		"syncwatch: 2 files of the run are missing here or changed: findings rest on weaker evidence\n"
		"  missing:       /lib/libtorch_cuda.so (code of 3 kernels)\n"
		"  changed:       /lib/libcublas.so (code of 1 kernel)\n"
		"  fix:           run 'syncwatch pack ";
	ck_assert_msg(!strncmp(text, first, sizeof first - 1), "%.400s", text);
	free(text);
	fake_trace.packed = true;
	text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "pack it again where it was recorded"));
	free(text);
	judgement.unusable_code.at = NULL;
	judgement.unusable_code.n = 0;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *c = tcase_create("report");
	tcase_add_checked_fixture(c, setup_report, teardown_report);
	tcase_add_test(c, race_and_wait_read_as_agreed);
	tcase_add_test(c, clean_run_says_so_with_its_coverage);
	tcase_add_test(c, crashed_simulated_run_says_both);
	tcase_add_test(c, no_hazards_is_said_of_what_was_judged_whole);
	tcase_add_test(c, notes_of_hazards_are_no_clean_run);
	tcase_add_test(c, hazards_that_an_unknown_call_lowered_are_a_gap);
	tcase_add_loop_test(c, a_full_trace_is_not_blamed_on_the_program, 0, 3);
	tcase_add_test(c, a_program_that_was_killed_is_judged);
	tcase_add_test(c, torch_stacks_collapse_and_advice_speaks_torch);
	tcase_add_test(c, colour_is_asked_for_and_hostile_names_stay_text);
	tcase_add_test(c, every_finding_has_a_message_without_unfilled_facts);
	tcase_add_test(c, counts_of_one_and_two_agree_with_their_nouns);
	tcase_add_test(c, possible_hazards_are_not_called_none);
	tcase_add_test(c, notes_take_a_line_each);
	tcase_add_test(c, notes_of_one_line_name_each_library_once);
	tcase_add_test(c, long_kernel_names_are_cut_unless_all_is_asked_for);
	tcase_add_test(c, long_words_are_cut_in_sentences);
	tcase_add_test(c, nameless_frames_collapse);
	tcase_add_test(c, suppression_of_nameless_frames_names_the_module);
	tcase_add_test(c, use_after_free_asks_for_no_edge);
	tcase_add_test(c, every_fix_has_words_without_unfilled_facts);
	tcase_add_test(c, driver_users_are_told_driver_functions);
	tcase_add_loop_test(c, storms_of_pinning_are_reported, 0, 3);
	tcase_add_test(c, changed_modules_give_offsets_and_a_complaint);
	tcase_add_test(c, missing_files_are_reported_first_with_what_helps);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
