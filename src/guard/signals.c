/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's handlers and masks.  Ours is the kernel's handler for SIGSEGV, from the first protected page on; the
 * program installs and asks for its own as if it were not there.  SIGSEGV is never blocked in the kernel's mask: a
 * fault with the signal blocked ends the process.
 */
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/arch.h"
#include "guard/guard.h"
#include "preload/platform/sys.h"

static void fault_handle(int signal, siginfo_t *info, void *context);
static void fault_start(void);

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static int (*real_mask)(int, const sigset_t *, sigset_t *);

static struct sigaction program; /* its action, while `armed` */
static bool armed;
static bool masked[65]; /* SIGSEGV was in the mask of the program's handler for this signal */
static __thread bool fault_blocked __attribute__((tls_model("initial-exec")));

/* The program has blocked SIGSEGV on this thread. (The kernel's mask never blocks it.) */
static bool signals_blocked(void)
{
	return fault_blocked;
}

/* From now on the kernel's mask blocks it, too. */
static void signals_block(void)
{
	fault_blocked = false;
}

/* Our action: on the handlers' stack where there is one (goroutines and overflowing stacks have no room for another
   frame), unless the program's handler asked for the normal one. */
static void install_action(void)
{
	bool handler = program.sa_handler != SIG_DFL && program.sa_handler != SIG_IGN;
	struct sigaction mine = {.sa_sigaction = fault_handle,
				 .sa_flags = SA_SIGINFO | SA_NODEFER | (program.sa_flags & SA_RESTART)};
	if (!handler || program.sa_flags & SA_ONSTACK)
		mine.sa_flags |= SA_ONSTACK;
	real_sigaction(SIGSEGV, &mine, NULL);
}

/* Installs the handler for SIGSEGV, over the program's: faults that are not the guard's go on to that. */
bool sw_signals_arm(void)
{
	struct sigaction now;
	SW_NEXT(real_sigaction, "sigaction");
	if (!real_sigaction || real_sigaction(SIGSEGV, NULL, &now))
		return false;
	if (now.sa_sigaction == fault_handle && now.sa_flags & SA_SIGINFO)
		return true;
	/* The first time, or another handler was set without us. */
	if (!armed)
		fault_start();
	program = now;
	armed = true;
	install_action();
	return true;
}

/* Removes our handler, so that the default action of the signal takes place. */
static void signals_disarm(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	real_sigaction(SIGSEGV, &standard, NULL);
	program = standard;
	armed = false;
}

/* The program's action for SIGSEGV; `take`: as for delivering one (SA_RESETHAND).  Under the lock. */
static struct sigaction signals_action(bool take)
{
	struct sigaction action = program;
	if (take && action.sa_flags & (int)SA_RESETHAND)
		program.sa_handler = SIG_DFL;
	return action;
}

/* ---- sigaction and its relatives --------------------------------------------------------------------------------- */

/* sigaction() for SIGSEGV: while our handler is installed, the program's action is only kept. */
static int set_ours(const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before, after = {0};
	bool standing;
	if (action)
		after = *action; /* read and written without the lock: it is the program's memory */
	uint64_t mask = sw_guard_lock();
	standing = armed;
	before = program;
	if (standing && action) {
		program = after;
		install_action();
	}
	sw_guard_unlock(mask);
	if (!standing)
		return real_sigaction(SIGSEGV, action, old);
	if (old)
		*old = before;
	return 0;
}

/* sigaction(): handlers of other signals must not run with SIGSEGV blocked, since they may touch a protected page; the
   program is told what it asked for. */
static int set_action(int signal, const struct sigaction *action, struct sigaction *old)
{
	SW_NEXT(real_sigaction, "sigaction");
	if (signal == SIGSEGV)
		return set_ours(action, old);
	if (signal < 1 || signal > 64)
		return real_sigaction(signal, action, old);
	bool was = masked[signal];
	struct sigaction without;
	if (action) {
		without = *action;
		sigdelset(&without.sa_mask, SIGSEGV);
	}
	int got = real_sigaction(signal, action ? &without : NULL, old);
	if (!got && old && was)
		sigaddset(&old->sa_mask, SIGSEGV);
	if (!got && action)
		masked[signal] = sigismember(&action->sa_mask, SIGSEGV) == 1;
	return got;
}

/* Exported in place of libc's. */
SW_EXPORT int sigaction(int signal, const struct sigaction *restrict action, struct sigaction *restrict old)
{
	return set_action(signal, action, old);
}

SW_EXPORT int __sigaction(int signal, const struct sigaction *action, struct sigaction *old);
SW_EXPORT int __sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	return set_action(signal, action, old);
}

/* libc's signal() and its like reach the kernel without calling sigaction() by name. */
static __sighandler_t set_handler(int signal, __sighandler_t handler, int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
	if (handler == SIG_ERR || signal < 1 || signal > 64) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (flags & SA_RESTART)
		sigaddset(&action.sa_mask, signal);
	return set_action(signal, &action, &old) ? SIG_ERR : old.sa_handler;
}

#define SIGNAL_LIKE(name, flags)                                                                                       \
	SW_EXPORT __sighandler_t name(int signal, __sighandler_t handler);                                             \
	SW_EXPORT __sighandler_t name(int signal, __sighandler_t handler)                                              \
	{                                                                                                              \
		static __sighandler_t (*real)(int, __sighandler_t);                                                    \
		if (signal == SIGSEGV)                                                                                 \
			return set_handler(signal, handler, flags);                                                    \
		SW_NEXT(real, #name);                                                                                  \
		masked[signal > 0 && signal < 65 ? signal : 0] = false;                                                \
		return real(signal, handler);                                                                          \
	}
SIGNAL_LIKE(signal, SA_RESTART)
SIGNAL_LIKE(bsd_signal, SA_RESTART)
SIGNAL_LIKE(ssignal, SA_RESTART)
SIGNAL_LIKE(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SIGNAL_LIKE(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* pthread_sigmask() and sigprocmask() of `real`: SIGSEGV stays out of the kernel's mask, and is kept apart for each
   thread. */
static int set_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	sigset_t without;
	bool was = fault_blocked, member = false;
	/* Blocked in the kernel's mask: the recorder does so while it must not be interrupted, and frees it itself. */
	if (real(SIG_BLOCK, NULL, &without) || sigismember(&without, SIGSEGV) == 1)
		return real(how, set, old);
	if (set) { /* which may be `old`, too */
		member = sigismember(set, SIGSEGV) == 1;
		without = *set;
		if (how != SIG_UNBLOCK)
			sigdelset(&without, SIGSEGV);
	}
	int got = real(how, set ? &without : NULL, old);
	if (got)
		return got;
	if (set)
		fault_blocked = how == SIG_SETMASK ? member : member ? how == SIG_BLOCK : was;
	if (old && was)
		sigaddset(old, SIGSEGV);
	return got;
}

/* The program's masks are watched, since a blocked SIGSEGV would end the process at a fault. */
SW_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	SW_NEXT(real_mask, "pthread_sigmask");
	return set_mask(real_mask, how, set, old);
}

/* As pthread_sigmask(). */
SW_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	static int (*real)(int, const sigset_t *, sigset_t *);
	SW_NEXT(real, "sigprocmask");
	return set_mask(real, how, set, old);
}

/* A handler that runs meanwhile must be able to fault. */
SW_EXPORT int sigsuspend(const sigset_t *set)
{
	static int (*real)(const sigset_t *);
	sigset_t without = *set;
	SW_NEXT(real, "sigsuspend");
	sigdelset(&without, SIGSEGV);
	return real(&without);
}

/*
 * Faults, and signals sent, that are not ours: the program's action is taken, or the default action with the same
 * signal and code.  Before it, all pages are released: handlers run with SIGSEGV blocked, and must not fault.
 */

#define MASK_BYTES 8u /* of a signal mask, for the kernel */

/* Was the signal sent by somebody (kill, raise, sigqueue), and not by the processor? */
static bool was_sent(const siginfo_t *info)
{
	return info->si_code <= 0;
}

/* Sends the signal to this thread again, unchanged. */
static void send_again(int signal, siginfo_t *info)
{
	syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), signal, info);
}

/* Removes our handler: the default action takes place when the access is made again, or the signal, which was sent, is
   sent again. */
static void by_default(int signal, siginfo_t *info)
{
	uint64_t mask = sw_guard_lock();
	signals_disarm();
	sw_guard_unlock(mask);
	if (was_sent(info))
		send_again(signal, info);
}

/* The program has blocked the signal: it waits until it is not any more. For that it must really be blocked, and then
   no page may be protected any more. */
static void keep_waiting(int signal, siginfo_t *info, ucontext_t *c)
{
	uint64_t mask = sw_guard_lock();
	sw_pages_stop();
	signals_block();
	sw_guard_unlock(mask);
	sigaddset(&c->uc_sigmask, signal);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &c->uc_sigmask, NULL, MASK_BYTES);
	send_again(signal, info);
}

/* Calls the program's handler as the kernel does: with the handler's mask, and the signal itself blocked unless
   SA_NODEFER. */
static void by_handler(const struct sigaction *action, int signal, siginfo_t *info, ucontext_t *c)
{
	sigset_t mask = c->uc_sigmask;
	sigorset(&mask, &mask, &action->sa_mask);
	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&mask, signal);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_BYTES);
	action->sa_sigaction(signal, info, c); /* a handler of one argument ignores the others */
}

/* A fault that is not ours: the program's handler, or the default action. */
static void chain_pass(int signal, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t mask = sw_guard_lock();
	bool blocked = signals_blocked();
	struct sigaction action = signals_action(!blocked);
	sw_pages_release_all();
	sw_guard_unlock(mask);
	errno = saved;
	if (blocked && was_sent(info))
		keep_waiting(signal, info, context);
	else if (blocked || action.sa_handler == SIG_DFL)
		by_default(signal, info);
	else if (action.sa_handler == SIG_IGN && !was_sent(info))
		by_default(signal, info); /* the kernel does not let a fault be ignored */
	else if (action.sa_handler != SIG_IGN)
		by_handler(&action, signal, info, context);
	errno = saved;
}

/* An access to a protected page: recorded, the page released, and the access made again. */

/* A fault at one address that does not go away by itself: the program has protected the page in a way that we do not
   see, and must get the signal. */
#define STALE_MAX 1000u

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

/* For dl_iterate_phdr(): finds libcuda's code. */
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

/* Notes where libcuda lies: what it touches is reported by its calls. */
static void fault_start(void)
{
	dl_iterate_phdr(find_driver, NULL);
}

/* Is it an instruction of the driver?  Its accesses are not the program's. */
static bool of_driver(uint64_t address)
{
	return address >= driver.lo && address < driver.hi;
}

/* The driver copies on the program's behalf, on threads of its own too; what it copies is reported by the call.  Most
   of it is done by libc's memcpy, whose return address is on top of the stack. */
static bool by_driver(const ucontext_t *c)
{
	return of_driver(sw_arch_instruction(c)) || of_driver(sw_arch_leaf_return(c));
}

struct host_access {
	uint64_t at, bytes, instruction;
	uint32_t flags;
	void *frame;
};

/* Writes the HOST_ACCESS record of an access, with the call stack from t->frame on; no recorded call may be under
   way. */
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

/* Records an access that a function of libc made for the program. */
void sw_fault_record(uint64_t at, uint64_t bytes, uint64_t instruction, uint32_t flags, void *frame)
{
	record_access(&(struct host_access){at, bytes, instruction, flags, frame});
}

/* Calls a function on another stack. */
static void call_on(char *top, void (*function)(void *), void *arg)
{
#ifdef __x86_64__
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[function]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg), [top] "+r"(top), [function] "+r"(function)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
			   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15", "cc", "memory");
#else
	register void *x0 __asm__("x0") = arg;
	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[function]\n\t"
			 "mov sp, x19"
			 : "+r"(x0), [top] "+r"(top), [function] "+r"(function)
			 :
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
			   "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
			   "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
			   "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#endif
}

/* Does the thread run on the alternate stack for signal handlers? */
static bool on_signal_stack(void)
{
	stack_t s;
	return sigaltstack(NULL, &s) == 0 && (s.ss_flags & SS_ONSTACK);
}

/* Records the access of a fault, on a stack of ours if the handler's may be too small.  None to be had: the access goes
   unrecorded, which only a burst of threads can bring about. */
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

/* False: this address has faulted so often that releasing its page does not help. */
static bool faults_again(uint64_t address)
{
	stale.times = stale.address == address ? stale.times + 1 : 0;
	stale.address = address;
	return stale.times < STALE_MAX;
}

#ifdef __aarch64__

struct function {
	uint64_t inside, lo, hi; /* hi 0: not found */
};

/* For dl_iterate_phdr(): the function that holds f->inside, by the sorted table of .eh_frame_hdr; it ends where the
   next one begins.  0: it is in another object. */
static int find_function(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct function *f = arg;
	const uint32_t *header = NULL;
	bool has = false;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		has |= p->p_type == PT_LOAD && f->inside - info->dlpi_addr - p->p_vaddr < p->p_memsz;
		if (p->p_type == PT_GNU_EH_FRAME)
			header = (const void *)(info->dlpi_addr + p->p_vaddr);
	}
	/* Version 1, words of 4 bytes, entries relative to the header: all that linkers write. */
	if (!has || !header || header[0] != 0x3b031b01)
		return has;
	const int32_t(*entries)[2] = (const void *)(header + 3);
	const int64_t wanted = (int64_t)(f->inside - (uintptr_t)header);
	uint32_t low = 0, high = header[2];
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (entries[middle][0] <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low) {
		f->lo = (uintptr_t)header + (uint64_t)(int64_t)entries[low - 1][0];
		f->hi = low < header[2] ? (uintptr_t)header + (uint64_t)(int64_t)entries[low][0] : UINT64_MAX;
	}
	return 1;
}

/* Has the interrupted function not made a frame record of its own, so that its caller is in the link register only?
   Where it has, the register still holds what the record holds, or where a call in this function returned to.  Code
   without tables: nobody knows, and a frame that may not be one is left out. */
static bool is_frameless(const ucontext_t *c, uint64_t caller)
{
	const uint64_t *record = (const uint64_t *)(uintptr_t)c->uc_mcontext.regs[29];
	struct function f = {.inside = sw_arch_instruction(c)};
	if ((uintptr_t)record % 16 == 0 && sw_sys_readable(record) && sw_arch_return_address(record[1]) == caller)
		return false;
	dl_iterate_phdr(find_function, &f);
	return f.hi && (caller <= f.lo || caller > f.hi);
}

#endif

/* Where the walk of the stack begins.  On x86-64 that is the handler: tables lead it through the signal's frame.  On
   aarch64 the chain of frame records misses the function that the signal came in, and its caller too if that function
   made no record: they get records of ours, before the chain. */
static void *walk_from(const ucontext_t *c, void *handler, uint64_t records[4])
{
#ifdef __x86_64__
	(void)c, (void)records;
	return handler;
#else
	const uint64_t caller = sw_arch_leaf_return(c);
	(void)handler;
	records[2] = c->uc_mcontext.regs[29];
	records[3] = caller;
	records[0] = is_frameless(c, caller) ? (uintptr_t)&records[2] : records[2];
	records[1] = sw_arch_instruction(c) + 1; /* addresses of the walk point after the instruction */
	return records;
#endif
}

/* Is the fault one of our protection?  Then it is recorded if it conflicts with work in flight, its page released, and
   the access can be made again. */
static __attribute__((noinline)) bool take_fault(const siginfo_t *info, const ucontext_t *c, void *frame)
{
	uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
	uint64_t records[4] __attribute__((aligned(16)));
	bool writes = sw_arch_fault_writes(c);
	uint64_t mask = sw_guard_lock();
	enum sw_fault what = sw_pages_fault(address, writes);
	if (what == SW_FAULT_HIT && !by_driver(c)) {
		sw_guard_unlock(mask);
		record_fault(&(struct host_access){address, 1, sw_arch_instruction(c), writes ? SW_HOST_WRITES : 0,
						   walk_from(c, frame, records)});
		mask = sw_guard_lock();
	}
	if (what == SW_FAULT_HIT || what == SW_FAULT_BESIDE)
		sw_pages_open(address, writes);
	sw_guard_unlock(mask);
	return what == SW_FAULT_STALE ? faults_again(address) : what != SW_FAULT_FOREIGN;
}

/* The handler for SIGSEGV. */
static void fault_handle(int signal, siginfo_t *info, void *context)
{
	int saved = errno;
	/* Also where the program has blocked the signal: it must not get the signal of a page that we protected. */
	bool handled = info->si_code == SEGV_ACCERR && take_fault(info, context, __builtin_frame_address(0));
	errno = saved;
	if (!handled)
		chain_pass(signal, info, context);
}
