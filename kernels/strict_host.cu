/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "case.h"

/*
 * Two threads, one of which waits for the producer's stream and then tells the other, which gives the consumer its work.
 * `done` is what it tells; each way of telling has its two sides.  The mistake is to look at `done` without the lock: on
 * this machine it works, and nothing promises it.
 */
static volatile bool done;

static void look_without_lock()
{
	while (!done)
		std::this_thread::yield();
}

/* A while, then it continues: as a rule the other thread is done by then. */
static void look_for_a_while()
{
	for (int ms = 0; ms < 100 && !done; ms++)
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct Way {
	std::function<void()> tell, hear;
};

/* A lock of any kind: `done` is only touched under it. */
static Way by_lock(std::function<void()> lock, std::function<void()> unlock, std::function<void()> read_lock,
		   std::function<void()> read_unlock)
{
	return {[=] {
			lock();
			done = true;
			unlock();
		},
		[=] {
			for (bool seen = false; !seen;) {
				read_lock();
				seen = done;
				read_unlock();
				std::this_thread::yield();
			}
		}};
}

static Way by_lock(std::function<void()> lock, std::function<void()> unlock)
{
	return by_lock(lock, unlock, lock, unlock);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_cond;
static std::mutex cpp_mutex;
static std::shared_mutex cpp_shared;
static std::condition_variable cpp_cond;
static std::once_flag cpp_once;

static timespec soon()
{
	timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 1;
	return t;
}

static void set_done()
{
	done = true;
}

static std::map<std::string, Way> ways()
{
	return {
		{"mutex", by_lock([] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); })},
		{"timeout", by_lock([] { pthread_mutex_lock(&mutex); }, [] { pthread_mutex_unlock(&mutex); })},
		{"trylock", by_lock(
				    [] {
					    while (pthread_mutex_trylock(&mutex))
						    std::this_thread::yield();
				    },
				    [] { pthread_mutex_unlock(&mutex); })},
		{"timedlock", by_lock(
				      [] {
					      timespec t = soon();
					      while (pthread_mutex_timedlock(&mutex, &t))
						      t = soon();
				      },
				      [] { pthread_mutex_unlock(&mutex); })},
		{"rwlock", by_lock([] { pthread_rwlock_wrlock(&rwlock); }, [] { pthread_rwlock_unlock(&rwlock); },
				   [] { pthread_rwlock_rdlock(&rwlock); }, [] { pthread_rwlock_unlock(&rwlock); })},
		{"spin", by_lock([] { pthread_spin_lock(&spinlock); }, [] { pthread_spin_unlock(&spinlock); })},
		{"cond",
		 {[] {
			  pthread_mutex_lock(&mutex);
			  done = true;
			  pthread_mutex_unlock(&mutex);
			  pthread_cond_signal(&cond);
		  },
		  [] {
			  pthread_mutex_lock(&mutex);
			  while (!done)
				  pthread_cond_wait(&cond, &mutex);
			  pthread_mutex_unlock(&mutex);
		  }}},
		{"timedwait",
		 {[] {
			  pthread_mutex_lock(&mutex);
			  done = true;
			  pthread_cond_broadcast(&cond);
			  pthread_mutex_unlock(&mutex);
		  },
		  [] {
			  pthread_mutex_lock(&mutex);
			  for (timespec t = soon(); !done; t = soon())
				  pthread_cond_timedwait(&cond, &mutex, &t);
			  pthread_mutex_unlock(&mutex);
		  }}},
		{"semaphore",
		 {[] {
			  done = true;
			  sem_post(&semaphore);
		  },
		  [] { sem_wait(&semaphore); }}},
		{"barrier",
		 {[] {
			  done = true;
			  pthread_barrier_wait(&barrier);
		  },
		  [] { pthread_barrier_wait(&barrier); }}},
		{"once",
		 {[] { pthread_once(&once, set_done); },
		  [] {
			  look_without_lock();
			  pthread_once(&once, set_done);
		  }}},
		{"c11", by_lock([] { mtx_lock(&c11_mutex); }, [] { mtx_unlock(&c11_mutex); })},
		{"c11-cond",
		 {[] {
			  mtx_lock(&c11_mutex);
			  done = true;
			  mtx_unlock(&c11_mutex);
			  cnd_signal(&c11_cond);
		  },
		  [] {
			  mtx_lock(&c11_mutex);
			  while (!done)
				  cnd_wait(&c11_cond, &c11_mutex);
			  mtx_unlock(&c11_mutex);
		  }}},
		{"c++", by_lock([] { cpp_mutex.lock(); }, [] { cpp_mutex.unlock(); })},
		{"c++-shared", by_lock([] { cpp_shared.lock(); }, [] { cpp_shared.unlock(); },
				       [] { cpp_shared.lock_shared(); }, [] { cpp_shared.unlock_shared(); })},
		{"c++-cond",
		 {[] {
			  std::lock_guard<std::mutex> lock(cpp_mutex);
			  done = true;
			  cpp_cond.notify_one();
		  },
		  [] {
			  std::unique_lock<std::mutex> lock(cpp_mutex);
			  while (!cpp_cond.wait_for(lock, std::chrono::seconds(1), [] { return done; }))
				  ;
		  }}},
		{"c++-once",
		 {[] { std::call_once(cpp_once, set_done); },
		  [] {
			  look_without_lock();
			  std::call_once(cpp_once, set_done);
		  }}},
	};
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write between host threads (--strict-host)",
	       "a thread sees without a lock that the other one has waited for the producer",
	       "the threads tell each other in a way that orders them",
	       {"mutex", "trylock", "timedlock", "rwlock", "spin", "cond", "timedwait", "semaphore", "barrier", "once", "c11",
		"c11-cond", "c++", "c++-shared", "c++-cond", "c++-once", "join", "timeout"});
	float *host = pinned_buffer(), *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	Way way = {set_done, c.is("timeout") ? look_for_a_while : look_without_lock};

	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, nullptr, 2);
	sem_init(&semaphore, 0, 0);
	mtx_init(&c11_mutex, mtx_plain);
	cnd_init(&c11_cond);
	if (c.fixed)
		for (auto &known : ways())
			if (c.is(known.first.c_str()))
				way = known.second;
	CHECK(cudaMemcpyAsync(data, host, BYTES, cudaMemcpyHostToDevice, producer));
	std::thread waiter([&] {
		CHECK(cudaStreamSynchronize(producer));
		way.tell();
	});
	if (c.fixed && c.is("join"))
		waiter.join();
	else
		way.hear();
	CHECK(cudaMemcpyAsync(result, data, BYTES, cudaMemcpyDeviceToDevice, consumer));
	if (waiter.joinable())
		waiter.join();
	finish({producer, consumer}, {}, {data, result}, {host});
}
