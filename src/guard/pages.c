/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages are protected, for which work.  Work that reads a buffer protects it against writes, work that writes it
 * against all.  Where ranges share pages the strictest counts, so releasing one protects again what others still need.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/arch.h"
#include "guard/guard.h"

#define PAGE sw_arch_page_bytes()

/* Each range parts mappings of the process; Linux allows 65530 of these (vm.max_map_count). */
#define RANGES 4096u
#define BUSY   64u

struct range {
	uint64_t lo, hi;      /* pages */
	uint64_t first, last; /* bytes that the work uses: [first, last) */
	struct sw_guard_step step;
	uint64_t open; /* pages that the next fault releases */
	bool writes, managed;
};

static struct range ranges[RANGES];
static _Atomic uint32_t n_ranges;
static struct {
	uint64_t lo, hi;
} busy[BUSY];
static bool stopped;
static _Atomic uint32_t changing; /* > 0: pages may be protected that belong to no range */
static uint64_t unguarded,
	unguarded_recorded;	   /* uses of buffers that were not guarded, or in part; those that the trace has */
static uint32_t busy_n, busy_more; /* the latter: system calls that there was no room for */

/* Are any pages protected?  Read without the lock, so as of a moment ago. */
bool sw_pages_any(void)
{
	return atomic_load_explicit(&n_ranges, memory_order_acquire) ||
	       atomic_load_explicit(&changing, memory_order_acquire);
}

/* Sets the protection of [lo, hi); by a system call, as mprotect() is wrapped here.  0 or errno. */
static int protect_pages(uint64_t lo, uint64_t hi, int how)
{
	int saved = errno;
	long got = syscall(SYS_mprotect, lo, hi - lo, how);
	int error = got ? errno : 0;
	errno = saved;
	return error;
}

/* Work that writes allows no access, work that only reads allows reading. */
static int protection_for(const struct range *r)
{
	return r->writes ? PROT_NONE : PROT_READ;
}

/* Do the pages of a range and [lo, hi) overlap? */
static bool touches_range(const struct range *r, uint64_t lo, uint64_t hi)
{
	return r->lo < hi && lo < r->hi;
}

/* Calls that hand pages to the kernel ask sw_pages_any() without the lock.  While `n_ranges` does not say what is
   protected, they must take it. */
static void begin_change(void)
{
	atomic_fetch_add_explicit(&changing, 1, memory_order_relaxed);
}

static void end_change(void)
{
	atomic_fetch_sub_explicit(&changing, 1, memory_order_release);
}

static void set_count(uint32_t count)
{
	atomic_store_explicit(&n_ranges, count, memory_order_release);
}

/* Forgets a range; the last one takes its place. */
static void drop_range(uint32_t i)
{
	ranges[i] = ranges[n_ranges - 1];
	set_count(n_ranges - 1);
}

static uint64_t highest_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t lowest_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Protects [lo, hi) again as the ranges want it; first those that allow reading. */
static void restore_protection(uint64_t lo, uint64_t hi, bool readable_too)
{
	for (int writes = readable_too ? 0 : 1; writes < 2; writes++)
		for (uint32_t i = 0; i < n_ranges; i++)
			if (ranges[i].writes == (writes == 1) && touches_range(&ranges[i], lo, hi))
				protect_pages(highest_of(lo, ranges[i].lo), lowest_of(hi, ranges[i].hi),
					      protection_for(&ranges[i]));
}

/* The kernel cannot part a mapping any more (ENOMEM): releases whole buffers, which is always possible as it joins
   mappings.  Each buffer with bytes in [lo, hi) is released, of registered memory only the pages that are the buffer's
   alone, since pages_of() protects no others. */
static void release_buffers(uint64_t lo, uint64_t hi)
{
	for (uint64_t at = lo; at < hi;) {
		const struct sw_buffer *b = sw_buffers_next(at, hi);
		if (!b)
			return;
		uint64_t end = (b->address + b->bytes + PAGE - 1) & -PAGE, start = b->address & -PAGE;
		if (b->memory == SW_MEM_REGISTERED)
			start = (b->address + PAGE - 1) & -PAGE, end = (b->address + b->bytes) & -PAGE;
		if (start < end)
			protect_pages(start, end, PROT_READ | PROT_WRITE);
		for (uint32_t i = n_ranges; i-- > 0;)
			if (touches_range(&ranges[i], start, end))
				drop_range(i);
		at = b->address + b->bytes;
	}
}

/* Makes [lo, hi) accessible, then protects again what other ranges still need. */
static void release_range(uint64_t lo, uint64_t hi)
{
	if (lo >= hi)
		return;
	if (protect_pages(lo, hi, PROT_READ | PROT_WRITE))
		release_buffers(lo, hi);
	else
		restore_protection(lo, hi, true);
}

/* ---- protecting -------------------------------------------------------------------------------------------------- */

/* The pages that [at, end) of a buffer lies on, as r->lo and r->hi.  Registered memory shares its first and last page
   with whatever the program keeps next to it, a lock perhaps, which the kernel must be able to reach: only pages that
   are the buffer's alone.  What shares pages with pinned memory is other pinned memory. */
static void pages_of(const struct sw_buffer *b, uint64_t at, uint64_t end, struct range *r)
{
	r->lo = at & -PAGE;
	r->hi = (end + PAGE - 1) & -PAGE;
	if (b->memory == SW_MEM_REGISTERED) {
		r->lo = highest_of(r->lo, (b->address + PAGE - 1) & -PAGE);
		r->hi = lowest_of(r->hi, (b->address + b->bytes) & -PAGE);
	}
}

/* Does a system call of any thread work on these pages just now? */
static bool in_system_call(const struct range *r)
{
	for (uint32_t i = 0; i < busy_n; i++)
		if (touches_range(r, busy[i].lo, busy[i].hi))
			return true;
	return busy_more != 0;
}

/* Is one range around these pages as strict already?  Then no system call is needed. */
static bool is_protected(const struct range *want)
{
	for (uint32_t i = 0; i < n_ranges; i++)
		if (ranges[i].lo <= want->lo && want->hi <= ranges[i].hi && ranges[i].writes >= want->writes)
			return true;
	return false;
}

/* Is the range guarded already, for earlier work of the same stream?  Then it is from now on for this work, as earlier
   work is done when the later work is. */
static bool renew_range(const struct range *want)
{
	for (uint32_t i = 0; i < n_ranges; i++) {
		struct range *r = &ranges[i];
		if (r->step.lane != want->step.lane || r->lo != want->lo || r->hi != want->hi ||
		    r->first != want->first || r->last != want->last || r->writes != want->writes)
			continue;
		r->step = want->step;
		return true;
	}
	return false;
}

static bool add_range(const struct range *r)
{
	if (!is_protected(r)) {
		if (protect_pages(r->lo, r->hi, protection_for(r))) {
			release_range(r->lo, r->hi); /* some of it may be protected already */
			return false;
		}
		if (!r->writes)
			restore_protection(r->lo, r->hi, false);
	}
	ranges[n_ranges] = *r;
	set_count(n_ranges + 1);
	return true;
}

/* Protects a range and remembers for which work.  False: it cannot be. */
static bool guard_range(const struct range *r)
{
	if (renew_range(r))
		return true;
	if (n_ranges == RANGES || in_system_call(r) || !sw_signals_arm())
		return false;
	begin_change();
	const bool added = add_range(r);
	end_change();
	return added;
}

/* Protects the pages of a range that work uses.  Parts of pages at both ends may belong to others and stay open; what
   cannot be protected is counted. */
void sw_pages_guard(struct sw_guard_step step, uint64_t at, uint64_t bytes, bool writes)
{
	const struct sw_buffer *b = sw_buffers_find(at);
	if (stopped || !b || !bytes || (step.tick && sw_lanes_done(step)))
		return;
	uint64_t end = at + lowest_of(bytes, b->address + b->bytes - at);
	struct range r = {.first = at,
			  .last = end,
			  .step = step,
			  .open = 1,
			  .writes = writes,
			  .managed = b->memory == SW_MEM_MANAGED};
	pages_of(b, at, end, &r);
	if (r.lo >= r.hi)
		return;
	if (b->off || !step.tick || !guard_range(&r))
		sw_pages_unguarded();
}

/* Counts a use of memory that cannot be protected, or only in part. */
void sw_pages_unguarded(void)
{
	unguarded++;
}

/* How many uses of memory that cannot be protected are new; told when they have grown by an eighth, so that the trace
   gets few records of it. */
uint64_t sw_pages_unguarded_new(bool now)
{
	uint64_t unguarded_new = unguarded - unguarded_recorded;
	if (!now && unguarded_new <= unguarded_recorded / 8)
		return 0;
	unguarded_recorded = unguarded;
	return unguarded_new;
}

/* In a fork child: the parent's trace has the count so far. */
void sw_pages_forget_unguarded(void)
{
	unguarded_recorded = unguarded;
}

/* ---- releasing --------------------------------------------------------------------------------------------------- */

/* After a wait of the host: releases the pages of work that is complete. */
void sw_pages_settle(void)
{
	uint32_t kept = 0, all = n_ranges;
	for (uint32_t i = 0; i < all; i++) {
		struct range r = ranges[i];
		if (sw_lanes_done(r.step))
			continue;
		ranges[i] = ranges[kept];
		ranges[kept++] = r;
	}
	begin_change();
	set_count(kept);
	for (uint32_t i = kept; i < all; i++)
		release_range(ranges[i].lo, ranges[i].hi);
	end_change();
}

/* Takes [lo, hi) out of a range; a part that is left above becomes a range of its own. */
static void cut_range(uint32_t i, uint64_t lo, uint64_t hi)
{
	struct range *r = &ranges[i], upper = *r;
	bool below = r->lo < lo, above = hi < r->hi;
	if (!below && !above) {
		drop_range(i);
	} else if (!below) {
		r->lo = hi;
	} else {
		r->hi = lo;
		upper.lo = hi;
		if (above && n_ranges < RANGES) {
			ranges[n_ranges] = upper;
			set_count(n_ranges + 1);
		} else if (above) {
			release_range(upper.lo, upper.hi);
			sw_pages_unguarded();
		}
	}
}

/* Releases pages after an access.  `writes` false: ranges of work that only reads stay, against what may be written
   next. */
static void open_pages(uint64_t lo, uint64_t hi, bool writes)
{
	begin_change();
	for (uint32_t i = n_ranges; i-- > 0;)
		if (i < n_ranges && touches_range(&ranges[i], lo, hi) && (writes || ranges[i].writes))
			cut_range(i, lo, hi);
	release_range(lo, hi);
	end_change();
}

/* Opens pages for a use that no fault shows or may disturb, such as system calls, which fail with EFAULT on protected
   pages.  True: that use comes too early. */
bool sw_pages_release(uint64_t lo, uint64_t hi, bool writes)
{
	bool any = false, hit = false;
	uint64_t first = lo & -PAGE, last = (hi + PAGE - 1) & -PAGE;
	for (uint32_t i = 0; i < n_ranges; i++) {
		const struct range *r = &ranges[i];
		any |= touches_range(r, first, last);
		hit |= r->first < hi && lo < r->last && touches_range(r, first, last) && (writes || r->writes);
	}
	if (any)
		open_pages(first, last, true);
	return hit;
}

/* Before kernels run: one that faults on managed memory gets the rights of the process's mapping, and would fail on a
   protected page. */
void sw_pages_release_managed(void)
{
	begin_change();
	for (uint32_t i = n_ranges; i-- > 0;) {
		if (i >= n_ranges || !ranges[i].managed)
			continue;
		struct range r = ranges[i];
		drop_range(i);
		release_range(r.lo, r.hi);
	}
	end_change();
}

/* Opens all pages; a range whose pages have been mapped anew is released buffer by buffer. */
void sw_pages_release_all(void)
{
	begin_change();
	while (n_ranges) {
		struct range r = ranges[n_ranges - 1];
		set_count(n_ranges - 1);
		if (protect_pages(r.lo, r.hi, PROT_READ | PROT_WRITE))
			release_buffers(r.lo, r.hi);
	}
	end_change();
}

/* From now on nothing is protected. */
void sw_pages_stop(void)
{
	stopped = true;
	sw_pages_release_all();
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* Says what a fault at this address means: memory that is not ours, a byte next to the guarded ones of its page, a page
   that was released meanwhile, or a use too early. */
enum sw_fault sw_pages_fault(uint64_t address, bool writes)
{
	uint64_t page = address & -PAGE;
	enum sw_fault found = SW_FAULT_FOREIGN;
	for (uint32_t i = 0; i < n_ranges; i++) {
		const struct range *r = &ranges[i];
		if (!touches_range(r, page, page + PAGE))
			continue;
		found = SW_FAULT_BESIDE;
		if (address >= r->first && address < r->last && (writes || r->writes))
			return SW_FAULT_HIT;
	}
	const struct sw_buffer *b = sw_buffers_next(page, page + PAGE);
	return found == SW_FAULT_FOREIGN && b && !b->off ? SW_FAULT_STALE : found;
}

/* After a fault: opens its page, and twice as many with each further fault in the range, so that a loop over the buffer
   is not slowed down page by page. */
void sw_pages_open(uint64_t address, bool writes)
{
	uint64_t lo = address & -PAGE, pages = 1;
	for (uint32_t i = 0; i < n_ranges; i++) {
		struct range *r = &ranges[i];
		if (!touches_range(r, lo, lo + PAGE) || (!writes && !r->writes))
			continue;
		pages = highest_of(pages, lowest_of(r->open, (r->hi - lo) / PAGE));
		r->open *= 2; /* a walk through the buffer costs a few faults, not one a page */
	}
	open_pages(lo, lo + pages * PAGE, writes);
}

/* Notes that a system call works on these bytes, which must not be protected meanwhile, or (not `begins`) that it
   returned; both by the same range. */
void sw_pages_busy(uint64_t lo, uint64_t hi, bool begins)
{
	lo &= -PAGE;
	hi = (hi + PAGE - 1) & -PAGE;
	if (begins && busy_n < BUSY) {
		busy[busy_n].lo = lo;
		busy[busy_n++].hi = hi;
		return;
	}
	if (begins) {
		busy_more++;
		return;
	}
	for (uint32_t i = 0; i < busy_n; i++)
		if (busy[i].lo == lo && busy[i].hi == hi) {
			busy[i] = busy[--busy_n];
			return;
		}
	if (busy_more)
		busy_more--;
}

/*
 * The program changes its own mappings: the result must be what it requested, and stay so.  Its pages are released
 * first, and a buffer whose rights or place it changed is left alone from then on.  (The driver unmaps through these
 * functions too.)
 */

/* The program changes these pages' protection or mapping itself: they are released, and their buffers never guarded
   again. */
static void hands_off(const void *at, size_t bytes)
{
	uint64_t lo = (uint64_t)(uintptr_t)at, hi = lo + bytes;
	if (!sw_guard_recorder || !sw_guard_recorder->recording() || hi < lo)
		return;
	uint64_t mask = sw_guard_lock();
	sw_pages_release(lo, hi, false);
	for (struct sw_buffer *b; lo < hi && (b = sw_buffers_next(lo, hi)); lo = b->address + b->bytes)
		b->off = true;
	sw_guard_unlock(mask);
}

/* Each function of libc that changes mappings: first our protection goes, then libc's own is called. */
SW_EXPORT int mprotect(void *at, size_t bytes, int rights)
{
	static int (*real)(void *, size_t, int);
	SW_NEXT(real, "mprotect");
	hands_off(at, bytes);
	return real(at, bytes, rights);
}

/* The program changes the protection itself: see hands_off(). */
SW_EXPORT int pkey_mprotect(void *at, size_t bytes, int rights, int key)
{
	static int (*real)(void *, size_t, int, int);
	SW_NEXT(real, "pkey_mprotect");
	hands_off(at, bytes);
	return real(at, bytes, rights, key);
}

/* The program takes the pages away: see hands_off(). */
SW_EXPORT int munmap(void *at, size_t bytes)
{
	static int (*real)(void *, size_t);
	SW_NEXT(real, "munmap");
	hands_off(at, bytes);
	return real(at, bytes);
}

/* Both places, the old and the new one, are the program's. */
SW_EXPORT void *mremap(void *at, size_t bytes, size_t wanted, int flags, ...)
{
	static void *(*real)(void *, size_t, size_t, int, ...);
	va_list list;
	va_start(list, flags);
	void *to = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
	va_end(list);
	SW_NEXT(real, "mremap");
	hands_off(at, bytes);
	if (to)
		hands_off(to, wanted);
	return real(at, bytes, wanted, flags, to);
}

/* After a mapping at a fixed address was made: protected pages that it replaced are the program's. */
static void take_mapping(const void *at, size_t bytes, int flags)
{
	if (flags & MAP_FIXED)
		hands_off(at, bytes);
}

/* A mapping at a fixed address may lie on guarded memory. */
SW_EXPORT void *mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);
	SW_NEXT(real, "mmap");
	take_mapping(at, bytes, flags);
	return real(at, bytes, rights, flags, fd, offset);
}

/* A mapping at a fixed address may lie on guarded memory. */
SW_EXPORT void *mmap64(void *at, size_t bytes, int rights, int flags, int fd, off64_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off64_t);
	SW_NEXT(real, "mmap64");
	take_mapping(at, bytes, flags);
	return real(at, bytes, rights, flags, fd, offset);
}

/* Discarding pages, locking them, keeping them from children: they have to be there. */
SW_EXPORT int madvise(void *at, size_t bytes, int advice)
{
	static int (*real)(void *, size_t, int);
	SW_NEXT(real, "madvise");
	hands_off(at, bytes);
	return real(at, bytes, advice);
}

/* Opens the pages, as those that cannot be read cannot be locked. */
SW_EXPORT int mlock(const void *at, size_t bytes)
{
	static int (*real)(const void *, size_t);
	SW_NEXT(real, "mlock");
	hands_off(at, bytes);
	return real(at, bytes);
}
