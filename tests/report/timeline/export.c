/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a trace, judges it and exports the timeline: export CASE TRACE OUT [--gzip] [--perfetto] [--from NS] [--to NS]
 * [--around NS]
 * [--dot [WHICH]].  Says on standard output what was put in, so that the checks know what must come out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/trace_builder.h"
#include "report/timeline/timeline.h"

enum { A = 0xa0, B = 0xb0, EVENT = 0xe0 };
static const uint64_t device_memory = 0x7f0000000000, host_memory = 0x550000000000;

static uint32_t kernel;

static void say(const char *what, uint64_t seq)
{
	printf("%s %" PRIu64 "\n", what, seq);
}

static void launch(struct tb *tb, uint64_t stream, uint64_t pointer)
{
	tb_call(tb, "cuLaunchKernel", "cudaLaunchKernel");
	tb_launch(tb, kernel, stream, 1, pointer)->h.flags |= SW_RF_RUNTIME;
	say("kernel", tb->seq);
}

static void event_record(struct tb *tb, uint64_t event, uint64_t stream)
{
	tb_event_record(tb, event, stream);
	say("record", tb->seq);
}

static void stream_wait(struct tb *tb, uint64_t stream, uint64_t event)
{
	tb_stream_wait(tb, stream, event);
	say("wait", tb->seq);
}

static struct tb *start(const char *path)
{
	struct tb *tb = tb_new(path, NULL);
	tb_alloc(tb, SW_MEM_DEVICE, device_memory, 1 << 20);
	tb_alloc(tb, SW_MEM_PINNED, host_memory, 1 << 20);
	tb_stream_create(tb, A, 1);
	tb_stream_create(tb, B, 1);
	tb_event_create(tb, EVENT);
	kernel = tb_function(tb, "_Z5scalePf", 1, 8);
	return tb;
}

/* Producer and consumer with an event between them, a host wait, a synchronous copy. */
static void pipeline(struct tb *tb)
{
	launch(tb, A, device_memory);
	event_record(tb, EVENT, A);
	stream_wait(tb, B, EVENT);
	launch(tb, B, device_memory);
	tb->dur = 50000;
	say("sync", tb_sync(tb, SW_SYNC_STREAM, B));
	say("copy", tb_copy_sync(tb, host_memory, SW_SIDE_HOST, device_memory, SW_SIDE_DEVICE, 4096));
	tb->dur = 100;
}

/* A trace without the wait: a hazard between exact copies. */
static void race(struct tb *tb)
{
	tb_copy(tb, device_memory, SW_SIDE_DEVICE, host_memory, SW_SIDE_HOST, 4096, A);
	say("copy", tb->seq);
	tb_copy(tb, host_memory + 8192, SW_SIDE_HOST, device_memory, SW_SIDE_DEVICE, 4096, B);
	say("copy", tb->seq);
	tb->dur = 50000;
	say("sync", tb_sync(tb, SW_SYNC_CONTEXT, 0));
	tb->dur = 100;
}

/* Threads whose calls overlap in time, a host function on a third one, the legacy stream, names that hurt. */
static void everything(struct tb *tb)
{
	pipeline(tb);
	race(tb);
	uint32_t hurt = tb_function(tb, "k\"\\\x01\x7f\n\xff\xed\xa0\xbd</script>\xf0\x9f\x98\x80", 1, 8);
	tb_launch(tb, hurt, A, 1, device_memory);
	say("kernel", tb->seq);
	tb_thread(tb, 2);
	tb->now -= 40000; /* in the middle of the first thread's wait */
	for (int i = 0; i < 20; i++)
		launch(tb, i % 2 ? 0 : B, device_memory);
	tb_thread(tb, 1);
	tb_host_func(tb, A, 0x401000);
	uint64_t enqueued = tb->seq;
	say("host_func", enqueued);
	launch(tb, A, device_memory);
	tb_thread(tb, 3);
	tb->dur = 3000;
	tb_host_func_run(tb, A, 0x401000, enqueued);
	tb->dur = 100;
	tb_thread(tb, 1);
	tb->status = 1;
	tb_launch(tb, kernel, A, 1, device_memory);
	tb->status = 0;
	launch(tb, A, device_memory);
	tb_sync_begin(tb, SW_SYNC_STREAM, A); /* and never returns */
}

/* More work than is held for a stream, most of which nothing waits for. */
static void deep(struct tb *tb)
{
	for (int i = 0; i < 10000; i++)
		launch(tb, A, device_memory);
	event_record(tb, EVENT, A);
	for (int i = 0; i < 100; i++)
		launch(tb, A, device_memory);
	say("sync", tb_sync(tb, SW_SYNC_EVENT, EVENT));
}

/* Time stamps of the devices: an activity, the driver call that it belongs to, and both clocks the same. */
static uint32_t correlation;
static void ran(struct tb *tb, uint64_t call, enum sw_activity what, uint64_t start, uint64_t end)
{
	tb_activity(tb, SW_ACTIVITY_CALL, ++correlation, call + 10, call + 90)->on = 1000;
	tb_activity(tb, what, correlation, start, end);
}

/* Work whose times are known, some of which overlaps on its stream, one piece of which has none, and waits for it. */
static void timed(struct tb *tb)
{
	uint64_t at[5];
	tb_gpu_clock(tb, tb->now, 0);
	for (int i = 0; i < 4; i++) {
		launch(tb, A, device_memory);
		at[i] = tb->now - tb->step;
	}
	tb_copy(tb, host_memory, SW_SIDE_HOST, device_memory, SW_SIDE_DEVICE, 4096, A);
	at[4] = tb->now - tb->step;
	say("copy", tb->seq);
	tb->dur = 50000;
	say("sync", tb_sync(tb, SW_SYNC_STREAM, A));
	tb->dur = 100;
	ran(tb, at[0], SW_ACTIVITY_KERNEL, at[0] + 2000, at[0] + 7000);
	ran(tb, at[1], SW_ACTIVITY_KERNEL, at[0] + 6500, at[0] + 9000);
	ran(tb, at[2], SW_ACTIVITY_KERNEL, at[0] + 9000, at[0] + 12345);
	ran(tb, at[4], SW_ACTIVITY_COPY, at[0] + 13000, at[0] + 14000);
	tb_gpu_clock(tb, tb->now, 0);
}

static const struct {
	const char *name;
	void (*build)(struct tb *tb);
	bool ends;
} cases[] = {{"pipeline", pipeline, true},
	     {"race", race, true},
	     {"everything", everything, false},
	     {"deep", deep, true},
	     {"timed", timed, true}};

struct request {
	struct sw_chrome_options chrome;
	struct sw_dot_options dot;
	uint64_t around;
	const char *which;
	bool draw;
};

static int fail(const struct sw_error *error)
{
	fprintf(stderr, "export: %s\n", error->text);
	return 1;
}

/* One pass over the trace; judgement: kept for the caller when wanted. */
static int pass(const char *trace, FILE *out, const struct request *request, struct sw_judgement **judgement,
		struct sw_reader **reader)
{
	struct sw_error error;
	struct sw_judge_options judge = {.keep_possible = true};
	struct sw_chrome *chrome = NULL;
	struct sw_dot *dot = NULL;
	if (sw_reader_open(trace, reader, &error))
		return fail(&error);
	if (out && request->draw) {
		dot = sw_dot_new(out, *reader, &request->dot);
		judge.observer = sw_dot_observer(dot);
	} else if (out) {
		chrome = sw_chrome_new(out, *reader, &request->chrome);
		judge.observer = sw_chrome_observer(chrome);
	}
	int status = sw_judge(*reader, &judge, judgement, &error) ? fail(&error) : 0;
	if (chrome)
		sw_chrome_finish(chrome);
	if (dot)
		sw_dot_finish(dot);
	return status;
}

/* "SW101": the first of that id. */
static const struct sw_finding *find_id(const struct sw_judgement *judgement, const char *which)
{
	for (size_t i = 0; i < judgement->findings.n; i++)
		if (judgement->findings.at[i].id == atoi(which + strspn(which, "SW")))
			return &judgement->findings.at[i];
	return NULL;
}

static int export(const char *trace, const char *path, struct request *request)
{
	struct sw_judgement *first = NULL, *second = NULL;
	struct sw_reader *first_reader = NULL, *second_reader = NULL;
	FILE *out = fopen(path, "w");
	int status = out ? 0 : 1;
	if (!status && (request->around || request->which)) {
		status = pass(trace, NULL, request, &first, &first_reader);
		request->chrome.around = request->around ? first : NULL;
		request->chrome.around_ns = request->around;
		request->dot.around = request->which ? find_id(first, request->which) : NULL;
		if (request->which && !request->dot.around)
			status = 3;
	}
	if (!status)
		status = pass(trace, out, request, &second, &second_reader);
	if (out)
		status |= ferror(out) | fclose(out);
	sw_judgement_free(first);
	sw_judgement_free(second);
	if (first_reader)
		sw_reader_close(first_reader);
	if (second_reader)
		sw_reader_close(second_reader);
	return status;
}

static struct request parse(int argc, char **argv)
{
	struct request request = {0};
	for (int i = 4; i < argc; i++) {
		uint64_t number = i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
		if (!strcmp(argv[i], "--gzip"))
			request.chrome.gzip = true;
		else if (!strcmp(argv[i], "--perfetto"))
			request.chrome.perfetto = true;
		else if (!strcmp(argv[i], "--from"))
			request.chrome.from_ns = number;
		else if (!strcmp(argv[i], "--to"))
			request.chrome.to_ns = number;
		else if (!strcmp(argv[i], "--around"))
			request.around = number;
		else if (!strcmp(argv[i], "--dot"))
			request.draw = true;
		else if (!strcmp(argv[i], "--which"))
			request.which = argv[i + 1];
	}
	return request;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	if (!strcmp(argv[1], "can-gzip"))
		return !sw_chrome_can_gzip();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(cases[i].name, argv[1])) {
			struct tb *tb = start(argv[2]);
			cases[i].build(tb);
			tb_close(tb, cases[i].ends);
		}
	/* Any other name: the trace is there already. */
	struct request request = parse(argc, argv);
	return export(argv[2], argv[3], &request);
}
