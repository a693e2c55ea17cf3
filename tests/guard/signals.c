/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with handlers, masks and faults of their own. */
#include "guard/guarded.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static cudaStream_t stream;
static char *buffer;	/* in flight */
static char *forbidden; /* a page of the program's own that may not be written */
static volatile int seen;
static volatile int code;
static void *volatile where;
static sigset_t mask_inside;
static volatile int on_stack;

static void start(void)
{
	stream = busy_stream();
	buffer = pinned(16 * PAGE);
	forbidden = pages(PAGE);
	mprotect(forbidden, PAGE, PROT_READ);
	upload(stream, buffer, 16 * PAGE);
}

/* As a garbage collector or a database does it. */
static void repair(int signal, siginfo_t *info, void *context)
{
	stack_t s;
	(void)signal, (void)context;
	seen++;
	code = info->si_code;
	where = info->si_addr;
	sigprocmask(SIG_BLOCK, NULL, &mask_inside);
	on_stack = !sigaltstack(NULL, &s) && s.ss_flags & SS_ONSTACK;
	mprotect(forbidden, PAGE, PROT_READ | PROT_WRITE);
}

static struct sigaction handler(int flags)
{
	struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO | flags};
	sigaddset(&action.sa_mask, SIGUSR2);
	return action;
}

static void fault_of_its_own(void)
{
	*(volatile char *)(forbidden + 8) = 1;
	CHECK(seen == 1 && code == SEGV_ACCERR && where == forbidden + 8);
	mprotect(forbidden, PAGE, PROT_READ);
}

static void touch(void)
{
	((volatile char *)buffer)[3 * PAGE] = 1;
}

void case_handler_before(void)
{
	struct sigaction action = handler(0), asked;
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	start();
	touch();
	CHECK(!seen);
	fault_of_its_own();
	CHECK(!sigaction(SIGSEGV, NULL, &asked));
	CHECK(asked.sa_sigaction == repair && asked.sa_flags & SA_SIGINFO && sigismember(&asked.sa_mask, SIGUSR2));
	finish_work(stream);
}

void case_handler_after(void)
{
	struct sigaction action = handler(0), old;
	start();
	CHECK(!sigaction(SIGSEGV, &action, &old));
	CHECK(old.sa_handler == SIG_DFL);
	touch();
	CHECK(!seen);
	fault_of_its_own();
	upload(stream, buffer, 16 * PAGE);
	touch();
	CHECK(seen == 1);
	finish_work(stream);
}

static void repair_simply(int signal)
{
	CHECK(signal == SIGSEGV);
	seen++;
	mprotect(forbidden, PAGE, PROT_READ | PROT_WRITE);
}

void case_handler_by_signal(void)
{
	start();
	CHECK(signal(SIGSEGV, repair_simply) == SIG_DFL);
	touch();
	*(volatile char *)forbidden = 1;
	CHECK(seen == 1);
	CHECK(signal(SIGSEGV, SIG_DFL) == repair_simply);
	finish_work(stream);
}

void case_handler_once(void)
{
	struct sigaction action = handler((int)SA_RESETHAND);
	start();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	touch();
	fault_of_its_own();
	*(volatile char *)forbidden = 1;
}

void case_handler_mask(void)
{
	struct sigaction action = handler(0);
	start();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	touch();
	fault_of_its_own();
	CHECK(sigismember(&mask_inside, SIGSEGV) && sigismember(&mask_inside, SIGUSR2));
	sigprocmask(SIG_BLOCK, NULL, &mask_inside);
	CHECK(!sigismember(&mask_inside, SIGSEGV) && !sigismember(&mask_inside, SIGUSR2));
	seen = 0;
	action = handler(SA_NODEFER);
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	fault_of_its_own();
	CHECK(!sigismember(&mask_inside, SIGSEGV) && sigismember(&mask_inside, SIGUSR2));
	finish_work(stream);
}

void case_handler_on_stack(void)
{
	size_t bytes = (size_t)sysconf(_SC_SIGSTKSZ);
	stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
	struct sigaction action = handler(SA_ONSTACK);
	CHECK(!sigaltstack(&stack, NULL));
	start();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	touch();
	CHECK(!seen);
	fault_of_its_own();
	CHECK(on_stack);
	seen = 0;
	action = handler(0);
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	fault_of_its_own();
	CHECK(!on_stack);
	finish_work(stream);
}

static sigjmp_buf back;
static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

void case_handler_jumps(void)
{
	sigset_t now;
	start();
	signal(SIGSEGV, jump);
	for (volatile int i = 0; i < 3; i++) {
		upload(stream, buffer, 16 * PAGE);
		touch();
		if (!sigsetjmp(back, 1)) {
			*(volatile char *)forbidden = 1;
			CHECK(!"no fault");
		}
		sigprocmask(SIG_BLOCK, NULL, &now);
		CHECK(!sigismember(&now, SIGSEGV));
	}
	finish_work(stream);
}

void case_no_handler(void)
{
	start();
	touch();
	*(volatile char *)forbidden = 1;
}

void case_ignored(void)
{
	start();
	signal(SIGSEGV, SIG_IGN);
	touch();
	raise(SIGSEGV); /* is ignored; a fault is not */
	*(volatile char *)forbidden = 1;
}

void case_raised(void)
{
	start();
	touch();
	raise(SIGSEGV);
}

void case_raised_and_handled(void)
{
	struct sigaction action = handler(0);
	start();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	touch();
	raise(SIGSEGV);
	CHECK(seen == 1 && code == SI_TKILL);
	finish_work(stream);
}

static void block(void)
{
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	CHECK(!pthread_sigmask(SIG_BLOCK, &set, &old));
	CHECK(!sigismember(&old, SIGSEGV));
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &old));
	CHECK(sigismember(&old, SIGSEGV));
}

/* The only access is made with the signal blocked. */
void case_blocked(void)
{
	block();
	start();
	touch();
	finish_work(stream);
}

void case_unblocked(void)
{
	sigset_t set;
	block();
	start();
	sigemptyset(&set);
	CHECK(!sigprocmask(SIG_SETMASK, &set, NULL));
	touch();
	finish_work(stream);
}

void case_blocked_fault(void)
{
	struct sigaction action = handler(0);
	start();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	touch();
	block();
	*(volatile char *)forbidden = 1; /* the kernel does not call the handler */
}

void case_blocked_raise(void)
{
	struct sigaction action = handler(0);
	sigset_t set;
	start();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	touch();
	block();
	raise(SIGSEGV);
	CHECK(!seen);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	CHECK(!sigprocmask(SIG_UNBLOCK, &set, NULL));
	CHECK(seen == 1);
	finish_work(stream);
}

static void touch_inside(int signal)
{
	(void)signal;
	touch();
	seen++;
}

void case_in_a_handler(void)
{
	struct sigaction action = {.sa_handler = touch_inside}, asked;
	sigfillset(&action.sa_mask);
	start();
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!sigaction(SIGUSR1, NULL, &asked));
	CHECK(sigismember(&asked.sa_mask, SIGSEGV));
	raise(SIGUSR1);
	CHECK(seen == 1 && buffer[3 * PAGE] == 1);
	finish_work(stream);
}

void case_errno_kept(void)
{
	start();
	errno = 4711;
	touch();
	CHECK(errno == 4711);
	finish_work(stream);
}

#define THREADS 8
static pthread_barrier_t barrier;

static void *touch_all(void *arg)
{
	sigset_t all;
	sigfillset(&all);
	if (arg)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int round = 0; round < 20; round++) {
		pthread_barrier_wait(&barrier);
		for (unsigned i = 0; i < 16; i++)
			__atomic_add_fetch((int *)(void *)(buffer + i * PAGE), 1, __ATOMIC_RELAXED);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

void case_threads(void)
{
	pthread_t thread[THREADS];
	start();
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, touch_all, (void *)(i & 1)));
	for (int round = 0; round < 20; round++) {
		upload(stream, buffer, 16 * PAGE);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < 16; i++)
		CHECK(*(int *)(void *)(buffer + i * PAGE) == 20 * THREADS);
	finish_work(stream);
}
