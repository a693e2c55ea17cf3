/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What locks cost: nanoseconds for a lock and unlock of a mutex that a thread has for itself, and of one that all
 * share, while each thread makes a CUDA call every EVERY locks.  Needs a libcudart:
 *
 *     bench_locks; syncwatch run [--sim] bench_locks; syncwatch run [--sim] --strict-host bench_locks
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 2, LOCKS = 2000000, EVERY = 1000 };

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static int (*call)(void *); /* cudaStreamQuery */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double pair(pthread_mutex_t *mutex)
{
	double start = now();
	for (int i = 0; i < LOCKS; i++) {
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
		if (call && i % EVERY == 0)
			call(NULL);
	}
	return (now() - start) / LOCKS;
}

static void *own(void *result)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	*(double *)result = pair(&mutex);
	return NULL;
}

static void *contended(void *result)
{
	*(double *)result = pair(&shared);
	return NULL;
}

static double together(void *(*run)(void *))
{
	pthread_t thread[THREADS];
	double ns[THREADS] = {0}, worst = 0;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, &ns[i]))
			return 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		worst = ns[i] > worst ? ns[i] : worst;
	}
	return worst;
}

int main(void)
{
	void *cudart = dlopen("libcudart.so.13", RTLD_NOW);
	if (!cudart)
		cudart = dlopen("libcudart.so.12", RTLD_NOW);
	*(void **)&call = cudart ? dlsym(cudart, "cudaStreamQuery") : NULL;
	if (!call) {
		fprintf(stderr, "bench_locks: no libcudart: locks without CUDA calls\n");
	} else if (call(NULL)) {
		fprintf(stderr, "bench_locks: no usable CUDA device\n");
		return 77;
	}
	printf("own mutex %.1f ns, shared mutex %.1f ns a lock and unlock\n", together(own), together(contended));
	return 0;
}
