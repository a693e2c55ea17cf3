/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for PyTorch's libc10_cuda: an allocator that keeps one segment of memory, hands out blocks of it, and
   reports each, as CUDACachingAllocator.cpp does. */
#include <stddef.h>
#include <stdint.h>

#define BLOCKS 64u

struct device {
	int8_t type, index;
};

#ifndef NAME
#define NAME "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#endif
void report(void *block, int64_t bytes, size_t allocated, size_t reserved, struct device device) __asm__(NAME);

/* c10::cuda::CUDAStream, and the functions that say which one is current. */
struct stream {
	struct device device;
	int64_t id;
};
struct stream current_stream(int8_t device) __asm__("_ZN3c104cuda20getCurrentCUDAStreamEa");
void *stream_handle(const struct stream *stream) __asm__("_ZNK3c104cuda10CUDAStream6streamEv");

static void *current;

void allocator_current(void *stream)
{
	current = stream;
}

struct stream current_stream(int8_t device)
{
	return (struct stream){{1, device}, (int64_t)(intptr_t)current};
}

void *stream_handle(const struct stream *stream)
{
	return (void *)(intptr_t)stream->id;
}

static char *segment;
static size_t segment_bytes, used, allocated;
static struct {
	char *at;
	size_t bytes;
	int is_free;
	void *other; /* stream that record_stream() was called for, and the event that it has to pass */
	void *event;
} blocks[BLOCKS];
static unsigned n;

static void tell(int8_t type, void *block, int64_t bytes)
{
	allocated += (size_t)bytes;
	report(block, bytes, allocated, segment_bytes, (struct device){type, 0});
}

void allocator_keep(void *memory, size_t bytes)
{
	segment = memory;
	segment_bytes = bytes;
}

int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaEventRecord(void *event, void *stream);
int cudaEventQuery(void *event);

void allocator_record_stream(void *block, void *stream)
{
	for (unsigned i = 0; i < n; i++)
		if (blocks[i].at == block)
			blocks[i].other = stream;
}

__attribute__((noinline)) static int came_back(unsigned i)
{
	if (blocks[i].event && cudaEventQuery(blocks[i].event))
		return 0;
	blocks[i].event = NULL;
	return 1;
}

__attribute__((noinline)) static void insert_event(unsigned i)
{
	if (cudaEventCreateWithFlags(&blocks[i].event, 2) || cudaEventRecord(blocks[i].event, blocks[i].other))
		blocks[i].event = NULL;
	blocks[i].other = NULL;
}

/* The block that was freed last, if it fits exactly, else a new one; rounded up to 512 bytes. */
void *allocator_take(size_t bytes)
{
	bytes = (bytes + 511) & ~(size_t)511;
	unsigned i = n;
	while (i && !(blocks[i - 1].is_free && blocks[i - 1].bytes == bytes && came_back(i - 1)))
		i--;
	if (!i) {
		if (n == BLOCKS || bytes > segment_bytes - used)
			return NULL;
		blocks[n].at = segment + used;
		blocks[n].bytes = bytes;
		used += bytes;
		i = ++n;
	}
	blocks[i - 1].is_free = 0;
	tell(1, blocks[i - 1].at, (int64_t)bytes);
	return blocks[i - 1].at;
}

__attribute__((noinline)) static void free_block(void *block)
{
	for (unsigned i = 0; i < n; i++)
		if (blocks[i].at == block && !blocks[i].is_free) {
			blocks[i].is_free = 1;
			if (blocks[i].other)
				insert_event(i);
			tell(1, block, -(int64_t)blocks[i].bytes);
			return;
		}
}

/* As deep as it is in PyTorch: the deleter of a tensor's storage. */
__attribute__((noinline)) static void raw_deleter(void *block)
{
	free_block(block);
	__asm__ volatile(""); /* no jump: its frame stays */
}

__attribute__((noinline)) void allocator_give_back(void *block)
{
	raw_deleter(block);
	__asm__ volatile("");
}

/* Memory of the host is reported too, while a profiler runs. */
void allocator_on_host(void)
{
	tell(0, blocks, 4096);
	tell(0, blocks, -4096);
}
