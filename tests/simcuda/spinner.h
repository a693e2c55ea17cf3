/* SPDX-License-Identifier: Apache-2.0 */
/* A spinning kernel that ends when a test says so, and the judgement of what waited for it. */
#ifndef TESTS_SIMCUDA_SPINNER_H
#define TESTS_SIMCUDA_SPINNER_H

#include "device_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define WATCHDOG_MS 10000 /* only a test that has failed waits that long */
#define HOLD_MS	    3	  /* a call that blocks is held that long */
#define QUIET_MS    10	  /* work that is held back is watched that long */

void syncwatch_simulated_finish(void);

static int failures, cells;

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool armed;
static int arm_ms;
static unsigned round_number; /* armed again before the releaser woke up: its time starts again */
static atomic_bool released;

static void *releaser(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&gate);
	for (;;) {
		while (!armed)
			pthread_cond_wait(&gate_changed, &gate);
		unsigned mine = round_number;
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += arm_ms / 1000;
		until.tv_nsec += arm_ms % 1000 * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		int rc = 0;
		while (armed && round_number == mine && !rc)
			rc = pthread_cond_timedwait(&gate_changed, &gate, &until);
		if (armed && round_number == mine) {
			released = true;
			syncwatch_simulated_finish();
			armed = false;
		}
	}
	return NULL;
}

static void arm(int ms)
{
	pthread_mutex_lock(&gate);
	released = false;
	arm_ms = ms;
	round_number++;
	armed = true;
	pthread_cond_signal(&gate_changed);
	pthread_mutex_unlock(&gate);
}

/* True if the releaser had to let go. */
static bool disarm(void)
{
	pthread_mutex_lock(&gate);
	armed = false;
	pthread_cond_signal(&gate_changed);
	pthread_mutex_unlock(&gate);
	return released;
}

static inline void start_releaser(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, releaser, NULL);
}

static void launch(const void *stub, cudaStream_t stream)
{
	void *p = NULL;
	int n = 0;
	void *args[] = {&p, &n};
	dim3 one = {1, 1, 1};
	CHECK(cudaLaunchKernel(stub, one, one, args, 0, stream));
}

static void judge(const char *row, const char *group, const char *what, char expected, bool found)
{
	cells++;
	if ((expected == '1') == found)
		return;
	failures++;
	fprintf(stderr, "%s, spinner on %s: %s is %d, measured %c\n", row, group, what, found, expected);
}

/* Does the stream's work wait for the spinner?  What does not wait is done at once; what does stays pending. */
static bool held_back(cudaStream_t stream, char expected)
{
	if (expected == '1') {
		sleep_ms(QUIET_MS);
		return cudaStreamQuery(stream) == cudaErrorNotReady;
	}
	arm(WATCHDOG_MS);
	CHECK(cudaStreamSynchronize(stream));
	return disarm();
}

#endif
