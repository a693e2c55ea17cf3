/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: operations become ready when everything that they wait for is done, last as long as the model says, and
 * complete in the order of their ends.  An operation starts at the *model's* end of its last predecessor, so that a
 * late wake-up of the engine thread delays nothing but the observation.
 */
#include "simcuda/sim.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static pthread_cond_t engine_wake, host_wake, done_wake;
static SW_VEC(struct sw_sim_op *) heap;	    /* running, by end */
static SW_VEC(struct sw_sim_op *) runnable; /* ready, not yet started */
static SW_VEC(struct sw_sim_op *) parked;   /* waiting for a value in memory */
static SW_VEC(struct sw_sim_op *) hosted;   /* host functions that may run, first in first out */
static size_t hosted_at;
static bool started, stopped, settling;
static uint64_t last_seq;

extern pthread_mutex_t sw_sim_mutex;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A new operation of a stream.  One without `work` is a marker, which takes no time; work is taken over. */
struct sw_sim_op *sw_sim_op_new(struct sw_sim_work *work)
{
	struct sw_sim_op *op = sw_calloc(1, sizeof *op);
	op->refs = 1;
	op->pending = 1; /* until it is submitted */
	op->seq = ++last_seq;
	op->work = work;
	return op;
}

/* One more reference to an operation. */
static struct sw_sim_op *op_get(struct sw_sim_op *op)
{
	op->refs++;
	return op;
}

/* Drops a reference; the last one frees the operation and its work. */
void sw_sim_op_put(struct sw_sim_op *op)
{
	if (!op || --op->refs)
		return;
	sw_sim_work_put(op->work);
	free(op->next.at);
	free(op);
}

/* Lets a variable refer to another operation. */
void sw_sim_op_set(struct sw_sim_op **slot, struct sw_sim_op *op)
{
	struct sw_sim_op *old = *slot;
	*slot = op ? op_get(op) : NULL;
	sw_sim_op_put(old);
}

/* Orders the operation after another one: it begins when all that it waits for is complete. */
void sw_sim_op_after(struct sw_sim_op *op, struct sw_sim_op *before)
{
	if (!before || before == op)
		return;
	if (before->done) {
		if (op->ready < before->end)
			op->ready = before->end;
		return;
	}
	*sw_vec_push(&before->next) = op_get(op);
	op->pending++;
}

/* The order of the heap: by end, then by submission, so that runs are alike. */
static bool ends_earlier(const struct sw_sim_op *a, const struct sw_sim_op *b)
{
	return a->end < b->end || (a->end == b->end && a->seq < b->seq);
}

/* Adds a running operation to the heap; wakes the engine if it is now the first to end. */
static void heap_push(struct sw_sim_op *op)
{
	size_t i = heap.n;
	*sw_vec_push(&heap) = op;
	for (; i && ends_earlier(op, heap.at[(i - 1) / 2]); i = (i - 1) / 2)
		heap.at[i] = heap.at[(i - 1) / 2];
	heap.at[i] = op;
	if (!i)
		pthread_cond_signal(&engine_wake);
}

/* Takes the operation that ends first. */
static struct sw_sim_op *heap_pop(void)
{
	struct sw_sim_op *top = heap.at[0], *last = heap.at[--heap.n];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < heap.n; i = child) {
		if (child + 1 < heap.n && ends_earlier(heap.at[child + 1], heap.at[child]))
			child++;
		if (!ends_earlier(heap.at[child], last))
			break;
		heap.at[i] = heap.at[child];
	}
	heap.at[i] = last;
	return top;
}

/* An operation has ended: wakes the threads that wait for it, and lets those that come after it become runnable at its
   end at the earliest. */
static void finish_op(struct sw_sim_op *op)
{
	op->done = true;
	if (op->waiters)
		pthread_cond_broadcast(&done_wake);
	for (size_t i = 0; i < op->next.n; i++) {
		struct sw_sim_op *next = op->next.at[i];
		if (next->ready < op->end)
			next->ready = op->end;
		if (!--next->pending)
			*sw_vec_push(&runnable) = next; /* takes the reference over */
		else
			sw_sim_op_put(next);
	}
	op->next.n = 0;
	sw_sim_op_put(op);
}

/* Starts what became ready.  A list instead of recursion: thousands of markers may hang on one operation. */
static void settle_ready(void)
{
	if (settling)
		return;
	settling = true;
	while (runnable.n) {
		struct sw_sim_op *op = runnable.at[--runnable.n];
		op->end = op->ready + (op->work ? op->work->ns : 0);
		if (op->work && op->work->type == CU_GRAPH_NODE_TYPE_HOST) {
			*sw_vec_push(&hosted) = op;
			pthread_cond_signal(&host_wake);
		} else if (op->work) {
			heap_push(op);
		} else {
			finish_op(op);
		}
	}
	settling = false;
}

/* From now on the operation may run: at once if all that it waits for is complete, else when the last of that is. */
void sw_sim_op_submit(struct sw_sim_op *op)
{
	uint64_t now = now_ns();
	if (op->ready < now)
		op->ready = now;
	op->submitted = true;
	if (!--op->pending) {
		*sw_vec_push(&runnable) = op_get(op);
		settle_ready();
	}
}

/* Waits until the operation is complete, with the lock released. */
void sw_sim_op_wait(struct sw_sim_op *op)
{
	if (!op || op->done)
		return;
	op_get(op);
	op->waiters++;
	while (!op->done)
		pthread_cond_wait(&done_wake, &sw_sim_mutex);
	op->waiters--;
	sw_sim_op_put(op);
}

/* For tests: ends the kernels that run, so that nothing depends on how long a machine takes. */
void syncwatch_simulated_finish(void);
/* Ends the kernels that are running, whose time would pass in vain: the recorder calls it at the program's end. */
void syncwatch_simulated_finish(void)
{
	pthread_mutex_lock(&sw_sim_mutex);
	size_t n = heap.n;
	uint64_t now = now_ns();
	heap.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct sw_sim_op *op = heap.at[i];
		if (op->work->type == CU_GRAPH_NODE_TYPE_KERNEL && op->end > now)
			op->end = now;
		heap_push(op); /* into the part that was read already */
	}
	pthread_mutex_unlock(&sw_sim_mutex);
}

/* Sleeps until a time of CLOCK_MONOTONIC, or until an operation comes that ends earlier. */
static void wait_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	pthread_cond_timedwait(&engine_wake, &sw_sim_mutex, &t);
}

/* Memory changes by operations, and by the host, which is not seen: looked at again and again. */
#define VALUE_NS 100000u

/* Does the operation wait for a value in memory that is not there yet? */
static bool waits_on(const struct sw_sim_op *op)
{
	return op->work->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && op->work->op.wait &&
	       !sw_sim_value_there(&op->work->op);
}

/* Ends those waits whose value is there now. */
static void release_parked(void)
{
	for (size_t i = 0; i < parked.n;) {
		struct sw_sim_op *op = parked.at[i];
		if (waits_on(op)) {
			i++;
			continue;
		}
		parked.at[i] = parked.at[--parked.n];
		op->end = now_ns();
		finish_op(op);
		settle_ready();
	}
}

/* The engine's thread: at the end of each operation does what it stands for (moves bytes), and lets what comes after it
   begin. */
static void *run_engine(void *arg)
{
	(void)arg;
	prctl(PR_SET_TIMERSLACK, 1ul);
	pthread_mutex_lock(&sw_sim_mutex);
	for (;;) {
		uint64_t look = parked.n ? now_ns() + VALUE_NS : UINT64_MAX;
		release_parked();
		if (stopped || (!heap.n && !parked.n)) {
			pthread_cond_wait(&engine_wake, &sw_sim_mutex);
			continue;
		}
		if (!heap.n || heap.at[0]->end > now_ns()) {
			wait_until(heap.n && heap.at[0]->end < look ? heap.at[0]->end : look);
			continue;
		}
		struct sw_sim_op *op = heap_pop();
		if (waits_on(op)) {
			*sw_vec_push(&parked) = op;
			continue;
		}
		if (op->work->type != CU_GRAPH_NODE_TYPE_KERNEL) {
			pthread_mutex_unlock(&sw_sim_mutex);
			sw_sim_work_run(op->work);
			pthread_mutex_lock(&sw_sim_mutex);
			uint64_t now = now_ns();
			/* Moving many bytes takes this machine longer than the model says. */
			if (now - op->end > 1000000)
				op->end = now;
		}
		finish_op(op);
		settle_ready();
	}
	return NULL;
}

/* A thread of its own runs host functions, one after the other: they may take any time, and the engine goes on
   meanwhile. */
static void *run_callbacks(void *arg)
{
	(void)arg;
	sw_sim_thread_is_callback();
	pthread_mutex_lock(&sw_sim_mutex);
	for (;;) {
		if (stopped || hosted_at == hosted.n) {
			hosted_at = hosted.n = 0;
			pthread_cond_wait(&host_wake, &sw_sim_mutex);
			continue;
		}
		struct sw_sim_op *op = hosted.at[hosted_at++];
		pthread_mutex_unlock(&sw_sim_mutex);
		sw_sim_work_run(op->work);
		pthread_mutex_lock(&sw_sim_mutex);
		op->end = now_ns();
		finish_op(op);
		settle_ready();
	}
	return NULL;
}

/* Starts a thread with all signals blocked: the program's signals are for its own threads. */
static bool start_thread(void *(*body)(void *))
{
	sigset_t all, old;
	pthread_t thread;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(&thread, NULL, body, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!error)
		pthread_detach(thread);
	return !error;
}

/* Conditions and the engine's thread are made once, also where its second thread could not be had and this is tried
   again. */
bool sw_sim_engine_start(void)
{
	static bool engine_runs;
	if (started)
		return true;
	if (engine_runs)
		return started = start_thread(run_callbacks);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&engine_wake, &monotonic);
	pthread_cond_init(&host_wake, &monotonic);
	pthread_cond_init(&done_wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	engine_runs = start_thread(run_engine);
	started = engine_runs && start_thread(run_callbacks);
	return started;
}

void sw_sim_engine_stop(void)
{
	stopped = true;
}
