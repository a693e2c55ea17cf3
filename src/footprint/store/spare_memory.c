/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/store/spare_memory.h"

#include <string.h>
#include <sys/mman.h>

/* Memory of this size and more is asked for in large pages, which most kernels give to who asks ("madvise" in
   /sys/kernel/mm/transparent_hugepage/enabled): one fault for 512 of the others. */
#define LARGE_PAGE ((size_t)2 << 20)
#define SMALL_PAGE ((size_t)64 << 10)

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* Large pages begin where their size divides the address. */
static void *map_large(size_t bytes)
{
	char *at = map(bytes + LARGE_PAGE);
	if (!at)
		return NULL;
	size_t before = -(uintptr_t)at % LARGE_PAGE;
	if (before)
		munmap(at, before);
	munmap(at + before + bytes, LARGE_PAGE - before);
	madvise(at + before, bytes, MADV_HUGEPAGE);
	return at + before;
}

static void remove_spare(struct sw_spare_memory *m, uint32_t at)
{
	m->bytes -= m->spare[at].bytes;
	m->n--;
	memmove(m->spare + at, m->spare + at + 1, (m->n - at) * sizeof *m->spare);
}

void *sw_spare_take(struct sw_spare_memory *m, size_t wanted, bool briefly, size_t *bytes)
{
	size_t page = wanted < LARGE_PAGE ? SMALL_PAGE : LARGE_PAGE;
	uint32_t best = m->n;
	if (wanted > SIZE_MAX / 2)
		return NULL;
	for (uint32_t i = 0; i < m->n; i++) {
		size_t there = m->spare[i].bytes;
		bool fits = there >= wanted && (briefly || there / 2 <= wanted);
		if (fits && (best == m->n || there < m->spare[best].bytes))
			best = i;
	}
	if (best == m->n) {
		*bytes = (wanted + page - 1) / page * page;
		return page == LARGE_PAGE ? map_large(*bytes) : map(*bytes);
	}
	struct sw_spare found = m->spare[best];
	remove_spare(m, best);
	*bytes = found.bytes;
	return found.at;
}

void sw_spare_give(struct sw_spare_memory *m, void *at, size_t bytes)
{
	if (bytes > m->limit) {
		munmap(at, bytes);
		return;
	}
	while (m->n == SW_MAX_SPARES || m->bytes > m->limit - bytes) {
		munmap(m->spare[0].at, m->spare[0].bytes);
		remove_spare(m, 0);
	}
	m->spare[m->n++] = (struct sw_spare){at, bytes};
	m->bytes += bytes;
}

void sw_spare_drop(struct sw_spare_memory *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		munmap(m->spare[i].at, m->spare[i].bytes);
	m->n = 0;
	m->bytes = 0;
}
