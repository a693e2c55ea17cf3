/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that ends a hold.  It makes no call of CUDA: one could wait for the very stream that is held, or for a
 * lock that a thread has which waits for it.
 */
#include "preload/confirm/confirm.h"

#include <limits.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/platform/sys.h"

#define STACK_BYTES (64u << 10)
#define LOOK_NS	    50000
/* After a hold: what is still to come has so long, then it is not waited for. */
#define AFTER_NS  2000000000ull
#define FINISH_NS 1000000000ull

static _Atomic bool started;
static bool done_written;

static const char *const why_text[] = {
#define WHY(name, text) [SW_RELEASE_##name] = text,
	SW_RELEASES(WHY)
#undef WHY
};

static void pause_a_little(void)
{
	static const uint32_t never = 0;
	const struct timespec t = {.tv_nsec = LOOK_NS};
	sw_sys_wait(&never, 0, &t);
}

void sw_watch_release(enum sw_release why)
{
	struct sw_hold_words *words = sw_hold.words;
	uint32_t held = SW_HOLD_HELD;
	/* Before the release: what is done now did not wait for what is held. */
	const uint32_t probe = words ? atomic_load(&words->probe) : 0, later = words ? atomic_load(&words->later) : 0;
	if (!words || !atomic_compare_exchange_strong(&sw_hold.state, &held, SW_HOLD_OVER))
		return;
	done_written = later || why == SW_RELEASE_DONE;
	atomic_store(&sw_hold.deadline, sw_sys_monotonic() + AFTER_NS);
	atomic_store_explicit(&words->release, 1, memory_order_release);
	sw_sys_wake((const uint32_t *)&sw_hold.state, INT_MAX);
	sw_result("released %llu %s %u %u", (unsigned long long)sw_result_us(), why_text[why], probe, later);
}

void sw_watch_wait(void)
{
	const struct timespec t = {.tv_nsec = 10000000};
	while (atomic_load(&sw_hold.state) == SW_HOLD_HELD)
		sw_sys_wait((const uint32_t *)&sw_hold.state, SW_HOLD_HELD, &t);
}

static uint64_t differing(const uint8_t *a, const uint8_t *b, uint64_t bytes)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < bytes; i++)
		n += a[i] != b[i];
	return n;
}

static uint64_t differing_twice(const uint8_t *a, const uint8_t *b, const uint8_t *c, uint64_t bytes)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < bytes; i++)
		n += a[i] != b[i] && b[i] != c[i];
	return n;
}

static void compare(void)
{
	const uint8_t *before = sw_hold.copies, *later = before + sw_hold.room, *earlier = later + sw_hold.room;
	const uint64_t n = sw_hold.bytes;
	if (!n || atomic_load(&sw_hold.snapped) != 7)
		return;
	sw_result("bytes %llu %llu %llu %llu %llu", (unsigned long long)n,
		  (unsigned long long)differing(before, later, n), (unsigned long long)differing(later, earlier, n),
		  (unsigned long long)differing(before, earlier, n),
		  (unsigned long long)differing_twice(before, later, earlier, n));
}

static void look_after(uint64_t now)
{
	struct sw_hold_words *words = sw_hold.words;
	const bool submitted = atomic_load(&sw_hold.submitted);
	if (!done_written && submitted && atomic_load(&words->later)) {
		done_written = true;
		sw_result("done %llu", (unsigned long long)sw_result_us());
	}
	const bool marked = atomic_load(&sw_hold.marked) && atomic_load(&words->earlier);
	const bool all = done_written && (marked || sw_confirm_plan.captured || sw_confirm_plan.nodes);
	if (!all && now < atomic_load(&sw_hold.deadline))
		return;
	if (all)
		compare();
	atomic_store(&sw_hold.ended, 1);
	sw_sys_wake((const uint32_t *)&sw_hold.ended, INT_MAX);
}

static void look(void)
{
	const uint64_t now = sw_sys_monotonic();
	if (atomic_load(&sw_hold.state) == SW_HOLD_OVER)
		look_after(now);
	else if (atomic_load(&sw_hold.words->later))
		sw_watch_release(SW_RELEASE_DONE);
	else if (now >= atomic_load(&sw_hold.deadline))
		sw_watch_release(SW_RELEASE_BOUND);
}

static void *watch(void *unused)
{
	prctl(PR_SET_NAME, "syncwatch-hold");
	while (!atomic_load(&sw_hold.ended)) {
		if (atomic_load(&sw_hold.state) == SW_HOLD_NONE)
			sw_sys_wait((const uint32_t *)&sw_hold.state, SW_HOLD_NONE, NULL);
		else
			look();
		pause_a_little();
	}
	return unused;
}

bool sw_watch_start(void)
{
	bool expected = false;
	if (!atomic_compare_exchange_strong(&started, &expected, true))
		return true;
	const int error = sw_sys_thread(watch, STACK_BYTES);
	if (error == 0)
		return true;
	sw_result("failed thread %d", error);
	atomic_store(&started, false);
	return false;
}

void sw_watch_finish(void)
{
	const uint64_t until = sw_sys_monotonic() + FINISH_NS;
	const struct timespec t = {.tv_nsec = 10000000};
	sw_watch_release(SW_RELEASE_EXIT);
	if (!atomic_load(&started) || atomic_load(&sw_hold.state) != SW_HOLD_OVER)
		return;
	while (!atomic_load(&sw_hold.ended) && sw_sys_monotonic() < until)
		sw_sys_wait((const uint32_t *)&sw_hold.ended, 0, &t);
}
