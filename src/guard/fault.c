/* SPDX-License-Identifier: Apache-2.0 */
/* An access to a protected page: recorded, the page released, and the access made again. */
#include "guard/guard.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

/* A fault at one address that does not go away by itself: the program has protected the page in a way that we do not
   see, and must get the signal. */
#define STALE_MAX 1000u

#define ERROR_WRITE 2u /* page-fault error code of x86, bit 1: the access was a write */

/* Recording walks the call stack, for which the stack that a program gives its signal handlers may be too small. */
#define STACKS	    4u
#define STACK_BYTES (64u << 10)
static char stacks[STACKS][STACK_BYTES] __attribute__((aligned(64)));
static atomic_flag taken[STACKS] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT};

static struct {
	uint64_t lo, hi;
} driver;

static __thread struct {
	uint64_t address;
	uint32_t times;
} stale __attribute__((tls_model("initial-exec")));

static int find_driver(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	(void)size, (void)arg;
	if (strncmp(slash ? slash + 1 : "", "libcuda.so", 10) != 0)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			driver.lo = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			driver.hi = driver.lo + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

void sw_fault_start(void)
{
	dl_iterate_phdr(find_driver, NULL);
}

static bool of_driver(uint64_t address)
{
	return address >= driver.lo && address < driver.hi;
}

/* The driver copies on the program's behalf, on threads of its own too; what it copies is reported by the call.  Most
   of it is done by libc's memcpy, whose return address is on top of the stack. */
static bool by_driver(const ucontext_t *c)
{
	const greg_t *r = c->uc_mcontext.gregs;
	return of_driver((uint64_t)r[REG_RIP]) || of_driver(*(const uint64_t *)r[REG_RSP]);
}

struct host_access {
	uint64_t at, bytes, instruction;
	uint32_t flags;
	void *frame;
};

static void record_access(void *arg)
{
	const struct host_access *t = arg;
	struct sw_call call;
	if (!sw_guard_recorder->recording() || sw_guard_recorder->inside() ||
	    !sw_guard_recorder->enter(&call, 0, 0, t->frame))
		return;
	struct sw_rec_host_access *r = sw_guard_recorder->record_after(&call, SW_REC_HOST_ACCESS, sizeof *r, 0);
	if (r) {
		r->address = t->at;
		r->bytes = t->bytes;
		r->instruction = t->instruction;
		r->flags = t->flags;
		r->reserved = 0;
	}
	sw_guard_recorder->publish(&call);
	sw_guard_recorder->leave(&call, 0);
}

void sw_fault_record(uint64_t at, uint64_t bytes, uint64_t instruction, uint32_t flags, void *frame)
{
	record_access(&(struct host_access){at, bytes, instruction, flags, frame});
}

/* Calls on another stack. */
static void call_on(char *top, void (*function)(void *), void *arg)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[function]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg), [top] "+r"(top), [function] "+r"(function)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
			   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15", "cc", "memory");
}

static bool on_signal_stack(void)
{
	stack_t s;
	return sigaltstack(NULL, &s) == 0 && (s.ss_flags & SS_ONSTACK);
}

/* No stack to be had: the access goes unrecorded, which only a burst of threads can bring about. */
static void record_fault(struct host_access *t)
{
	if (!on_signal_stack()) {
		record_access(t);
		return;
	}
	for (unsigned i = 0; i < STACKS; i++)
		if (!atomic_flag_test_and_set(&taken[i])) {
			call_on(stacks[i] + STACK_BYTES, record_access, t);
			atomic_flag_clear(&taken[i]);
			return;
		}
}

static bool again(uint64_t address)
{
	stale.times = stale.address == address ? stale.times + 1 : 0;
	stale.address = address;
	return stale.times < STALE_MAX;
}

/* Ours: the access can be made again. */
static __attribute__((noinline)) bool ours(const siginfo_t *info, const ucontext_t *c, void *frame)
{
	uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
	bool writes = (uint64_t)c->uc_mcontext.gregs[REG_ERR] & ERROR_WRITE;
	uint64_t mask = sw_guard_lock();
	enum sw_fault what = sw_pages_fault(address, writes);
	if (what == SW_FAULT_HIT && !by_driver(c)) {
		sw_guard_unlock(mask);
		record_fault(&(struct host_access){address, 1, (uint64_t)c->uc_mcontext.gregs[REG_RIP],
						   writes ? SW_HOST_WRITES : 0, frame});
		mask = sw_guard_lock();
	}
	if (what == SW_FAULT_HIT || what == SW_FAULT_BESIDE)
		sw_pages_open(address, writes);
	sw_guard_unlock(mask);
	return what == SW_FAULT_STALE ? again(address) : what != SW_FAULT_FOREIGN;
}

void sw_fault_handle(int signal, siginfo_t *info, void *context)
{
	int saved = errno;
	/* Also where the program has blocked the signal: it must not get the signal of a page that we protected. */
	bool handled = info->si_code == SEGV_ACCERR && ours(info, context, __builtin_frame_address(0));
	errno = saved;
	if (!handled)
		sw_chain_pass(signal, info, context);
}
