/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jumps linked|asked|pointer: a handler leaves the first CUDA calls by siglongjmp, from inside of each call of libc
 * that would hold a lock; each in a process of its own.  Afterwards no lock is held, other threads get along, and CUDA
 * works.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/intercept/cuda_types.h"

extern int jumps_held __attribute__((weak));
extern int jumps_arm(int at) __attribute__((weak));

static sigjmp_buf out;
static volatile sig_atomic_t jumped;
static void *driver;

static void leave(int signal)
{
	(void)signal;
	jumped = 1;
	siglongjmp(out, 1);
}

static CUresult allocate(const char *way, CUdeviceptr *at)
{
	CUresult (*function)(CUdeviceptr *, size_t) = NULL;
	if (strcmp(way, "linked") == 0)
		return cuMemAlloc_v2(at, 777);
	if (strcmp(way, "asked") == 0) {
		*(void **)&function = dlsym(driver, "cuMemAlloc_v2");
	} else {
		__typeof__(&cuGetProcAddress_v2) ask = (__typeof__(ask))dlsym(driver, "cuGetProcAddress_v2");
		ask("cuMemAlloc", (void **)&function, 12000, 0, NULL);
	}
	return function(at, 777);
}

static int count(struct dl_phdr_info *info, size_t size, void *n)
{
	(void)info, (void)size;
	++*(int *)n;
	return 0;
}

static void *use_locks(void *n)
{
	free(malloc(100000));
	dl_iterate_phdr(count, n);
	return dlsym(RTLD_DEFAULT, "printf");
}

/* The calls that could be interrupted; -1: something is wrong. */
static int try(const char *way, int at)
{
	CUdeviceptr memory = 0;
	pthread_t other;
	int objects = 0, calls;
	void *found = NULL;
	signal(SIGUSR1, leave);
	if (sigsetjmp(out, 1) == 0) {
		jumps_arm(at);
		allocate(way, &memory);
	}
	calls = jumps_arm(0);
	if (jumps_held) {
		fprintf(stderr, "%s: call %d of libc holds its lock for ever\n", way, at);
		return -1;
	}
	alarm(20); /* a lock that is taken for ever */
	if (pthread_create(&other, NULL, use_locks, &objects) || pthread_join(other, &found) || !objects || !found ||
	    allocate(way, &memory) != CUDA_SUCCESS || !memory)
		return -1;
	return at != INT_MAX && !jumped ? -1 : calls;
}

int main(int argc, char **argv)
{
	int n = 0, calls = 1, status;
	if (argc != 2 || !jumps_arm)
		return 2;
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	/* The first one counts the calls of libc, and is not interrupted. */
	for (; n <= calls; n++) {
		int to[2], got;
		if (pipe(to))
			return 2;
		if (fork() == 0) {
			got = try(argv[1], n ? n : INT_MAX);
			if (write(to[1], &got, sizeof got) < 0)
				_exit(2);
			_exit(got < 0);
		}
		if (read(to[0], &got, sizeof got) != sizeof got || got < 0 || wait(&status) < 0 || status) {
			fprintf(stderr, "%s: call %d: status %#x\n", argv[1], n, status);
			return 1;
		}
		calls = n ? calls : got;
		close(to[0]);
		close(to[1]);
	}
	printf("%d\n", n - 1);
	return 0;
}
