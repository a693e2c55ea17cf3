/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/guarded.h"

#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>

#define DEVICE_BYTES (80u << 20)

static sem_t go;
static void *device, *device2; /* downloads come from the first, 7 everywhere; uploads go to the other */

static void CUDART_CB hold(void *arg)
{
	(void)arg;
	while (sem_wait(&go))
		;
}

cudaStream_t busy_stream(void)
{
	cudaStream_t stream;
	sem_init(&go, 0, 0);
	CHECK(!cudaMalloc(&device, DEVICE_BYTES));
	CHECK(!cudaMalloc(&device2, DEVICE_BYTES));
	CHECK(!cudaMemset(device, 7, DEVICE_BYTES));
	CHECK(!cudaDeviceSynchronize());
	CHECK(!cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(!cudaLaunchHostFunc(stream, hold, NULL));
	return stream;
}

void finish_work(cudaStream_t stream)
{
	sem_post(&go);
	CHECK(!cudaStreamSynchronize(stream));
}

char *pinned(size_t bytes)
{
	void *p;
	CHECK(!cudaMallocHost(&p, bytes));
	memset(p, 0, bytes);
	return p;
}

char *pages(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	memset(p, 0, bytes);
	return p;
}

void upload(cudaStream_t stream, const char *from, size_t bytes)
{
	CHECK(!cudaMemcpyAsync(device2, from, bytes, cudaMemcpyHostToDevice, stream));
}

void upload_aside(cudaStream_t stream, const char *from, size_t bytes)
{
	CHECK(!cudaMemcpyAsync((char *)device2 + DEVICE_BYTES / 2, from, bytes, cudaMemcpyHostToDevice, stream));
}

void download(cudaStream_t stream, char *to, size_t bytes)
{
	CHECK(!cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, stream));
}

static const struct {
	const char *name, *found;
	int status;
	void (*run)(void);
} cases[] = {
#define CASE(name, status, found) {#name, #found, status, case_##name},
#include "guard/cases.def"
#undef CASE
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (argc < 2)
			printf("%s %d %s\n", cases[i].name, cases[i].status, cases[i].found);
		else if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}
