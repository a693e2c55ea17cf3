/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/clock.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <string.h>

#include "preload/platform/sys.h"

bool sw_clock_is_tsc;

/* Both clocks at one moment: ticks are read before and after CLOCK_MONOTONIC, and their middle is taken, which is off
   by half their distance at most. */
struct sw_clock_pair sw_clock_read(void)
{
	struct sw_clock_pair best = {0};
	uint64_t width = UINT64_MAX;
	if (!sw_clock_is_tsc) {
		uint64_t ns = sw_sys_monotonic();
		return (struct sw_clock_pair){ns, ns};
	}
	for (int i = 0; i < 4; i++) { /* the tightest of four: an interrupt may fall between the two readings */
		uint64_t before = sw_clock_ticks();
		uint64_t ns = sw_sys_monotonic();
		uint64_t after = sw_clock_ticks();
		if (after - before < width) {
			width = after - before;
			best = (struct sw_clock_pair){before + width / 2, ns};
		}
	}
	return best;
}

/* Ticks a second between two readings of both clocks; 0 if these are less than 10 us apart, where their errors are too
   large a part. */
uint64_t sw_clock_rate(struct sw_clock_pair first, struct sw_clock_pair last)
{
	uint64_t ns = last.monotonic_ns - first.monotonic_ns;
	if (last.monotonic_ns <= first.monotonic_ns || last.ticks <= first.ticks || ns < 10000)
		return 0;
	return (uint64_t)((unsigned __int128)(last.ticks - first.ticks) * 1000000000u / ns);
}

/* CPUID 0x80000007, EDX bit 8: the counter runs at one rate in all power states (Intel SDM 3B, 18.17.1). */
#ifdef __x86_64__
/* Does the counter run at one rate, whatever the processor's clock does? */
static bool counter_is_invariant(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

/* Ticks per second as the processor states them; 0: it does not. */
static uint64_t said_rate(void)
{
	return 0;
}
#else
/* The generic timer has one rate in all states (Arm ARM, D12.1.2); firmware says which, not always rightly. */
static bool counter_is_invariant(void)
{
	return true;
}

static uint64_t said_rate(void)
{
	uint64_t rate;
	__asm__("mrs %0, cntfrq_el0" : "=r"(rate));
	return rate & UINT32_MAX;
}
#endif

/* Does the kernel use the processor's counter as its own clock?  It watches it against other clocks. */
static bool kernel_trusts_it(void)
{
	char name[16] = "";
	int fd = sw_sys_open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC,
			     0);
	if (fd < 0)
		return false;
	long got = sw_sys_read(fd, name, sizeof name - 1);
	sw_sys_close(fd);
	return (got >= 3 && memcmp(name, "tsc", 3) == 0) || (got >= 4 && memcmp(name, "arch", 4) == 0);
}

/* Waits so many ns without sleeping, for a measurement of the clock's rate. */
static struct sw_clock_pair spin_for(uint64_t ns)
{
	uint64_t until = sw_clock_ns(CLOCK_MONOTONIC) + ns;
	while (sw_clock_ns(CLOCK_MONOTONIC) < until)
		;
	return sw_clock_read();
}

/* Chooses the counter if it runs evenly on all processors, else CLOCK_MONOTONIC (a rate of 10^9); measures for 0.2 ms
   and takes the rate that the processor names where both agree. */
__attribute__((cold)) uint64_t sw_clock_start(void)
{
	sw_clock_is_tsc = counter_is_invariant();
	if (!sw_clock_is_tsc)
		return 1000000000u;
	struct sw_clock_pair first = sw_clock_read();
	struct sw_clock_pair middle = spin_for(100000);
	struct sw_clock_pair last = spin_for(100000);
	uint64_t one = sw_clock_rate(first, middle), two = sw_clock_rate(middle, last);
	uint64_t apart = one > two ? one - two : two - one;
	/* Virtual machines often run another clock source over a good counter: then two measurements must agree. */
	if (one && two && (kernel_trusts_it() || apart < one / 50)) {
		const uint64_t measured = sw_clock_rate(first, last), said = said_rate();
		const uint64_t off = measured > said ? measured - said : said - measured;
		return off < measured / 100 ? said : measured;
	}
	sw_clock_is_tsc = false;
	return 1000000000u;
}
