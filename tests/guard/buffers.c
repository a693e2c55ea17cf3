/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of all kinds and sizes, and what becomes of them while work uses them. */
#include "guard/guarded.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static volatile char sink;

void case_write_in_flight(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(16 * PAGE);
	upload(s, p, 16 * PAGE);
	memset(p, 1, 16 * PAGE);
	for (unsigned i = 0; i < 16 * PAGE; i++)
		CHECK(p[i] == 1);
	finish_work(s);
}

void case_read_in_flight(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(16 * PAGE);
	download(s, p, 16 * PAGE);
	sink = p[5 * PAGE];
	finish_work(s);
	CHECK(p[0] == 7 && p[16 * PAGE - 1] == 7);
}

#ifdef __x86_64__
#define STORE_BYTE "movb %b1, (%0)"
#else
#define STORE_BYTE "strb %w1, [%0]"
#endif

/* Each of these lines has code, and the store and the call are the first and the last of theirs. */
static __attribute__((noinline)) void store(char *to)
{
	__asm__ volatile("nop");
	__asm__ volatile(STORE_BYTE : : "r"(to), "r"(1) : "memory"); /* lines: the store */
	__asm__ volatile("nop");
}

void case_lines(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(16 * PAGE);
	upload(s, p, 16 * PAGE);
	store(p); /* lines: its call */
	__asm__ volatile("nop");
	finish_work(s);
}

static __attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("nop");
}

/* On aarch64 the link register leads into this function itself. */
static __attribute__((noinline)) void call_and_store(char *to)
{
	nothing();
	__asm__ volatile("nop");
	__asm__ volatile(STORE_BYTE : : "r"(to), "r"(1) : "memory"); /* lines_after_call: the store */
	__asm__ volatile("nop");
}

void case_lines_after_call(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(16 * PAGE);
	upload(s, p, 16 * PAGE);
	call_and_store(p); /* lines_after_call: its call */
	__asm__ volatile("nop");
	finish_work(s);
}

void case_waited_for(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(16 * PAGE);
	download(s, p, 16 * PAGE);
	finish_work(s);
	for (unsigned i = 0; i < 16 * PAGE; i++)
		CHECK(p[i] == 7);
	upload(s, p, 16 * PAGE);
	CHECK(!cudaDeviceSynchronize());
	memset(p, 1, 16 * PAGE);
}

void case_read_of_what_is_read(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(16 * PAGE);
	upload(s, p, 16 * PAGE);
	for (unsigned i = 0; i < 16 * PAGE; i++)
		sink = p[i];
	finish_work(s);
}

/* One upload ends first; what the other needs of the page must stay protected. */
void case_two_copies_one_page(void)
{
	cudaStream_t quick;
	cudaStream_t s = busy_stream();
	char *p = pinned(PAGE);
	CHECK(!cudaStreamCreateWithFlags(&quick, cudaStreamNonBlocking));
	upload(s, p, 64);
	upload_aside(quick, p + 1024, 64);
	CHECK(!cudaStreamSynchronize(quick));
	p[0] = 1;
	finish_work(s);
}

/* One page, two buffers: what shares the page with the work is not part of it. */
void case_beside_pinned(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(PAGE);
	download(s, p, 64);
	memset(p + 64, 1, PAGE - 64);
	finish_work(s);
	CHECK(p[63] == 7 && p[64] == 1);
}

void case_beside_registered(void)
{
	cudaStream_t s = busy_stream();
	char *p = pages(4 * PAGE);
	CHECK(!cudaHostRegister(p + 100, 3 * PAGE, cudaHostRegisterDefault));
	download(s, p + 100, 3 * PAGE);
	memset(p, 1, 100);
	memset(p + 100 + 3 * PAGE, 1, PAGE - 100);
	finish_work(s);
	CHECK(p[99] == 1 && p[100] == 7);
}

void case_registered(void)
{
	cudaStream_t s = busy_stream();
	char *p = pages(4 * PAGE);
	CHECK(!cudaHostRegister(p, 4 * PAGE, cudaHostRegisterDefault));
	upload(s, p, 4 * PAGE);
	p[2 * PAGE] = 1;
	finish_work(s);
	CHECK(!cudaHostUnregister(p));
	CHECK(p[2 * PAGE] == 1);
}

#define HUGE (2u << 20)
void case_huge_pages(void)
{
	cudaStream_t s = busy_stream();
	char *all = pages(3 * HUGE), *p = (char *)(((uintptr_t)all + HUGE - 1) & -(uintptr_t)HUGE);
	madvise(p, 2 * HUGE, MADV_HUGEPAGE); /* where there are any */
	memset(p, 2, 2 * HUGE);
	CHECK(!cudaHostRegister(p, 2 * HUGE, cudaHostRegisterDefault));
	upload(s, p + PAGE, HUGE);
	for (size_t i = 0; i < 2 * HUGE; i += 64)
		p[i]++;
	finish_work(s);
	for (size_t i = 0; i < 2 * HUGE; i += 64)
		CHECK(p[i] == 3);
}

#define LARGE (80u << 20)
void case_end_of_large(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(LARGE);
	upload(s, p, LARGE);
	p[LARGE - 1] = 1;
	finish_work(s);
}

void case_large(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(LARGE);
	upload(s, p, LARGE);
	p[LARGE - 1] = 1;
	p[0] = 1;
	finish_work(s);
}

void case_many_ranges(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(3000ul * PAGE);
	for (unsigned i = 0; i < 3000; i++)
		upload(s, p + (size_t)i * PAGE, 64);
	for (unsigned i = 0; i < 3000; i++)
		p[(size_t)i * PAGE] = 1;
	finish_work(s);
}

void case_last_of_many_ranges(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(3000ul * PAGE);
	for (unsigned i = 0; i < 3000; i++)
		upload(s, p + (size_t)i * PAGE, 64);
	p[2999ul * PAGE] = 1;
	finish_work(s);
}

/* One place in the table, however often. */
void case_same_range_again(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(PAGE), *q = pinned(PAGE);
	for (unsigned i = 0; i < 10000; i++)
		upload(s, p, 64);
	upload(s, q, 64);
	q[0] = 1;
	finish_work(s);
}

void case_ranges_without_room(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(5000ul * PAGE);
	for (unsigned i = 0; i < 5000; i++)
		upload(s, p + (size_t)i * PAGE, 64);
	finish_work(s);
}

void case_many_buffers(void)
{
	cudaStream_t s = busy_stream();
	char *p[200];
	for (unsigned i = 0; i < 200; i++)
		upload(s, p[i] = pinned(PAGE), 64);
	p[199][0] = 1;
	finish_work(s);
}

void case_freed_in_flight(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(4 * PAGE);
	upload(s, p, 4 * PAGE);
	finish_work(s);
	CHECK(!cudaFreeHost(p));
	p = pinned(4 * PAGE);
	CHECK(p[0] == 0);
}

void case_unregistered_in_flight(void)
{
	cudaStream_t s = busy_stream();
	char *p = pages(4 * PAGE);
	CHECK(!cudaHostRegister(p, 4 * PAGE, cudaHostRegisterDefault));
	upload(s, p, 4 * PAGE);
	finish_work(s);
	upload(s, p, 4 * PAGE);
	CHECK(!cudaHostUnregister(p)); /* waits, as measured: a note */
	memset(p, 1, 4 * PAGE);
	CHECK(munmap(p, 4 * PAGE) == 0);
}

void case_unmapped_in_flight(void)
{
	cudaStream_t s = busy_stream();
	char *p = pages(4 * PAGE);
	CHECK(!cudaHostRegister(p, 4 * PAGE, cudaHostRegisterDefault));
	upload(s, p, 2 * PAGE);
	char *again = mmap(p, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(again == p);
	memset(p, 1, 4 * PAGE);
	finish_work(s);
}

void case_moved_in_flight(void)
{
	cudaStream_t s = busy_stream();
	char *p = pages(4 * PAGE);
	memset(p, 5, 4 * PAGE);
	CHECK(!cudaHostRegister(p, 4 * PAGE, cudaHostRegisterDefault));
	upload(s, p, PAGE);
	char *moved = mremap(p + 2 * PAGE, 2 * PAGE, 8 * PAGE, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED);
	memset(moved + 2 * PAGE, 1, 6 * PAGE);
	CHECK(moved[0] == 5);
	finish_work(s);
}

static sigjmp_buf back;
static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Rights that the program took away from a page stay away, whatever is copied. */
void case_own_rights(void)
{
	cudaStream_t s = busy_stream();
	char *p = pages(4 * PAGE);
	CHECK(!cudaHostRegister(p, 4 * PAGE, cudaHostRegisterDefault));
	upload(s, p, 4 * PAGE);
	CHECK(mprotect(p, 4 * PAGE, PROT_READ) == 0);
	upload(s, p, 4 * PAGE);
	finish_work(s);
	signal(SIGSEGV, jump);
	if (!sigsetjmp(back, 1)) {
		*(volatile char *)p = 1;
		CHECK(!"the page can be written");
	}
	CHECK(p[0] == 0);
}
