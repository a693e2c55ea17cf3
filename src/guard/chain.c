/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults, and signals sent, that are not ours: the program's action is taken, or the default action with the same
 * signal and code.  Before it, all pages are released: handlers run with SIGSEGV blocked, and must not fault.
 */
#include "guard/guard.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define MASK_BYTES 8u /* of a signal mask, for the kernel */

/* Sent by somebody (kill, raise, sigqueue), not by the processor. */
static bool sent(const siginfo_t *info)
{
	return info->si_code <= 0;
}

/* Sent again to this thread, unchanged. */
static void send_again(int signal, siginfo_t *info)
{
	syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), signal, info);
}

/* The default action takes place when the access is made again, or the signal is sent again. */
static void by_default(int signal, siginfo_t *info)
{
	uint64_t mask = sw_guard_lock();
	sw_signals_disarm();
	sw_guard_unlock(mask);
	if (sent(info))
		send_again(signal, info);
}

/* The program has blocked the signal: it waits until it is not any more. For that it must really be blocked, and then
   no page may be protected any more. */
static void keep_waiting(int signal, siginfo_t *info, ucontext_t *c)
{
	uint64_t mask = sw_guard_lock();
	sw_pages_stop();
	sw_signals_block();
	sw_guard_unlock(mask);
	sigaddset(&c->uc_sigmask, signal);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &c->uc_sigmask, NULL, MASK_BYTES);
	send_again(signal, info);
}

/* As the kernel does it: with the handler's mask, and the signal itself blocked unless SA_NODEFER. */
static void by_handler(const struct sigaction *action, int signal, siginfo_t *info, ucontext_t *c)
{
	sigset_t mask = c->uc_sigmask;
	sigorset(&mask, &mask, &action->sa_mask);
	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&mask, signal);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, MASK_BYTES);
	action->sa_sigaction(signal, info, c); /* a handler of one argument ignores the others */
}

void sw_chain_pass(int signal, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t mask = sw_guard_lock();
	bool blocked = sw_signals_blocked();
	struct sigaction action = sw_signals_action(!blocked);
	sw_pages_release_all();
	sw_guard_unlock(mask);
	errno = saved;
	if (blocked && sent(info))
		keep_waiting(signal, info, context);
	else if (blocked || action.sa_handler == SIG_DFL)
		by_default(signal, info);
	else if (action.sa_handler == SIG_IGN && !sent(info))
		by_default(signal, info); /* the kernel does not let a fault be ignored */
	else if (action.sa_handler != SIG_IGN)
		by_handler(&action, signal, info, context);
	errno = saved;
}
