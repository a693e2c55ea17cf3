/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the order engine: steps a second and bytes held, for three kinds of programs.  One argument: seconds a mix.
 * */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hb/hb.h"

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct mix {
	const char *name;
	void (*start)(struct sw_hb *hb);
	void (*round)(struct sw_hb *hb, uint64_t *seq);
};

static struct sw_hb_at at(uint64_t stream, uint64_t *seq)
{
	return (struct sw_hb_at){.stream = stream, .seq = ++*seq, .thread = 1, .ctx = 1};
}

static void start_nothing(struct sw_hb *hb)
{
	sw_hb_context_create(hb, 1, 0);
}

/* Launches and synchronous copies on the default stream: what most programs do. */
static void default_stream(struct sw_hb *hb, uint64_t *seq)
{
	for (int i = 0; i < 8; i++) {
		struct sw_hb_at a = at(0, seq);
		sw_hb_enqueue(hb, &a);
	}
	struct sw_hb_at copy = at(0, seq);
	struct sw_point p = sw_hb_enqueue(hb, &copy);
	sw_hb_wait_end(hb, sw_hb_wait_point(hb, p.lane), 1, ++*seq, SW_ORDER_DOCUMENTED, NULL);
	sw_hb_host_step(hb, 1, ++*seq);
}

static void start_streams(struct sw_hb *hb)
{
	for (uint64_t s = 0; s < 32; s++)
		sw_hb_stream_create(hb, 1, 0x1000 + s, s < 8);
	for (uint64_t e = 0; e < 8; e++)
		sw_hb_event_create(hb, 0x2000 + e);
}

/* A pipeline over four non-blocking streams, joined by events; one host wait a round. */
static void pipeline(struct sw_hb *hb, uint64_t *seq)
{
	for (uint64_t s = 0; s < 4; s++) {
		struct sw_hb_at a = at(0x1000 + s, seq);
		struct sw_hb_event_state state;
		sw_hb_stream_wait(hb, &a, 0x2000 + (s + 3) % 4, 0, &state);
		sw_hb_enqueue(hb, &a);
		sw_hb_enqueue(hb, &a);
		sw_hb_event_record(hb, 0x2000 + s, &a, 0, NULL);
	}
	sw_hb_wait_end(hb, sw_hb_wait_event(hb, 0x2003, NULL), 1, ++*seq, SW_ORDER_DOCUMENTED, NULL);
}

/* Blocking streams with the legacy stream in between, and the host touching buffers. */
static void legacy(struct sw_hb *hb, uint64_t *seq)
{
	for (uint64_t s = 8; s < 32; s++) {
		struct sw_hb_at a = at(0x1000 + s, seq), d = at(0, seq);
		sw_hb_enqueue(hb, &a);
		sw_hb_enqueue(hb, &a);
		sw_hb_enqueue(hb, &d);
		sw_hb_host_step(hb, 1, ++*seq);
	}
	sw_hb_wait_end(hb, sw_hb_wait_context(hb, 1), 1, ++*seq, SW_ORDER_DOCUMENTED, NULL);
}

static const struct mix mixes[] = {
	{"default stream", start_nothing, default_stream},
	{"event pipeline", start_streams, pipeline},
	{"legacy and 24 blocking streams", start_streams, legacy},
};

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.5;
	for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
		struct sw_hb *hb = sw_hb_new(NULL);
		uint64_t seq = 0;
		mixes[i].start(hb);
		double start = now();
		do
			for (int round = 0; round < 1000; round++)
				mixes[i].round(hb, &seq);
		while (now() - start < seconds);
		double took = now() - start;
		struct sw_hb_stats stats = sw_hb_stats(hb);
		printf("%-32s %6.1f million steps/s  %6.0f KiB  %u lanes\n", mixes[i].name,
		       (double)stats.steps / took * 1e-6, (double)stats.bytes / 1024, stats.lanes);
		sw_hb_free(hb);
	}
	return 0;
}
