/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/window.h"

#include <stdatomic.h>

#include "preload/platform/isolated_thread.h"
#include "preload/platform/lock.h"
#include "preload/platform/say.h"
#include "preload/platform/sys.h"
#include "preload/recorder/call_begin.h"
#include "preload/recorder/counted.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/trace.h"
#include "preload/recorder/writer.h"
#include "preload/session/announce.h"

#define SECOND_NS 1000000000u

/* Open ranges with a name of --capture that are known by a number, and domains in which one thread is inside of such
   a range: more than these open no window. */
#define STARTED 256u
#define DOMAINS 4u
#define LEVELS	64u

static struct {
	struct sw_lock lock;	    /* of a turn */
	bool open;		    /* as the trace has it */
	uint64_t first_seq;	    /* of the pause */
	uint64_t left_out;	    /* calls, when it began */
	uint64_t started_ns;	    /* when the program was */
	_Atomic uint64_t opened_ns; /* when a window opened first; 0: none has */
	_Atomic bool delay_over, duration_over;
	_Atomic uint32_t order;	  /* enum sw_window_order */
	_Atomic uint32_t ordered; /* orders of the command that were followed */
	_Atomic int32_t ranges;	  /* that are open and have the name, of all threads */
	_Atomic bool profiler;
	_Atomic uint64_t entries; /* of such ranges */
	_Atomic uint64_t started[STARTED];
	_Atomic uint32_t started_n;
	bool no_thread; /* nobody looks at timers but the calls that are left out */
} window;

/* Ranges of the calling thread: of each domain in which one has the name, how deep it is in and which levels have it.
 */
static __thread struct {
	struct {
		uint64_t domain, named;
		uint32_t depth; /* 0: free */
	} in[DOMAINS];
	bool python; /* it is inside of the function of --capture */
} here __attribute__((tls_model("initial-exec")));

sw_window_inside *sw_window_ask_python;
bool sw_window_asks;

static void add_ranges(int32_t n);

/* ---- hot calls --------------------------------------------------------------------------------------------------- */

/* --capture of a Python function: looks whether the thread is inside of it, and changes the count of open ranges when
   that changes. */
void sw_window_ask(void)
{
	sw_window_inside *inside = __atomic_load_n(&sw_window_ask_python, __ATOMIC_ACQUIRE);
	const bool now = inside ? inside() : here.python;
	if (now == here.python)
		return;
	here.python = now;
	add_ranges(now ? 1 : -1);
}

/* Is the call, outside of all windows, left out?  Only entry points marked HOT are; the report needs the others, such
   as those that make and free things. */
bool sw_window_leaves_out(uint16_t api)
{
	if (__builtin_expect(window.no_thread, 0))
		sw_window_look(0);
	sw_window_ask();
	return sw_calls_hot && sw_calls_hot(api) && sw_window_counts_out();
}

/* Is everything left out now?  During a capture nothing is, since the graph may be launched in a window. */
bool sw_window_paused(void)
{
	return sw_process_state() == SW_STATE_PAUSED && !__atomic_load_n(&sw_window_captures, __ATOMIC_RELAXED);
}

/* ---- the edges --------------------------------------------------------------------------------------------------- */

uint32_t sw_window_captures;

/* Do the options ask for windows at all?  Without any, all of the program is recorded. */
static bool has_windows(void)
{
	const struct sw_preload_options *o = sw_preload_options();
	return o->windows || o->paused || o->delay_ns || o->duration_ns;
}

/* Should a window be open now?  An order of the user or of the program decides first, then --delay and --duration, then
   what --capture names. */
static bool should_be_open(void)
{
	const struct sw_preload_options *o = sw_preload_options();
	const uint32_t order = atomic_load(&window.order);
	if (order)
		return order == SW_WINDOW_OPEN;
	if ((o->delay_ns && !atomic_load(&window.delay_over)) || atomic_load(&window.duration_over))
		return false;
	if (o->windows == SW_WINDOW_PROFILER)
		return atomic_load(&window.profiler);
	return o->windows == SW_WINDOW_ALL || atomic_load(&window.ranges) > 0;
}

/* The state while a window is open; for Python functions one in which each call asks whether it is inside of the
   function. */
static uint32_t state_of_open_window(void)
{
	return sw_preload_options()->windows == SW_WINDOW_PYTHON ? SW_STATE_ON_ASKED : SW_STATE_ON;
}

/* Something has changed that opens or closes windows: if one must change, the state becomes TURN, and the next call
   does it.  Any thread, the isolated one too. */
static void reconsider(void)
{
	/* In one order for all with what should_be_open() reads: of a thread that opens a window and one that ends a
	   turn at least one sees what the other has stored. */
	uint32_t state = atomic_load(&sw_process_page->state);
	const bool open = should_be_open();
	if (state == (open ? SW_STATE_PAUSED : state_of_open_window()))
		atomic_compare_exchange_strong(&sw_process_page->state, &state, SW_STATE_TURN);
}

/* Calls of all threads that were counted instead of recorded, since the trace began. */
static uint64_t count_left_out(void)
{
	uint64_t calls = 0;
	for (const struct sw_writer *w = sw_writer_all(); w; w = w->next)
		calls += __atomic_load_n(&w->left_out, __ATOMIC_RELAXED);
	return calls;
}

/* Writes the record of an edge of a window; `opens`: of the beginning, which says which calls the pause left out. Takes
   two sequence numbers at once: the records before and after the edge differ for certain, as no other record has the
   first one. */
static void write_cut(struct sw_writer *w, bool opens, uint32_t flags)
{
	struct sw_rec_cut *r = (struct sw_rec_cut *)sw_writer_describe(w, SW_REC_CUT, sizeof *r, false);
	if (!r) {
		sw_writer_lost(w, sizeof *r, sw_process_loss());
		return;
	}
	const uint64_t seq = atomic_fetch_add(&sw_sequence.last, 2) + 2, left_out = count_left_out();
	r->h.seq_lo = (uint32_t)seq;
	r->h.seq_hi = (uint16_t)(seq >> 32);
	r->first_seq = opens ? window.first_seq : seq - 1;
	r->last_seq = seq - 1;
	r->calls = opens ? left_out - window.left_out : 0;
	r->why = SW_CUT_PAUSED;
	r->flags = flags;
	sw_writer_commit(w);
	window.first_seq = seq - 1;
	window.left_out = left_out;
}

/* Keeps the number of windows in the header, times two; bit 0: the last one is still open. */
static void say_in_header(void)
{
	const uint32_t was = sw_trace.header->windows, so_far = was ? was : SW_FILE_WINDOWS_WHOLE;
	__atomic_store_n(&sw_trace.header->windows, window.open ? (so_far | 1) + 2 : so_far & ~1u, __ATOMIC_RELAXED);
}

/* The time of --duration counts from the first window of the program; of a fork child from its parent's. */
static void note_opening(void)
{
	if (!atomic_load(&window.opened_ns))
		atomic_store(&window.opened_ns, sw_sys_monotonic());
}

/* Writes the CUT record where a window opens or closes, and notes in the header how many windows there are. */
static void write_edge(struct sw_writer *w, bool open)
{
	sw_counted_flush(w);
	write_cut(w, open, open ? 0 : SW_CUT_BEGINS);
	window.open = open;
	say_in_header();
	if (open)
		note_opening();
}

/* Opens or closes the window, on whichever thread comes first after that was found due: writes the CUT record and
   changes the state. */
void sw_window_turn(void)
{
	struct sw_thread *t = &sw_thread;
	const uint64_t mask = sw_lock_enter(&window.lock);
	uint32_t state = SW_STATE_TURN;
	const bool open = should_be_open();
	sw_thread_busy(t, 1);
	if (sw_process_state() == state) {
		if (open != window.open)
			write_edge(t->writer, open);
		atomic_compare_exchange_strong(&sw_process_page->state, &state,
					       open ? state_of_open_window() : SW_STATE_PAUSED);
	}
	sw_thread_busy(t, 0);
	sw_lock_leave(&window.lock, mask);
	if (sw_companion_hooked())
		sw_companion_hooks_now()->published(
			NULL); /* what companions know of work in flight is not true any more */
	reconsider();
}

/* Before main: --delay counts from here, and --paused begins outside of a window. */
void sw_window_prepare(void)
{
	window.started_ns = sw_sys_monotonic();
	if (sw_preload_options()->paused)
		atomic_store(&window.order, SW_WINDOW_CLOSE);
}

/* The state that recording begins with: outside of a window if the options ask for windows and none is open. */
enum sw_recorder_state sw_window_begin(struct sw_writer *w)
{
	window.no_thread = !sw_isolated_thread() && has_windows();
	sw_window_asks = window.no_thread || sw_preload_options()->windows == SW_WINDOW_PYTHON;
	window.open = true;
	sw_window_look(0);
	if (has_windows())
		sw_trace.header->windows = SW_FILE_WINDOWS_NONE;
	if (!should_be_open())
		write_edge(w, false);
	else if (has_windows()) {
		say_in_header();
		note_opening();
	}
	return window.open ? (enum sw_recorder_state)state_of_open_window() : SW_STATE_PAUSED;
}

/* The trace ends outside of a window: a last CUT record counts what was left out. */
void sw_window_end(struct sw_writer *w)
{
	if (!window.open)
		write_cut(w, true, SW_CUT_AT_END);
}

/* In a fork child: keeps the ranges of the thread that called fork(), which goes on in them, and forgets all that other
   threads and the parent's trace had. */
void sw_window_forget(void)
{
	int32_t ranges = here.python;
	for (uint32_t i = 0; i < DOMAINS; i++)
		for (uint64_t named = here.in[i].depth ? here.in[i].named : 0; named; named &= named - 1)
			ranges++;
	for (uint32_t i = 0; i < STARTED; i++)
		atomic_store(&window.started[i], 0);
	atomic_store(&window.started_n, 0);
	atomic_store(&window.ranges, ranges);
	window.lock = (struct sw_lock){0};
	window.first_seq = window.left_out = 0;
	sw_window_captures = 0;
}

/* Opens and closes windows without a call: by the command's order, --delay, or --duration.  Returns the nanoseconds
   until the next look. */
uint64_t sw_window_look(uint64_t most_ns)
{
	const struct sw_preload_options *o = sw_preload_options();
	const uint64_t opened = atomic_load(&window.opened_ns);
	uint64_t due = 0;
	const uint32_t order = sw_announce_order(&window.ordered);
	if (order)
		atomic_store(&window.order, order);
	if (o->delay_ns && !atomic_load(&window.delay_over))
		due = window.started_ns + o->delay_ns;
	else if (o->duration_ns && opened && !atomic_load(&window.duration_over))
		due = opened + o->duration_ns;
	const uint64_t now = due ? sw_sys_monotonic() : 0;
	if (due && now >= due)
		atomic_store(o->delay_ns && !atomic_load(&window.delay_over) ? &window.delay_over
									     : &window.duration_over,
			     true);
	reconsider();
	return due > now && due - now < most_ns ? due - now : most_ns;
}

/* ---- what opens windows ------------------------------------------------------------------------------------------ */

/* A range with the name of --capture begins: does it open a window, or has --steps left it out? */
static bool is_wanted_entry(void)
{
	const struct sw_preload_options *o = sw_preload_options();
	const uint64_t entry = atomic_fetch_add(&window.entries, 1) + 1;
	return !o->steps || (entry > o->skip && entry - o->skip <= o->steps);
}

/* Changes the number of open ranges that keep a window open. */
static void add_ranges(int32_t n)
{
	atomic_fetch_add(&window.ranges, n);
	reconsider();
}

static void say_too_many(void)
{
	sw_notice("more than 256 started NVTX ranges of --capture were open at once, or a thread was in them in more "
		  "than 4 "
		  "domains: the others opened no window");
}

/* A range of NVTX begins.  Depth is counted by domain, as ranges end by domain; a bit of each level says whether its
   range opens a window. */
void sw_window_push(uint64_t domain, bool named)
{
	uint32_t at = DOMAINS;
	for (uint32_t i = 0; i < DOMAINS; i++)
		if (here.in[i].depth && here.in[i].domain == domain)
			at = i;
	named = named && is_wanted_entry();
	for (uint32_t i = 0; named && at == DOMAINS && i < DOMAINS; i++)
		if (!here.in[i].depth) {
			here.in[i].domain = domain;
			here.in[i].named = 0;
			at = i;
			break;
		}
	if (at == DOMAINS) {
		if (named)
			say_too_many();
		return;
	}
	const uint32_t level = here.in[at].depth++;
	if (!named || level >= LEVELS)
		return;
	here.in[at].named |= UINT64_C(1) << level;
	add_ranges(1);
}

/* The thread's innermost range of the domain ends; if it was a wanted one, so does its part in the window. */
void sw_window_pop(uint64_t domain)
{
	for (uint32_t i = 0; i < DOMAINS; i++) {
		if (!here.in[i].depth || here.in[i].domain != domain)
			continue;
		const uint32_t level = --here.in[i].depth;
		const uint64_t bit = level < LEVELS ? UINT64_C(1) << level : 0;
		if (!(here.in[i].named & bit))
			return;
		here.in[i].named &= ~bit;
		if (!here.in[i].named)
			here.in[i].depth = 0; /* what is around it has no name of ours */
		add_ranges(-1);
		return;
	}
}

/* nvtxRangeStart(): a range that any thread may end by its id; opens a window if it is wanted. */
void sw_window_start(uint64_t id, bool named)
{
	if (!named || !is_wanted_entry())
		return;
	for (uint32_t i = 0; i < STARTED; i++) {
		uint64_t none = 0;
		if (!atomic_compare_exchange_strong(&window.started[i], &none, id))
			continue;
		atomic_fetch_add(&window.started_n, 1);
		add_ranges(1);
		return;
	}
	say_too_many();
}

/* nvtxRangeEnd(): ends the range of this id, if it was a wanted one. */
void sw_window_stop(uint64_t id)
{
	for (uint32_t i = 0; i < STARTED && atomic_load(&window.started_n); i++) {
		uint64_t at = id;
		if (!atomic_compare_exchange_strong(&window.started[i], &at, 0))
			continue;
		atomic_fetch_sub(&window.started_n, 1);
		add_ranges(-1);
		return;
	}
}

/* Closes the ranges that a thread left open at its end: they would keep the window open for ever. */
void sw_window_thread_ended(void)
{
	int32_t ranges = here.python;
	for (uint32_t i = 0; i < DOMAINS; i++) {
		for (uint64_t named = here.in[i].depth ? here.in[i].named : 0; named; named &= named - 1)
			ranges++;
		here.in[i].depth = 0;
	}
	here.python = false;
	if (ranges)
		add_ranges(-ranges);
}

/* cudaProfilerStart() or cudaProfilerStop(), which open and close the window of --capture profiler. */
void sw_window_profiler(bool on)
{
	atomic_store(&window.profiler, on);
	reconsider();
}

/* The program's order to record or to pause; the last order counts, whether of the program or of the command. */
bool sw_window_order(enum sw_window_order order)
{
	if (order == SW_WINDOW_OPEN || order == SW_WINDOW_CLOSE) {
		atomic_store(&window.order, order);
		reconsider();
	}
	return should_be_open();
}
