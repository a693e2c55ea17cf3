/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's handlers and masks.  Ours is the kernel's handler for SIGSEGV, from the first protected page on; the
 * program installs and asks for its own as if it were not there.  SIGSEGV is never blocked in the kernel's mask: a
 * fault with the signal blocked ends the process.
 */
#include "guard/guard.h"

#include <errno.h>

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static int (*real_mask)(int, const sigset_t *, sigset_t *);

static struct sigaction program; /* its action, while `armed` */
static bool armed;
static bool masked[65]; /* SIGSEGV was in the mask of the program's handler for this signal */
static __thread bool blocked __attribute__((tls_model("initial-exec")));

bool sw_signals_blocked(void)
{
	return blocked;
}

void sw_signals_block(void)
{
	blocked = false;
}

/* Our action: on the handlers' stack where there is one (goroutines and overflowing stacks have no room for another
   frame), unless the program's handler asked for the normal one. */
static void install(void)
{
	bool handler = program.sa_handler != SIG_DFL && program.sa_handler != SIG_IGN;
	struct sigaction mine = {.sa_sigaction = sw_fault_handle,
				 .sa_flags = SA_SIGINFO | SA_NODEFER | (program.sa_flags & SA_RESTART)};
	if (!handler || program.sa_flags & SA_ONSTACK)
		mine.sa_flags |= SA_ONSTACK;
	real_sigaction(SIGSEGV, &mine, NULL);
}

bool sw_signals_arm(void)
{
	struct sigaction now;
	SW_NEXT(real_sigaction, "sigaction");
	if (!real_sigaction || real_sigaction(SIGSEGV, NULL, &now))
		return false;
	if (now.sa_sigaction == sw_fault_handle && now.sa_flags & SA_SIGINFO)
		return true;
	/* The first time, or another handler was set without us. */
	if (!armed)
		sw_fault_start();
	program = now;
	armed = true;
	install();
	return true;
}

void sw_signals_disarm(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	real_sigaction(SIGSEGV, &standard, NULL);
	program = standard;
	armed = false;
}

struct sigaction sw_signals_action(bool take)
{
	struct sigaction action = program;
	if (take && action.sa_flags & (int)SA_RESETHAND)
		program.sa_handler = SIG_DFL;
	return action;
}

/* ---- sigaction and its relatives --------------------------------------------------------------------------------- */

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
		install();
	}
	sw_guard_unlock(mask);
	if (!standing)
		return real_sigaction(SIGSEGV, action, old);
	if (old)
		*old = before;
	return 0;
}

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

static int set_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	sigset_t without;
	bool was = blocked, member = false;
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
		blocked = how == SIG_SETMASK ? member : member ? how == SIG_BLOCK : was;
	if (old && was)
		sigaddset(old, SIGSEGV);
	return got;
}

SW_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	SW_NEXT(real_mask, "pthread_sigmask");
	return set_mask(real_mask, how, set, old);
}

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
