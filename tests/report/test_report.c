/* SPDX-License-Identifier: Apache-2.0 */
/* Text and JSON of hand-made judgements against golden files; suppressions; names. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "fake_trace.h"
#include "report/symbols/demangle.h"
#include "report/report.h"
#include "report/symbols/stack.h"

static struct sw_judgement judgement;
static struct sw_report *report;

static void setup(void)
{
	fake_trace = (struct fake_trace){0};
	judgement = (struct sw_judgement){.span_ns = 12345678};
	sw_vec_push(&judgement.streams)[0] = (struct sw_stream_info){0};
	*sw_vec_push(&judgement.streams) = (struct sw_stream_info){
		.handle = 0x55d0, .kind = SW_LANE_BLOCKING, .number = 1, .create_stack = FAKE_AT_CREATE};
	*sw_vec_push(&judgement.streams) =
		(struct sw_stream_info){.handle = 0x66e0, .kind = SW_LANE_NONBLOCKING, .number = 2, .name = "copies"};
	*sw_vec_push(&judgement.streams) = (struct sw_stream_info){.kind = SW_LANE_LEGACY};
	*sw_vec_push(&judgement.streams) =
		(struct sw_stream_info){.kind = SW_LANE_PER_THREAD, .thread = 2, .device = 1};
	*sw_vec_push(&judgement.allocations) = (struct sw_allocation){.address = 0x7f0000000000,
								      .bytes = 16384,
								      .memory = SW_MEM_DEVICE,
								      .number = 1,
								      .api = FAKE_API_ALLOC,
								      .flags = SW_RF_RUNTIME,
								      .stack = FAKE_AT_COPY,
								      .thread = 1,
								      .seq = 7};
	*sw_vec_push(&judgement.allocations) = (struct sw_allocation){
		.address = 0x1000, .bytes = 64, .memory = SW_MEM_SYMBOL, .name = "table", .number = 2};
	judgement.coverage = (struct sw_coverage){.driver_calls = 120,
						  .runtime_calls = 118,
						  .launches = 40,
						  .copies = 3,
						  .bytes_copied = 3u << 20,
						  .sets = 1,
						  .syncs = 2};
	judgement.coverage.kernels_by_evidence[SW_EV_SIGNATURE] = 38;
	judgement.coverage.kernels_by_source[SW_BY_SIGNATURE] = 38;
	judgement.coverage.kernels_by_source[SW_BY_ASSUMED] = 2;
	judgement.coverage.kernels_by_evidence[SW_EV_ASSUMED] = 2;
}

static void teardown(void)
{
	sw_report_free(report);
	report = NULL;
	free(judgement.streams.at);
	free(judgement.allocations.at);
	free(judgement.findings.at);
}

static struct sw_access launch(enum sw_role role, uint32_t function, uint32_t stream, uint32_t stack, uint64_t seq)
{
	return (struct sw_access){.role = role,
				  .kind = SW_REC_LAUNCH,
				  .api = FAKE_API_LAUNCH,
				  .flags = SW_RF_RUNTIME,
				  .seq = seq,
				  .t_ns = seq * 1000,
				  .thread = 1,
				  .stack = stack,
				  .stream = stream,
				  .function = function,
				  .param = 0,
				  .ranged = true,
				  .address = 0x7f0000001000,
				  .bytes = 4096,
				  .extent_known = true,
				  .allocation = 1,
				  .evidence = SW_EV_SIGNATURE};
}

static struct sw_access call(enum sw_role role, enum sw_rec_kind kind, uint16_t api, uint32_t stream, uint32_t stack)
{
	return (struct sw_access){.role = role,
				  .kind = (uint8_t)kind,
				  .api = api,
				  .flags = SW_RF_RUNTIME,
				  .seq = 90,
				  .t_ns = 90000,
				  .thread = 1,
				  .stack = stack,
				  .stream = stream,
				  .param = -1};
}

static struct sw_finding *add(int id, enum sw_severity severity, enum sw_confidence confidence)
{
	struct sw_finding *finding = sw_vec_push(&judgement.findings);
	*finding = (struct sw_finding){.id = id, .severity = severity, .confidence = confidence, .count = 1};
	return finding;
}

static void add_race(void)
{
	struct sw_finding *race = add(101, SW_ERROR, SW_CERTAIN);
	race->count = 3;
	race->accesses = 2;
	race->access[0] = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20);
	race->access[1] = launch(SW_READ, FAKE_SCALE, 2, FAKE_AT_SCALE, 21);
	race->access[1].extent_known = false;
	race->fix = SW_FIX_EVENT;
}

static void add_wait(void)
{
	struct sw_finding *wait = add(301, SW_NOTE, SW_CERTAIN);
	wait->accesses = 1;
	wait->count = 40;
	wait->access[0] = call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 3, FAKE_AT_COPY);
	wait->cost = (struct sw_cost){.calls = 40,
				      .p50_ns = 250000,
				      .p99_ns = 800000,
				      .share_ppm = 123456,
				      .parts = {.work_ns = 9000000, .transfer_ns = 800000, .driver_ns = 200000},
				      .waited_calls = 38,
				      .total_ns = 12300000,
				      .worst_ns = 812000,
				      .transfer_ns = 2100000,
				      .win_low_ns = 4000000,
				      .win_high_ns = 10200000,
				      .win_sure_ns = 10200000,
				      .replayed = true,
				      .reliable = true};
	wait->fix = SW_FIX_ASYNC;
	judgement.host_wait_ns = 12300000;
	judgement.host_waits[SW_HOST_WAIT_COPY] = (struct sw_host_wait){40, 12300000};
}

static void add_poll(void)
{
	struct sw_finding *poll = add(403, SW_WARNING, SW_CERTAIN);
	poll->accesses = 1;
	poll->access[0] = call(SW_WAIT, SW_REC_QUERY, FAKE_API_RECORD, 1, FAKE_AT_NOWHERE);
	poll->basis = SW_BASIS_MEASURED;
	poll->polls = 1001;
	poll->cost = (struct sw_cost){.calls = 1,
				      .waited_calls = 1,
				      .total_ns = 5000000,
				      .worst_ns = 5000000,
				      .parts.work_ns = 5000000,
				      .core_low_ns = 3100000,
				      .core_high_ns = 5000000};
	judgement.host_waits[SW_HOST_WAIT_POLL] = (struct sw_host_wait){1001, 5000000};
}

static void add_held(void)
{
	struct sw_finding *legacy = add(304, SW_NOTE, SW_CERTAIN);
	legacy->accesses = 2;
	legacy->count = 80;
	legacy->access[0] = call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 3, FAKE_AT_COPY);
	legacy->access[1] = launch(SW_CALL, FAKE_SCALE, 2, FAKE_AT_SCALE, 21);
	legacy->blocker.stream = 1;
	legacy->held = (struct sw_held){.timed = 78, .untimed = 2, .ns = 241000000};
}

/* The event was recorded before the work that it should cover. */
static void add_event(void)
{
	struct sw_finding *early = add(202, SW_ERROR, SW_CERTAIN);
	early->accesses = 3;
	early->access[0] = call(SW_RECORD, SW_REC_EVENT_RECORD, FAKE_API_RECORD, 1, FAKE_AT_NOWHERE);
	early->access[1] = call(SW_WAIT, SW_REC_STREAM_WAIT, FAKE_API_WAIT, 2, FAKE_AT_NOWHERE);
	early->access[2] = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20);
	early->missed.hazard = 101;
	early->missed.seq = 20;
	early->fix = SW_FIX_MOVE_RECORD;
	early->fix_seq = 90;
}

static struct sw_report *make(const struct sw_report_options *options)
{
	static const struct sw_report_options plain;
	sw_report_free(report);
	return report = sw_report_new(NULL, &judgement, options ? options : &plain);
}

static char *text_of(bool colour)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	sw_report_text(report, out, &(struct sw_text_style){.colour = colour, .limit = SW_REPORT_LIMIT});
	fclose(out);
	return text;
}

static char *json_of(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	sw_report_json(report, out);
	fclose(out);
	return text;
}

static char *slurp(const char *path)
{
	char *text = NULL;
	size_t room = 0;
	FILE *file = fopen(path, "r");
	if (!file)
		return sw_strdup("(no such golden file)");
	if (getdelim(&text, &room, 0, file) < 0)
		text[0] = 0;
	fclose(file);
	return text;
}

/* Compares and frees.  UPDATE_GOLDEN=1 writes the file instead: look at the difference before committing it. */
static void check_golden(const char *name, char *text)
{
	const char *source = getenv("top_srcdir");
	char *path = sw_format("%s/tests/report/golden/%s", source ? source : ".", name);
	if (getenv("UPDATE_GOLDEN")) {
		FILE *file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		fputs(text, file);
		ck_assert_int_eq(fclose(file), 0);
	}
	char *golden = slurp(path);
	ck_assert_str_eq(text, golden);
	free(golden);
	free(path);
	free(text);
}

START_TEST(race_and_wait_read_as_agreed)
{
	add_race();
	add_wait();
	add_poll();
	add_held();
	add_event();
	make(NULL);
	check_golden("race.txt", text_of(false));
	check_golden("race.json", json_of());
	make(&(struct sw_report_options){.all = true});
	check_golden("race-all.txt", text_of(false));
}
END_TEST

START_TEST(clean_run_says_so_with_its_coverage)
{
	make(NULL);
	check_golden("clean.txt", text_of(false));
	check_golden("clean.json", json_of());
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
	check_golden("crashed.txt", text_of(false));
	check_golden("crashed.json", json_of());
}
END_TEST

START_TEST(torch_stacks_collapse_and_advice_speaks_torch)
{
	fake_trace.torch = true;
	struct sw_finding *race = add(102, SW_WARNING, SW_LIKELY);
	race->accesses = 2;
	race->access[0] = launch(SW_READ, FAKE_PLAIN, 4, FAKE_AT_PYTHON, 20);
	race->access[0].device = 1;
	race->access[1] = call(SW_WRITE, SW_REC_COPY, FAKE_API_COPY, 1, FAKE_AT_PYTHON);
	race->last = (struct sw_hb_last){.tick = 4, .seq = 17, .kind = SW_EDGE_EVENT};
	race->fix = SW_FIX_EVENT;
	make(NULL);
	check_golden("torch.txt", text_of(false));
}
END_TEST

START_TEST(colour_is_asked_for_and_hostile_names_stay_text)
{
	add_race();
	judgement.findings.at[0].access[1].function = FAKE_HOSTILE;
	make(NULL);
	char *plain = text_of(false), *coloured = text_of(true);
	ck_assert_ptr_null(strchr(plain, '\033'));
	ck_assert_ptr_nonnull(strstr(coloured, "\033[1;31merror:"));
	ck_assert_ptr_nonnull(strstr(plain, "a?[31m?"));
	free(plain);
	free(coloured);
	check_golden("hostile.json", json_of());
}
END_TEST

/* ---- every row of the tables ------------------------------------------------------------------------------------- */

START_TEST(every_finding_has_a_message_without_unfilled_facts)
{
	const struct sw_finding_info *info;
	for (size_t i = 0; (info = sw_finding_info_at(i)); i++)
		for (int role = SW_READ; role <= SW_ATOMIC; role++) {
			struct sw_wording words;
			struct sw_finding finding = {.id = info->number, .accesses = 1 + (uint32_t)role % 3};
			if (info->family == SW_FAMILY_HAZARD)
				finding.accesses = 2;
			finding.access[0] = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20);
			finding.access[1] = launch((enum sw_role)role, FAKE_SCALE, 2, FAKE_AT_SCALE, 21);
			make(NULL);
			sw_wording_of(&report->names, &finding, &words);
			ck_assert_msg(words.message[0] && !strchr(words.message, '{'), "SW%d: %s", info->number,
				      words.message);
			/* The title is used only for findings without a row of their own. */
			ck_assert_str_ne(words.message, info->title);
		}
}
END_TEST

START_TEST(possible_hazards_are_not_called_none)
{
	add_race();
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
	add_race();
	for (int i = 0; i < 3; i++) {
		struct sw_finding *alloc = add(305, SW_NOTE, SW_CERTAIN);
		alloc->accesses = 1;
		alloc->count = 2;
		alloc->access[0] = call(SW_ALLOC, SW_REC_ALLOC, FAKE_API_ALLOC, 0, stacks[i]);
		alloc->access[0].api = FAKE_API_ALLOC;
		alloc->cost = (struct sw_cost){.calls = 2, .total_ns = 100000};
	}
	for (int i = 0; i < 6; i++) {
		struct sw_finding *wait = add(402, SW_NOTE, SW_CERTAIN);
		wait->accesses = 1;
		wait->access[0] = call(SW_CALL, SW_REC_SYNC, apis[i], 0, FAKE_AT_NOWHERE);
		wait->cost = (struct sw_cost){.calls = 1, .total_ns = 7000};
	}
	make(NULL);
	check_golden("notes.txt", text_of(false));
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
		alloc->access[0] = call(SW_ALLOC, SW_REC_ALLOC, FAKE_API_ALLOC, 0, stacks[i]);
	}
	make(NULL);
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "    cudaMalloc, 3 times, in libtorch_python.so, libcublasLt.so.13\n"));
	free(text);
}
END_TEST

START_TEST(long_kernel_names_are_cut_unless_all_is_asked_for)
{
	add_race();
	judgement.findings.at[0].access[1].function = FAKE_LONG;
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
	add_race();
	judgement.findings.at[0].access[1].function = FAKE_WORD;
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
	add_race();
	judgement.findings.at[0].access[1].stack = FAKE_AT_STRIPPED;
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

/* Nobody to name: the library keeps the line from hiding all of this id. */
START_TEST(suppression_of_nameless_frames_names_the_module)
{
	fake_trace.torch = true;
	struct sw_finding *pin = add(307, SW_WARNING, SW_CERTAIN);
	pin->accesses = 1;
	pin->access[0] = call(SW_ALLOC, SW_REC_ALLOC, FAKE_API_ALLOC, 0, FAKE_AT_LIBRARY);
	make(NULL);
	ck_assert_str_eq(report->shown.at[0].suppression, "SW307 module=libcublasLt.so*");
}
END_TEST

START_TEST(use_after_free_asks_for_no_edge)
{
	struct sw_finding *use = add(105, SW_ERROR, SW_CERTAIN);
	use->accesses = 2;
	use->access[0] = call(SW_FREE, SW_REC_FREE, FAKE_API_FREE, 0, FAKE_AT_NOWHERE);
	use->access[1] = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 100);
	make(NULL);
	ck_assert_str_eq(report->shown.at[0].words.missing_edge, "");
	ck_assert_str_eq(
		report->shown.at[0].words.message,
		"kernel fill uses allocation 1 (16.0 KiB, cudaMemcpy at race.cu:40), which cudaFree has freed");
}
END_TEST

START_TEST(every_fix_has_words_without_unfilled_facts)
{
	for (int fix = SW_FIX_NONE + 1; fix <= SW_FIX_UNNEEDED; fix++)
		for (int torch = 0; torch < 2; torch++) {
			struct sw_wording words;
			struct sw_finding finding = {
				.id = 101, .accesses = 2, .fix = (enum sw_fix)fix, .fix_stream = 1};
			finding.access[0] = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20);
			finding.access[1] = launch(SW_READ, FAKE_SCALE, 2, FAKE_AT_SCALE, 21);
			fake_trace.torch = torch;
			make(NULL);
			sw_wording_of(&report->names, &finding, &words);
			ck_assert_msg(words.fix[0] && !strchr(words.fix, '{'), "fix %d: %s", fix, words.fix);
		}
}
END_TEST

START_TEST(driver_users_are_told_driver_functions)
{
	add_race();
	struct sw_finding *race = &judgement.findings.at[0];
	for (int i = 0; i < 2; i++) {
		race->access[i].api = FAKE_API_DRIVER;
		race->access[i].flags = 0;
		race->access[i].stack = FAKE_AT_NOWHERE;
	}
	make(NULL);
	ck_assert_ptr_nonnull(strstr(report->shown.at[0].words.fix, "cuEventRecord"));
	ck_assert_ptr_null(strstr(report->shown.at[0].words.fix, "cudaEventRecord"));
}
END_TEST

/* ---- names ------------------------------------------------------------------------------------------------------- */

START_TEST(functions_are_named_as_the_user_called_them)
{
	make(NULL);
	struct sw_names *names = &report->names;
	/* By the frame of a static cudart, without the ABI's suffix, by the record, by the driver. */
	ck_assert_str_eq(sw_name_api(names, FAKE_API_SYNC, SW_RF_RUNTIME, FAKE_AT_COPY), "cudaMemcpy");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_LAUNCH, 0, 0), "cuLaunchKernel");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_FREE, SW_RF_RUNTIME, FAKE_AT_NOWHERE), "cudaFree");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_FREE, 0, FAKE_AT_NOWHERE), "cuMemFree");
	ck_assert_str_eq(sw_name_api(names, FAKE_API_DRIVER, SW_RF_RUNTIME, 0), "cuLaunchKernelEx");
	ck_assert_str_eq(sw_name_api(names, 999, 0, 0), "a call");
}
END_TEST

START_TEST(streams_are_named_as_users_know_them)
{
	make(NULL);
	struct sw_names *names = &report->names;
	ck_assert_str_eq(sw_name_stream(names, 0), "the host");
	ck_assert_str_eq(sw_name_stream(names, 1), "stream 1");
	ck_assert_str_eq(sw_name_stream(names, 2), "stream 2 'copies'");
	ck_assert_str_eq(sw_name_stream(names, 3), "the legacy default stream");
	ck_assert_str_eq(sw_name_stream(names, 4), "the per-thread default stream of thread 2 of device 1");
	ck_assert_str_eq(sw_name_stream(names, 99), "the host");
	ck_assert_str_eq(sw_name_stream_site(names, 1), "race.cu:12");
}
END_TEST

static const struct {
	const char *name, *base;
} bases[] = {
	{"main", "main"},
	{"scale(float*, int)", "scale"},
	{"void ns::scale<float, 4>(float*, int)", "ns::scale"},
	{"void (anonymous namespace)::fill<int>(int*)", "(anonymous namespace)::fill"},
	{"std::vector<int, std::allocator<int> > make<3>()", "make"},
	{"Foo::operator()(int) const", "Foo::operator()"},
	{"Foo::operator float*() const", "Foo::operator float*"},
	{"my_operator(int)", "my_operator"},
	{"bool operator< <int>(int, int)", "operator< <int>"},
	{"void f<void (*)(int)>(int)", "f"},
	{"void at::elementwise<4, at::sum<float>::operator()(at::Iterator&)::{lambda(float)#1}, 2>(int)",
	 "at::elementwise"},
	{"", ""},
};

START_TEST(base_names_drop_types_and_keep_scopes)
{
	char *base = sw_demangled_base(bases[_i].name);
	ck_assert_str_eq(base, bases[_i].base);
	free(base);
}
END_TEST

START_TEST(frames_of_cuda_are_hidden_unless_there_is_nothing_else)
{
	make(NULL);
	struct sw_stack_view view = sw_stack_view(&report->names, FAKE_AT_SCALE, FAKE_SCALE);
	ck_assert_uint_eq(view.n, 1);
	ck_assert_str_eq(view.at[0].frame->base, "main");
	ck_assert_int_eq(view.at[0].frame->line, 33);
	view = sw_stack_view(&report->names, FAKE_AT_RUNTIME, 0);
	ck_assert_uint_eq(view.n, 1);
	ck_assert_str_eq(view.at[0].frame->base, "cudaStreamCreate");
	ck_assert_uint_eq(sw_stack_view(&report->names, 0, 0).n, 0);
}
END_TEST

/* ---- fingerprints ------------------------------------------------------------------------------------------------ */

START_TEST(fingerprint_ignores_what_changes_from_run_to_run)
{
	add_race();
	make(NULL);
	uint64_t first = report->shown.at[0].fingerprint;
	judgement.findings.at[0].access[0].address += 4096;
	judgement.findings.at[0].access[0].seq += 100;
	judgement.findings.at[0].count = 99;
	judgement.streams.at[1].handle = 0x77;
	make(NULL);
	ck_assert_uint_eq(report->shown.at[0].fingerprint, first);
	judgement.findings.at[0].access[0].stack = FAKE_AT_COPY;
	make(NULL);
	ck_assert_uint_ne(report->shown.at[0].fingerprint, first);
}
END_TEST

/* ---- suppressions ------------------------------------------------------------------------------------------------ */

static char suppression_path[64];

static int load(const char *lines, struct sw_suppressions **out, struct sw_error *error)
{
	*out = NULL;
	strcpy(suppression_path, "/tmp/sw-suppress-XXXXXX");
	int fd = mkstemp(suppression_path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
	close(fd);
	int rc = sw_suppress_load(suppression_path, SW_SUPPRESS_FILE, out, error);
	unlink(suppression_path);
	return rc;
}

static const struct {
	const char *line;
	bool fits;
} lines[] = {
	{"SW101\n", true},
	{"SW102\n", false},
	{"SW1??  # all races\n", true},
	{"SW*\n", true},
	{"SW3*\n", false},
	{"SW101 kernel=scale\n", true},
	{"SW101 kernel=sca*\n", true},
	{"SW101 kernel=\"scale(float*, int)\"\n", true},
	{"SW101 kernel=fill function=main file=race.cu\n", true},
	{"SW101 kernel=nope\n", false},
	{"SW101 kernel=scale function=nope\n", false},
	{"SW101 file=/src/*.cu\n", true},
	{"SW101 file=other.cu\n", false},
	{"SW101 module=rac?\n", true},
	{"SW101 module=/home/*\n", false},
	{"SW101 function=main module=libcublas.so*\n", false},
	{"SW101 function=cudaMemcpy\n", false},
	{"SW101 allocated=race\n", true},
	{"SW101 allocated=libcudnn*\n", false},
	{"# nothing\n\n   \t\r\n", false},
};

START_TEST(suppression_lines_fit_what_they_name)
{
	struct sw_suppressions *s;
	struct sw_error error;
	add_race();
	ck_assert_int_eq(load(lines[_i].line, &s, &error), 0);
	struct sw_report_options options = {.suppressions = s};
	make(&options);
	ck_assert_uint_eq(report->shown.n, lines[_i].fits ? 0 : 1);
	ck_assert_uint_eq(report->totals.suppressed, lines[_i].fits);
	ck_assert_uint_eq(report->totals.errors, !lines[_i].fits);
	options.all = true;
	make(&options);
	ck_assert_uint_eq(report->shown.n, 1);
	sw_suppress_free(s);
}
END_TEST

static const struct {
	const char *line, *place;
} bad_lines[] = {
	{"SW101\nraces\n", ":2: a line starts with an id such as SW101, not 'races'"},
	{"SW1\n", ":1: a line starts with an id"},
	{"SW101 colour=red\n", ":1: 'colour=red' is none of"},
	{"\n\nSW101 kernel=\n", ":3: 'kernel=' is empty"},
	{"SW101 kernel=a kernel=b\n", ":1: 'kernel=b' is given twice"},
	{"SW101 kernel=\"a\n", ":1: a quote is not closed"},
};

START_TEST(bad_suppression_lines_are_refused_with_their_place)
{
	struct sw_suppressions *s = NULL;
	struct sw_error error;
	ck_assert_int_eq(load(bad_lines[_i].line, &s, &error), SW_E_FORMAT);
	ck_assert_ptr_null(s);
	ck_assert_msg(strncmp(error.text, suppression_path, strlen(suppression_path)) == 0, "%s", error.text);
	ck_assert_msg(strstr(error.text, bad_lines[_i].place) != NULL, "%s", error.text);
}
END_TEST

START_TEST(missing_suppression_file_is_an_error)
{
	struct sw_suppressions *s = NULL;
	struct sw_error error;
	ck_assert_int_lt(sw_suppress_load("/nonexistent/s", SW_SUPPRESS_FILE, &s, &error), 0);
	ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/s"));
}
END_TEST

START_TEST(printed_suppression_line_suppresses_its_finding_alone)
{
	struct sw_suppressions *s;
	struct sw_error error;
	add_race();
	add_wait();
	/* A name with everything that could be taken for a glob, a quote or a comment. */
	judgement.findings.at[0].access[1].function = FAKE_HOSTILE;
	make(NULL);
	ck_assert_uint_eq(report->shown.n, 2);
	int other = report->shown.at[!_i].finding->id;
	char *lines_file = sw_format("%s\n", report->shown.at[_i].suppression);
	ck_assert_int_eq(load(lines_file, &s, &error), 0);
	struct sw_report_options options = {.suppressions = s};
	make(&options);
	ck_assert_uint_eq(report->shown.n, 1);
	ck_assert_int_eq(report->shown.at[0].finding->id, other);
	free(lines_file);
	sw_suppress_free(s);
}
END_TEST

/* 0: many calls that pin memory, one soon after the other.  1: as many over a minute.  2: as many copies. */
START_TEST(storms_of_pinning_are_told)
{
	add_wait();
	struct sw_finding *pin = &judgement.findings.at[0];
	pin->id = _i == 2 ? SW_FINDING_SYNC_COPY : SW_FINDING_HOST_PIN;
	pin->pinned = 40 * 4096;
	pin->last_ns = pin->access[0].t_ns + (_i == 1 ? 60000000000u : 390000000u);
	make(&(struct sw_report_options){.all = true});
	char *text = text_of(false);
	ck_assert(!strstr(text, "100 calls a second") == (_i != 0));
	free(text);
}
END_TEST

START_TEST(unused_lines_are_reported)
{
	struct sw_suppressions *s;
	struct sw_error error;
	add_race();
	ck_assert_int_eq(load("SW101\nSW305 # not here\nSW4* kernel=x\n", &s, &error), 0);
	struct sw_report_options options = {.suppressions = s};
	make(&options);
	ck_assert_ptr_nonnull(strstr(sw_suppress_unused(s, 0), ":2: SW305 # not here"));
	ck_assert_ptr_nonnull(strstr(sw_suppress_unused(s, 1), ":3: SW4* kernel=x"));
	ck_assert_ptr_null(sw_suppress_unused(s, 2));
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "SW305 # not here"));
	free(text);
	sw_suppress_free(s);
}
END_TEST

START_TEST(changed_modules_give_offsets_and_a_complaint)
{
	add_race();
	fake_trace.changed = true;
	make(NULL);
	char *text = text_of(false);
	ck_assert_ptr_nonnull(strstr(text, "#0  (race+0x1081)\n"));
	ck_assert_ptr_nonnull(strstr(text, "changed:       /home/u/race (names of call stacks)"));
	free(text);
}
END_TEST

START_TEST(missing_files_are_told_first_with_what_helps)
{
	static struct sw_unusable_code code[2] = {{"/lib/libtorch_cuda.so", false, 3}, {"/lib/libcublas.so", true, 1}};
	add_race();
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
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, race_and_wait_read_as_agreed);
	tcase_add_test(c, clean_run_says_so_with_its_coverage);
	tcase_add_test(c, crashed_simulated_run_says_both);
	tcase_add_test(c, torch_stacks_collapse_and_advice_speaks_torch);
	tcase_add_test(c, colour_is_asked_for_and_hostile_names_stay_text);
	tcase_add_test(c, every_finding_has_a_message_without_unfilled_facts);
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
	tcase_add_test(c, functions_are_named_as_the_user_called_them);
	tcase_add_test(c, streams_are_named_as_users_know_them);
	tcase_add_loop_test(c, base_names_drop_types_and_keep_scopes, 0, sizeof bases / sizeof bases[0]);
	tcase_add_test(c, frames_of_cuda_are_hidden_unless_there_is_nothing_else);
	tcase_add_test(c, fingerprint_ignores_what_changes_from_run_to_run);
	tcase_add_loop_test(c, suppression_lines_fit_what_they_name, 0, sizeof lines / sizeof lines[0]);
	tcase_add_loop_test(c, bad_suppression_lines_are_refused_with_their_place, 0,
			    sizeof bad_lines / sizeof bad_lines[0]);
	tcase_add_test(c, missing_suppression_file_is_an_error);
	tcase_add_loop_test(c, printed_suppression_line_suppresses_its_finding_alone, 0, 2);
	tcase_add_loop_test(c, storms_of_pinning_are_told, 0, 3);
	tcase_add_test(c, unused_lines_are_reported);
	tcase_add_test(c, changed_modules_give_offsets_and_a_complaint);
	tcase_add_test(c, missing_files_are_told_first_with_what_helps);
	suite_add_tcase(suite, c);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
