/* SPDX-License-Identifier: Apache-2.0 */
/* Plays PyTorch's engine: a thread that has a thread state of Python, but runs none, records an event each time that it
   is asked to. */
#include <pthread.h>
#include <stddef.h>

extern int PyGILState_Ensure(void);
extern void *PyEval_SaveThread(void);
extern int cudaEventRecord(void *event, void *stream);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void *wanted;
static int left; /* calls that the thread makes while no thread waits */

/* The names that PyTorch's functions have. */
__attribute__((noinline)) void thread_main(void) __asm__("_ZN5torch8autograd6Engine11thread_mainEv");
void *thread_init(void *arg) __asm__("_ZN5torch8autograd6python12PythonEngine11thread_initEv");

__attribute__((noinline)) void thread_main(void)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!wanted)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		do
			cudaEventRecord(wanted, NULL);
		while (__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) > 0);
		pthread_mutex_lock(&lock);
		wanted = NULL;
		pthread_cond_broadcast(&changed);
	}
}

void *thread_init(void *arg)
{
	PyGILState_Ensure();
	PyEval_SaveThread();
	thread_main();
	return arg;
}

/* The thread makes so many calls; does not wait for them. */
void start(void *event, int calls)
{
	static pthread_t thread;
	pthread_mutex_lock(&lock);
	__atomic_store_n(&left, calls, __ATOMIC_SEQ_CST);
	if (!thread)
		pthread_create(&thread, NULL, thread_init, NULL);
	wanted = event;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

int busy(void)
{
	return __atomic_load_n(&left, __ATOMIC_SEQ_CST) > 0;
}

/* Makes one call and waits for it. Called without the interpreter's lock. */
void run(void *event)
{
	start(event, 1);
	pthread_mutex_lock(&lock);
	while (wanted)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
