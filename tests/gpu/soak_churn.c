/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soak THREADS HANDLES SECONDS: that many threads that use CUDA and end, sixteen at a time; then that many events, made
 * and destroyed.  Each phase ends after half of SECONDS at the latest.  At each tenth of a phase, and at its end,
 * prints
 *
 *     PHASE DONE RSS_KB      resident memory of the process
 */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 16
#define BYTES	4096

static struct {
	CUresult (*event_create)(CUevent *, unsigned);
	CUresult (*event_destroy)(CUevent);
	CUresult (*event_record)(CUevent, CUstream);
	CUresult (*event_wait)(CUevent);
	CUresult (*copy)(void *, CUdeviceptr, size_t, CUstream);
	CUresult (*set_context)(CUcontext);
} cuda;

static CUcontext context;
static CUstream streams[AT_ONCE];
static CUdeviceptr memory;
static unsigned char *host;

static void check(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	exit(1);
}

static void *function(void *driver, const char *name)
{
	void *found = dlsym(driver, name);
	if (!found)
		check(CUDA_ERROR_NOT_FOUND, name);
	return found;
}

static void start(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	CUresult (*init)(unsigned) = function(driver, "cuInit");
	CUresult (*retain)(CUcontext *, CUdevice) = function(driver, "cuDevicePrimaryCtxRetain");
	CUresult (*alloc)(CUdeviceptr *, size_t) = function(driver, "cuMemAlloc_v2");
	CUresult (*host_alloc)(void **, size_t, unsigned) = function(driver, "cuMemHostAlloc");
	CUresult (*stream)(CUstream *, unsigned) = function(driver, "cuStreamCreate");
	cuda.event_create = function(driver, "cuEventCreate");
	cuda.event_destroy = function(driver, "cuEventDestroy_v2");
	cuda.event_record = function(driver, "cuEventRecord");
	cuda.event_wait = function(driver, "cuEventSynchronize");
	cuda.copy = function(driver, "cuMemcpyDtoHAsync_v2");
	cuda.set_context = function(driver, "cuCtxSetCurrent");
	check(init(0), "cuInit");
	check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
	check(cuda.set_context(context), "cuCtxSetCurrent");
	check(alloc(&memory, BYTES), "cuMemAlloc");
	check(host_alloc((void **)&host, AT_ONCE * BYTES, 0), "cuMemHostAlloc");
	for (int i = 0; i < AT_ONCE; i++)
		check(stream(&streams[i], CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

static void *thread(void *number)
{
	const size_t i = (size_t)number;
	CUevent event;
	check(cuda.set_context(context), "cuCtxSetCurrent");
	check(cuda.event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
	check(cuda.copy(host + i * BYTES, memory, BYTES, streams[i]), "cuMemcpyDtoHAsync");
	check(cuda.event_record(event, streams[i]), "cuEventRecord");
	check(cuda.event_wait(event), "cuEventSynchronize");
	host[i * BYTES]++; /* under the guard until the wait */
	check(cuda.event_destroy(event), "cuEventDestroy");
	return NULL;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void tell(const char *phase, long done)
{
	long pages = 0, all;
	FILE *file = fopen("/proc/self/statm", "r");
	if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2)
		exit(1);
	fclose(file);
	printf("%s %ld %ld\n", phase, done, pages * (sysconf(_SC_PAGESIZE) / 1024));
	fflush(stdout);
}

static void some_threads(long wanted, double seconds)
{
	const double until = now() + seconds;
	long done = 0;
	for (long tenth = 1; done < wanted && now() < until;) {
		pthread_t threads[AT_ONCE];
		for (size_t i = 0; i < AT_ONCE; i++)
			if (pthread_create(&threads[i], NULL, thread, (void *)i))
				exit(1);
		for (size_t i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
		done += AT_ONCE;
		for (; done >= wanted / 10 * tenth && tenth <= 9; tenth++)
			tell("threads", done);
	}
	tell("threads", done);
}

static void some_handles(long wanted, double seconds)
{
	const double until = now() + seconds;
	long done = 0;
	for (long tenth = 1; done < wanted && (done % 1024 || now() < until); done++) {
		CUevent event;
		check(cuda.event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
		check(cuda.event_destroy(event), "cuEventDestroy");
		for (; done >= wanted / 10 * tenth && tenth <= 9; tenth++)
			tell("handles", done);
	}
	tell("handles", done);
}

int main(int count, char **words)
{
	if (count != 4)
		return 2;
	start();
	some_threads(atol(words[1]), atof(words[3]) / 2);
	some_handles(atol(words[2]), atof(words[3]) / 2);
	return 0;
}
