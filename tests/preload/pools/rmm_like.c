/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for RMM: -DLIBRARY is librmm.so with device_buffer, in a layout of one of its versions; else a program that
 * reuses the memory of a buffer while another stream reads it.  -DINLINED: the program has device_buffer in itself, as
 * with older versions.
 *
 * usage: program [--fixed]      --fixed: its stream waits for the reader first
 */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

struct buffer {
	void *data;
	size_t size, capacity;
	CUstream stream;
};

#define ALLOCATE "_ZN3rmm13device_buffer14allocate_asyncEm"
#define RELEASE	 "_ZN3rmm13device_buffer16deallocate_asyncEv"
void allocate(struct buffer *buffer, size_t bytes) __asm__(ALLOCATE);
void release(struct buffer *buffer) __asm__(RELEASE);

/* A pool of one segment: the memory that was freed last comes first. */
struct pool {
	CUdeviceptr segment, last;
	size_t used;
};

#if defined LIBRARY || defined INLINED
static struct pool pool;

void allocate(struct buffer *buffer, size_t bytes)
{
	buffer->size = buffer->capacity = bytes;
	if (!pool.segment && cuMemAlloc(&pool.segment, 1 << 20))
		return;
	buffer->data = (void *)(pool.last ? pool.last : pool.segment + pool.used);
	pool.used += pool.last ? 0 : (bytes + 255) & ~(size_t)255;
	pool.last = 0;
}

void release(struct buffer *buffer)
{
	pool.last = (CUdeviceptr)buffer->data;
	memset(buffer, 0, sizeof *buffer);
}

#endif

void make_buffer(struct buffer *buffer, size_t bytes);
void end_buffer(struct buffer *buffer);

#if defined LIBRARY || defined INLINED
void make_buffer(struct buffer *buffer, size_t bytes)
{
	memset(buffer, 0, sizeof *buffer);
	allocate(buffer, bytes);
}

void end_buffer(struct buffer *buffer)
{
	release(buffer);
}
#endif

#ifndef LIBRARY
static CUstream first, second;
static CUevent event;

static int start(void)
{
	CUdevice device;
	CUcontext context;
	return cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	       cuCtxSetCurrent(context) || cuStreamCreate(&first, CU_STREAM_NON_BLOCKING) ||
	       cuStreamCreate(&second, CU_STREAM_NON_BLOCKING) || cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
}

static CUdeviceptr at(const struct buffer *buffer)
{
	return (CUdeviceptr)buffer->data;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct buffer x, y, z;
	if (start())
		return 98;
	make_buffer(&y, 4000);
	make_buffer(&x, 4000);
	const CUdeviceptr place = at(&x);
	cuMemsetD8Async(at(&x), 1, 4000, first);
	cuEventRecord(event, first);
	cuStreamWaitEvent(second, event, 0);
	cuMemcpyDtoDAsync(at(&y), at(&x), 4000, second);
	if (strcmp(how, "--fixed") == 0) {
		cuEventRecord(event, second);
		cuStreamWaitEvent(first, event, 0);
	}
	end_buffer(&x);
	make_buffer(&z, 4000);
	cuMemsetD8Async(at(&z), 2, 4000, first);
	cuCtxSynchronize();
	printf("same %d\n", at(&z) == place);
	return 0;
}
#endif
