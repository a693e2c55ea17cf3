/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses of threads in which a wrapper could do harm: cancellation in a wait, a mutex whose owner died, errno, a
 * semaphore posted by a signal handler, results of threads that end by pthread_exit(), C11, a fork child.  Prints what
 * it saw; strict.sh compares that with and without libsyncwatch-host.so.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static int (*allocate)(void **, size_t);
static int (*synchronize)(void);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static int cleaned, ran;

static void unlock(void *locked)
{
	cleaned++;
	pthread_mutex_unlock(locked);
}

static void *wait_for_ever(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

static void *die_with_lock(void *unused)
{
	pthread_mutex_lock(&robust);
	return unused;
}

static void *call_and_exit(void *number)
{
	void *memory;
	allocate(&memory, 64);
	pthread_mutex_lock(&mutex);
	synchronize();
	pthread_mutex_unlock(&mutex);
	pthread_exit(number);
}

static int c11(void *unused)
{
	(void)unused;
	return 42;
}

static void post(int signal)
{
	(void)signal;
	sem_post(&semaphore);
}

static void run(void)
{
	ran++;
}

static void cancel(void)
{
	pthread_t thread;
	void *result;
	pthread_create(&thread, NULL, wait_for_ever, NULL);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("cancelled %d, cleaned %d, lock free %d\n", result == PTHREAD_CANCELED, cleaned,
	       !pthread_mutex_trylock(&mutex));
	pthread_mutex_unlock(&mutex);
}

static void inherit_lock(void)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_create(&thread, NULL, die_with_lock, NULL);
	pthread_join(thread, NULL);
	printf("owner died %d\n", pthread_mutex_lock(&robust) == EOWNERDEAD);
	pthread_mutex_consistent(&robust);
	pthread_mutex_unlock(&robust);
}

static void threads(void)
{
	int wrong = 0, status;
	for (long i = 0; i < 200; i++) {
		pthread_t thread;
		void *result;
		pthread_create(&thread, NULL, call_and_exit, (void *)i);
		pthread_join(thread, &result);
		wrong += result != (void *)i;
	}
	thrd_t thread;
	thrd_create(&thread, c11, NULL);
	thrd_join(thread, &status);
	printf("wrong results %d, C11 %d\n", wrong, status);
}

int main(void)
{
	void *cudart = dlopen("libcudart.so.13", RTLD_NOW), *memory;
	if (!cudart)
		return 77;
	*(void **)&allocate = dlsym(cudart, "cudaMalloc");
	*(void **)&synchronize = dlsym(cudart, "cudaDeviceSynchronize");
	if (allocate(&memory, 64))
		return 77;
	cancel();
	inherit_lock();
	errno = 77;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	printf("errno %d\n", errno);
	sem_init(&semaphore, 0, 0);
	signal(SIGALRM, post);
	raise(SIGALRM);
	printf("posted %d", sem_trywait(&semaphore));
	printf(", again %d %d\n", sem_trywait(&semaphore), errno == EAGAIN);
	pthread_once(&once, run);
	pthread_once(&once, run);
	printf("ran %d\n", ran);
	threads();
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		_exit(3);
	}
	int status;
	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	return 5;
}
