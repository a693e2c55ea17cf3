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

static char *segment;
static size_t segment_bytes, used, allocated;
static struct {
	char *at;
	size_t bytes;
	int is_free;
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

/* The block that was freed last, if it fits exactly, else a new one; rounded up to 512 bytes. */
void *allocator_take(size_t bytes)
{
	bytes = (bytes + 511) & ~(size_t)511;
	unsigned i = n;
	while (i && !(blocks[i - 1].is_free && blocks[i - 1].bytes == bytes))
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

void allocator_give_back(void *block)
{
	for (unsigned i = 0; i < n; i++)
		if (blocks[i].at == block && !blocks[i].is_free) {
			blocks[i].is_free = 1;
			tell(1, block, -(int64_t)blocks[i].bytes);
			return;
		}
}

/* Memory of the host is reported too, while a profiler runs. */
void allocator_on_host(void)
{
	tell(0, blocks, 4096);
	tell(0, blocks, -4096);
}
