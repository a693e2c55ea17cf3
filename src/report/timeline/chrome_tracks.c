/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks of the viewer: where a slice goes, what a track is called, how much work is pending. */
#include "report/timeline/chrome.h"

#include <stdlib.h>
#include <string.h>

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

static void name_thread(struct sw_chrome *c, uint32_t thread, unsigned lane, uint32_t tid)
{
	const struct sw_trace_thread *info = sw_reader_thread(c->reader, thread);
	const char *name = info && info->name[0] ? info->name : info && info->main ? "main" : "";
	char *text = sw_format("thread %u%s%s%s%s%s", thread, name[0] ? " '" : "", name, name[0] ? "'" : "",
			       lane ? " (overlap)" : "", info ? "" : " (unknown)");
	sw_event_name(&c->events, "thread_name", PID_HOST, tid, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "thread_sort_index", PID_HOST, tid, tid);
	free(text);
}

struct sw_drawn sw_chrome_place(struct sw_chrome *c, uint32_t thread, uint64_t start, uint64_t end)
{
	if (thread > MAX_THREAD)
		thread = 0; /* only a damaged trace has as many */
	while (c->threads.n <= thread)
		*sw_vec_push(&c->threads) = (struct thread){0};
	struct thread *t = &c->threads.at[thread];
	unsigned lane = 0;
	while (lane < LANES - 1 && start + 2 < t->end[lane])
		lane++;
	uint32_t tid = TID_THREAD + LANES * thread + lane;
	if (!t->named[lane])
		name_thread(c, thread, lane, tid);
	t->named[lane] = true;
	if (start < t->end[lane])
		start = t->end[lane];
	if (end <= start)
		end = start + 1;
	t->end[lane] = end;
	return (struct sw_drawn){tid, start, end};
}

static struct counter *counter_of(struct sw_chrome *c, int device)
{
	while (c->counters.n <= (size_t)device)
		*sw_vec_push(&c->counters) = (struct counter){0};
	return &c->counters.at[device];
}

uint32_t sw_chrome_device(const struct sw_chrome *c, uint32_t stream)
{
	int device = c->judgement && stream < c->judgement->streams.n ? c->judgement->streams.at[stream].device : 0;
	return device > 0 && device < 1000 ? (uint32_t)device : 0;
}

static void name_device(struct sw_chrome *c, uint32_t device)
{
	const struct sw_trace_device *info = NULL, *at;
	for (size_t i = 0; (at = sw_reader_device(c->reader, i)); i++)
		if (at->ordinal == (int32_t)device)
			info = at;
	char *text = sw_format("GPU %u%s%s (times %s)", device, info ? " " : "", info ? info->name : "",
			       c->judgement->gpu.recorded ? MEASURED : ESTIMATED);
	sw_event_name(&c->events, "process_name", PID_DEVICE + device, 0, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "process_sort_index", PID_DEVICE + device, 0, PID_DEVICE + device);
	free(text);
}

struct stream_track *sw_chrome_track(struct sw_chrome *c, uint32_t stream)
{
	while (c->streams.n <= stream)
		*sw_vec_push(&c->streams) = (struct stream_track){.drawn = false};
	return &c->streams.at[stream];
}

struct sw_label sw_chrome_stream(struct sw_chrome *c, uint32_t stream)
{
	struct stream_track *track = sw_chrome_track(c, stream);
	if (!track->name.n)
		track->name = sw_label_any(&c->labels, sw_name_stream(&c->labels.names, stream));
	return track->name;
}

struct sw_label sw_chrome_variant(struct sw_chrome *c, struct sw_label name, const char *before, const char *after,
				  unsigned which)
{
	/* Labels of one name are one text: its address stands for it. */
	uint64_t *index = sw_map_put(&c->variant_of, (uint64_t)(uintptr_t)name.text << 2 | (which & 3));
	if (*index)
		return c->variants.at[*index - 1];
	/* Within its quotes. */
	char *text = sw_format("\"%s%.*s%s\"", before, (int)name.n - 2, name.text + 1, after);
	size_t n = strlen(text);
	char *kept = sw_arena_alloc(&c->labels.names.arena, n + 1);
	memcpy(kept, text, n + 1);
	free(text);
	*sw_vec_push(&c->variants) = (struct sw_label){kept, n};
	*index = c->variants.n;
	return c->variants.at[c->variants.n - 1];
}

/* At the end, when all is known that a stream was ever called. */
void sw_chrome_name_streams(struct sw_chrome *c)
{
	for (uint32_t i = 0; i < c->streams.n; i++) {
		uint32_t device = sw_chrome_device(c, i), tid = TID_STREAM + i;
		if (!c->streams.at[i].drawn && !c->streams.at[i].inferred && !c->streams.at[i].estimated)
			continue;
		if (!counter_of(c, (int)device)->used)
			name_device(c, device);
		counter_of(c, (int)device)->used = true;
		sw_chrome_name_timed(c, i);
		if (!c->streams.at[i].drawn)
			continue;
		sw_event_name(&c->events, "thread_name", PID_DEVICE + device, tid,
			      sw_label_any(&c->labels, sw_name_stream(&c->labels.names, i)));
		sw_event_sort(&c->events, "thread_sort_index", PID_DEVICE + device, tid, tid);
	}
}

/* ---- counter ----------------------------------------------------------------------------------------------------- */

static void counter_write(struct sw_chrome *c, uint32_t device, struct counter *counter)
{
	if (counter->changed && sw_window_shows(&c->window, counter->ns, counter->ns))
		sw_event_counter(&c->events, PID_DEVICE + device, counter->ns, "pending work", counter->value);
	counter->last_ns = counter->ns;
	counter->changed = false;
}

void sw_chrome_count(struct sw_chrome *c, uint32_t stream, uint64_t ns, uint64_t more, uint64_t fewer)
{
	uint32_t device = sw_chrome_device(c, stream);
	struct counter *counter = counter_of(c, (int)device);
	if (ns < counter->last_ns)
		ns = counter->last_ns; /* threads are reported in the order of their calls, not of the clock */
	if (counter->changed && ns >= counter->ns + COUNTER_NS)
		counter_write(c, device, counter);
	if (!counter->changed)
		counter->ns = ns;
	counter->changed = true;
	counter->value += more;
	counter->value -= fewer < counter->value ? fewer : counter->value;
}

void sw_chrome_count_end(struct sw_chrome *c)
{
	for (size_t i = 0; i < c->counters.n; i++)
		counter_write(c, (uint32_t)i, &c->counters.at[i]);
}
