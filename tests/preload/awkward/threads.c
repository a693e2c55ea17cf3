/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads, late destructors, last threads; many handles and functions. */
#include <cuda.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "awkward.h"

static void *one_call(void *unused)
{
	calls(1);
	return unused;
}

static void each_thread(void *(*body)(void *))
{
	first_call();
	for (long i = 0; i < count; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, body, NULL))
			abort();
		pthread_join(t, NULL);
	}
}

static void report_memory(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	fprintf(stderr, "maxrss %ld KB\n", u.ru_maxrss);
}

void many_threads(void)
{
	each_thread(one_call);
	report_memory();
}

static int threads_now(void)
{
	char line[256];
	int threads = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status))
		if (strncmp(line, "Threads:", 8) == 0)
			threads = atoi(line + 8);
	if (status)
		fclose(status);
	return threads;
}

/* On stderr, since what is printed must be the same without the recorder.  The thread that loads libunwind ends by
   itself. */
void threads_counted(void)
{
	first_call();
	calls(10);
	for (int i = 0; threads_now() > 2 && i < 1000; i++)
		usleep(10000);
	fprintf(stderr, "threads %d\n", threads_now());
	puts("counted");
}

static pthread_key_t late_key;
static __thread int round_of_destructors;

/* Calls CUDA in the last round of destructors only: nothing of ours runs after it. */
static void late(void *value)
{
	if (++round_of_destructors < 4)
		pthread_setspecific(late_key, value);
	else
		calls(1);
}

static void *late_call(void *unused)
{
	calls(1);
	pthread_setspecific(late_key, "");
	return unused;
}

void late_destructors(void)
{
	pthread_key_create(&late_key, late);
	each_thread(late_call);
	report_memory();
}

void all_keys_taken(void)
{
	pthread_key_t key;
	while (!pthread_key_create(&key, NULL))
		;
	each_thread(one_call);
	report_memory();
}

/* The last thread leaves by pthread_exit: the process ends, with what atexit() was given. */
static void say_goodbye(void)
{
	puts("goodbye");
}

void last_thread(void)
{
	atexit(say_goodbye);
	first_call();
	calls(SEVERAL_CHUNKS);
	puts("main leaves");
	pthread_exit(NULL);
}

/* The thread leaves past libc. */
void last_thread_raw(void)
{
	first_call();
	calls(SEVERAL_CHUNKS);
	puts("main leaves");
	fflush(stdout);
	syscall(SYS_exit, 5);
}

static void *leave_last(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	calls(SEVERAL_CHUNKS);
	puts("the other leaves");
	return NULL;
}

void last_is_another(void)
{
	static pthread_t self;
	pthread_t t;
	self = pthread_self();
	atexit(say_goodbye);
	first_call();
	pthread_create(&t, NULL, leave_last, &self);
	pthread_exit(NULL);
}

/* A child of fork leaves the same way. */
void last_thread_of_a_child(void)
{
	first_call();
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		first_call();
		calls(10);
		pthread_exit(NULL);
	}
	int status = -1;
	waitpid(child, &status, 0);
	printf("child ended with %d\n", status);
}

void many_handles(void)
{
	for (long i = 0; i < count; i++) {
		CUstream s;
		cuStreamCreate(&s, 0);
		cuStreamDestroy(s);
	}
	report_memory();
}

/* Code that is loaded, used and unloaded. */
void many_functions(void)
{
	static char image[64] = "no image";
	static uint64_t values[20];
	void *parameters[20];
	for (int i = 0; i < 20; i++)
		parameters[i] = &values[i];
	for (long i = 0; i < count; i++) {
		CUmodule module;
		CUfunction function;
		cuModuleLoadData(&module, image);
		cuModuleGetFunction(&function, module, "kernel");
		cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
		cuModuleUnload(module);
	}
	report_memory();
}
