/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks against an oracle: glibc's backtrace(), which walks afresh each time.  Random call paths of many depths
 * and frame sizes, each of them often, so that remembered stacks, stacks taken over in part and new ones all occur.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arch.h"
#include "preload/platform/sys.h"
#include "preload/stacks/unwind.h"
#include "recording.h"
#include "../run_suite.h"

#define CALLS	20000
#define DEEPEST 60
#define FAULTS	20

static struct expected {
	int frames;
	void *ip[DEEPEST + 40];
} * expected;
static unsigned taken;
static uint64_t state = 88172645463325252ull;
static char *volatile keep;

static uint64_t random_number(void) /* xorshift: the same paths in every run */
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Only unwind tables know the frames of code without frame pointers. On aarch64 all functions have frame records. */
#if defined __clang__ || !defined __x86_64__
#define WITHOUT_POINTER
#else
#define WITHOUT_POINTER optimize("omit-frame-pointer")
#endif

static bool hide_libunwind, late_libunwind;
static sem_t may_load;

/* Before the one that the recorder, which is part of this program, would call. */
void *dlopen(const char *path, int flags)
{
	void *(*real)(const char *, int);
	*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	const bool libunwind = path && strstr(path, "libunwind");
	if (libunwind && late_libunwind)
		sem_wait(&may_load);
	return hide_libunwind && libunwind ? NULL : real(path, flags);
}

static bool both_ways;
static void walk_both(int signal);

static __attribute__((noinline)) void call_and_note(void)
{
	if (both_ways) {
		walk_both(0);
		return;
	}
	/* This function's frame is in both: as backtrace()'s first address and as the recorded stack's. */
	fake_wait(taken, 0);
	expected[taken].frames = backtrace(expected[taken].ip, DEEPEST + 40);
	taken++;
}

/* Three shapes of frames: small, large, and of a size known at run time only. */
static __attribute__((noinline, WITHOUT_POINTER)) void small(unsigned depth, uint64_t path);
static __attribute__((noinline, WITHOUT_POINTER)) void large(unsigned depth, uint64_t path);
static __attribute__((noinline)) void varying(unsigned depth, uint64_t path);

static void next(unsigned depth, uint64_t path)
{
	if (!depth)
		call_and_note();
	else if (path % 3 == 0)
		small(depth - 1, path / 3);
	else if (path % 3 == 1)
		large(depth - 1, path / 3);
	else
		varying(depth - 1, path / 3);
	keep = NULL; /* no tail calls */
}

static void small(unsigned depth, uint64_t path)
{
	next(depth, path);
	keep = NULL;
}

static void large(unsigned depth, uint64_t path)
{
	char room[1000];
	keep = room;
	next(depth, path);
	keep = NULL;
}

static void varying(unsigned depth, uint64_t path)
{
	keep = alloca(16 + path % 5 * 48);
	next(depth, path);
	keep = NULL;
}

static void random_paths(void)
{
	uint64_t paths[32];
	for (unsigned i = 0; i < 32; i++)
		paths[i] = random_number() >> 8;
	while (taken < CALLS) {
		uint64_t choice = random_number();
		unsigned depth = (unsigned)(choice >> 32) % DEEPEST;
		/* mostly one of a few paths, its innermost turns changed now and then */
		next(depth, paths[choice % 32] + (choice % 7 ? 0 : choice >> 50));
	}
}

struct check {
	const struct sw_rec_stack *stack[1 << 16];
	uint32_t depth;
	unsigned seen, wrong;
};

/* The recorded stack must be the oracle's from the second frame on; the first is another place in call_and_note. */
static bool same(const struct sw_rec_stack *s, const struct expected *e, uint32_t depth)
{
	const uint64_t *ip = (const uint64_t *)(s + 1);
	uint32_t want = (uint32_t)e->frames < depth ? (uint32_t)e->frames : depth;
	if (s->depth != want)
		return false;
	for (uint32_t i = 1; i < s->depth; i++)
		if (ip[i] != (uintptr_t)e->ip[i])
			return false;
	return ip[0] - (uintptr_t)call_and_note < 256;
}

static bool check_record(const struct sw_rec *r, uint32_t writer, void *data)
{
	struct check *c = data;
	(void)writer;
	if (r->kind == SW_REC_STACK)
		c->stack[((const struct sw_rec_stack *)r)->id & 0xffff] = (const void *)r;
	if (r->kind != SW_REC_STREAM_WAIT)
		return true;
	uint64_t n = ((const struct sw_rec_stream_wait *)r)->stream;
	if (!r->stack || !c->stack[r->stack & 0xffff] || !same(c->stack[r->stack & 0xffff], &expected[n], c->depth))
		c->wrong++;
	c->seen++;
	return true;
}

static void leave_oracle(int status)
{
	(void)status;
	exit(taken == CALLS ? 0 : 1);
}

static void compare(const char *options, uint32_t depth)
{
	struct trace t;
	static struct check c;
	memset(&c, 0, sizeof c);
	c.depth = depth;
	ck_assert_int_eq(record_in_child(options, random_paths, leave_oracle), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, check_record, &c);
	ck_assert_uint_eq(c.seen, CALLS);
	ck_assert_msg(!c.wrong, "%u of %u stacks are wrong", c.wrong, c.seen);
	ck_assert_uint_gt(t.kinds[SW_REC_STACK], 100);
	trace_free(&t);
}

static void make_table(void)
{
	enter_directory();
	expected = mmap(NULL, sizeof *expected * CALLS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(expected, MAP_FAILED);
}

START_TEST(test_oracle)
{
	compare("depth=128", 128);
}
END_TEST

START_TEST(test_oracle_cut)
{
	compare("depth=12", 12);
}
END_TEST

/* ---- other code at an address that is known ------------------------------------------------------------------------
 */

#define RELOADS 20

static void *place; /* of the function, in the object before */
static unsigned same_place;

static void reload(void)
{
	char path[4096];
	for (unsigned i = 0; i < RELOADS; i++) {
		snprintf(path, sizeof path, SW_RELOADED, i % 2 + 1);
		void *object = dlopen(path, RTLD_NOW);
		void (*function)(void (*)(void)) = NULL;
		if (object)
			*(void **)&function = dlsym(object, "reloaded");
		if (!function)
			return;
		same_place += *(void **)&function == place;
		place = *(void **)&function;
		function(call_and_note);
		dlclose(object);
	}
}

static void leave_reloads(int status)
{
	(void)status;
	exit(taken == RELOADS && same_place ? 0 : 1);
}

START_TEST(test_reloaded)
{
	struct trace t;
	static struct check c;
	memset(&c, 0, sizeof c);
	c.depth = 128;
	ck_assert_int_eq(record_in_child("depth=128", reload, leave_reloads), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, check_record, &c);
	ck_assert_uint_eq(c.seen, RELOADS);
	ck_assert_msg(!c.wrong, "%u of %u stacks are wrong", c.wrong, c.seen);
	trace_free(&t);
}
END_TEST

/* ---- both ways to walk --------------------------------------------------------------------------------------------
 */

#define WALKS 4000
static unsigned walks, different;

static unsigned walk_by(const void *frame, bool library, uint64_t *ips, int *last)
{
	struct sw_unwind u;
	struct sw_unwind_frame f;
	static struct sw_unwind_objects objects;
	unsigned n = 0;
	sw_unwind_start(&u, frame, sw_unwind_find_stack(), &objects, library);
	while ((*last = sw_unwind_next(&u, &f)) > 0 && n < DEEPEST + 40)
		ips[n++] = f.ip;
	return n;
}

static __attribute__((noinline)) void walk_both(int signal)
{
	uint64_t ips[2][DEEPEST + 40];
	int last[2];
	(void)signal;
	const unsigned by_tables = walk_by(__builtin_frame_address(0), false, ips[0], &last[0]);
	const unsigned by_library = walk_by(__builtin_frame_address(0), true, ips[1], &last[1]);
	different +=
		by_tables != by_library || last[0] || last[1] || memcmp(ips[0], ips[1], by_tables * sizeof **ips) != 0;
	walks++;
}

static void walk_everywhere(void)
{
	struct sigaction action = {.sa_handler = walk_both};
	both_ways = true;
	fake_wait(0, 0);
	while (!sw_unwind_loaded())
		sched_yield();
	sigaction(SIGUSR1, &action, NULL);
	while (walks < WALKS) {
		next((unsigned)random_number() % DEEPEST, random_number() >> 8);
		if (walks % 100 == 0)
			raise(SIGUSR1);
		if (walks % 500 == 0)
			sw_unwind_flush();
	}
}

static void leave_walks(int status)
{
	(void)status;
	exit(walks >= WALKS && !different ? 0 : 1);
}

/* Tables and libunwind find the same frames, and the same end. */
START_TEST(test_same_as_libunwind)
{
	ck_assert_int_eq(record_in_child(NULL, walk_everywhere, leave_walks), 0);
}
END_TEST

/* ---- without libunwind, as before it is loaded ------------------------------------------------------------------- */

START_TEST(test_oracle_by_tables)
{
	hide_libunwind = true;
	compare(_i ? "depth=12" : "depth=128", _i ? 12 : 128);
}
END_TEST

/* Calls function(): without unwind tables, and with nothing in the frame pointer. */
void without_tables(void (*function)(void));
#ifndef __x86_64__
void without_tables(void (*function)(void))
{
	function();
}
#else
__asm__("	.text\n"
	"without_tables:\n"
	"	pushq	%rbp\n"
	"	xorl	%ebp, %ebp\n"
	"	call	*%rdi\n"
	"	popq	%rbp\n"
	"	ret\n");
#endif

static void call_once(void)
{
	fake_wait(1, 0);
	keep = NULL;
}

static void call_before_and_after(void)
{
	fake_wait(0, 0);
	without_tables(call_once);
	sem_post(&may_load);
	while (!sw_unwind_loaded())
		sched_yield();
	fake_wait(0, 0);
	without_tables(call_once);
}

/* libunwind comes when the first calls are made: their stacks are whole where tables know the way, and say so where
   not. */
START_TEST(test_late_libunwind)
{
	struct trace t;
	unsigned cut = 0, whole = 0;
	late_libunwind = true;
	sem_init(&may_load, 0, 0);
	ck_assert_int_eq(record_in_child(NULL, call_before_and_after, exit), 0);
	read_whole(&t, "t.swt");
	for (unsigned i = 0; trace_find(&t, SW_REC_STACK, i); i++) {
		const struct sw_rec_stack *s = trace_find(&t, SW_REC_STACK, i);
		cut += s->flags == SW_STACK_CUT;
		whole += !s->flags && s->skipped == 0 && s->depth > 2;
	}
	ck_assert_uint_eq(t.kinds[SW_REC_STACK], 4);
	ck_assert_uint_eq(cut, 1);
	ck_assert_uint_ge(whole, 2);
	trace_free(&t);
}
END_TEST

/* ---- signals, threads -------------------------------------------------------------------------------------------- */

static void in_handler(int signal)
{
	(void)signal;
	fake_wait(2, 0);
}

static char other_stack[1 << 16];

static void from_handlers(void)
{
	struct sigaction action = {.sa_handler = in_handler};
	stack_t s = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
	fake_wait(1, 0);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(&s, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	fake_wait(1, 0);
}

/* Stacks through signal frames, also from one stack to another, reach main's caller as others do. */
START_TEST(test_signal_frames)
{
	struct trace t;
	hide_libunwind = _i;
	ck_assert_int_eq(record_in_child(NULL, from_handlers, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 4);
	uint32_t plain = ((const struct sw_rec_stack *)trace_find(&t, SW_REC_STACK, 0))->depth;
	for (unsigned i = 1; i < 3; i++) {
		const struct sw_rec_stack *s = trace_find(&t, SW_REC_STACK, i);
		ck_assert_ptr_nonnull(s);
		ck_assert_uint_gt(s->depth, plain);
		ck_assert_uint_eq(s->skipped, 0);
	}
	trace_free(&t);
}
END_TEST

static char *forbidden;

/* An interrupted function has no return address: it is recorded one further, as if it were one. */
static void after_fault(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	(void)signal, (void)info;
	call_and_note();
	struct expected *e = &expected[taken - 1];
	for (int i = 0; i < e->frames; i++)
		e->ip[i] = (char *)e->ip[i] + ((uintptr_t)e->ip[i] == sw_arch_instruction(c));
	mprotect(forbidden, 4096, PROT_READ | PROT_WRITE);
}

static __attribute__((noinline)) void fault(void)
{
	mprotect(forbidden, 4096, PROT_READ);
	*(volatile char *)forbidden = 1;
	keep = NULL;
}

/* One stack again and again, and without a signal in between: none may be taken for another. */
static void from_faults(void)
{
	struct sigaction action = {.sa_sigaction = after_fault, .sa_flags = SA_SIGINFO};
	stack_t s = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
	forbidden = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&s, NULL);
	for (unsigned i = 0; i < FAULTS / 2; i++) {
		action.sa_flags ^= i % 3 ? 0 : SA_ONSTACK;
		sigaction(SIGSEGV, &action, NULL);
		fault();
		call_and_note();
	}
}

START_TEST(test_faults)
{
	struct trace t;
	static struct check c;
	hide_libunwind = _i;
	memset(&c, 0, sizeof c);
	c.depth = 128;
	ck_assert_int_eq(record_in_child("depth=128", from_faults, exit), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, check_record, &c);
	ck_assert_uint_eq(c.seen, FAULTS);
	ck_assert_msg(!c.wrong, "%u of %u stacks are wrong", c.wrong, c.seen);
	trace_free(&t);
}
END_TEST

static void *call_in_thread(void *unused)
{
	for (unsigned i = 0; i < 3; i++)
		fake_wait(i, 0);
	return unused;
}

/* Threads one after the other get the same stack memory and inherit the writer: nothing remembered may survive. */
static void threads_in_turn(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	for (unsigned i = 0; i < 200; i++) {
		pthread_attr_setstacksize(&attributes, (64u + i % 5 * 16u) << 10);
		ck_assert_int_eq(pthread_create(&thread, &attributes, call_in_thread, NULL), 0);
		pthread_join(thread, NULL);
	}
}

START_TEST(test_threads_in_turn)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, threads_in_turn, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 600);
	ck_assert_uint_eq(t.writers, 1); /* the exiting thread inherits it too */
	trace_free(&t);
}
END_TEST

/* ---- the library ------------------------------------------------------------------------------------------------- */

static int count_unwinders(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(unsigned *)data += strstr(info->dlpi_name, "libunwind.so") != NULL;
	return 0;
}

static void exception_symbols(void)
{
	Dl_info info;
	unsigned loaded = 0;
	void *before = dlsym(RTLD_DEFAULT, "_Unwind_RaiseException");
	fake_wait(0, 0);
	dl_iterate_phdr(count_unwinders, &loaded);
	ck_assert_uint_eq(loaded, 1);
	/* libunwind brings its own: the program must still find libgcc's, or none as before. */
	void *after = dlsym(RTLD_DEFAULT, "_Unwind_RaiseException");
	ck_assert_ptr_eq(before, after);
	ck_assert(!after || (dladdr(after, &info) && !strstr(info.dli_fname, "libunwind")));
}

START_TEST(test_exceptions_not_captured)
{
	ck_assert_int_eq(record_in_child(NULL, exception_symbols, exit), 0);
}
END_TEST

/* The answers that libunwind gets in place of its pipe. */
START_TEST(test_what_can_be_read)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	     *second = pages + page, *third = second + page;
	ck_assert(pages != MAP_FAILED && !mprotect(pages, page, PROT_READ) && !mprotect(third, page, PROT_NONE));
	ck_assert(sw_sys_readable(pages) && sw_sys_readable(second + 1) && sw_sys_readable(third - 1));
	ck_assert(!sw_sys_readable(third) && !sw_sys_readable(NULL) && !sw_sys_readable((void *)-1l));
	*(uint32_t *)(void *)second = 0x5357; /* the value that it looks for */
	ck_assert(sw_sys_readable(second));
	munmap(pages, 3 * page);
}
END_TEST

static Suite *stacks_suite(void)
{
	Suite *s = suite_create("stacks");
	TCase *c = tcase_create("stacks");
	tcase_add_checked_fixture(c, make_table, remove_directory);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_what_can_be_read);
	tcase_add_test(c, test_oracle);
	tcase_add_test(c, test_oracle_cut);
	tcase_add_test(c, test_reloaded);
	tcase_add_loop_test(c, test_oracle_by_tables, 0, 2);
	/* The chain of frame records lacks the function that a signal interrupted, and knows no libunwind. */
	if (SW_ARCH_USES_LIBUNWIND) {
		tcase_add_test(c, test_late_libunwind);
		tcase_add_loop_test(c, test_signal_frames, 0, 2);
		tcase_add_loop_test(c, test_faults, 0, 2);
	}
	tcase_add_test(c, test_threads_in_turn);
	if (SW_ARCH_USES_LIBUNWIND) {
		tcase_add_test(c, test_same_as_libunwind);
		tcase_add_test(c, test_exceptions_not_captured);
	}
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return run_suite(stacks_suite());
}
