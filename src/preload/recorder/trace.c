/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/hash.h"
#include "preload/platform/sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct sw_trace sw_trace = {.fd = -1};

static uint64_t chunk_offset(uint64_t number)
{
	return SW_FORMAT_HEADER_BYTES + number * SW_CHUNK_BYTES;
}

/* Is the descriptor still our file?  Daemons close every descriptor they don't know, and its number is used again:
   growing somebody else's file would damage it. */
static bool descriptor_is_ours(void)
{
	struct stat s;
	return sw_trace.fd >= 0 && sw_sys_fstat(sw_trace.fd, &s) == 0 && s.st_dev == sw_trace.device &&
	       s.st_ino == sw_trace.inode;
}

static int descriptor(void)
{
	if (descriptor_is_ours())
		return 0;
	int fd = sw_sys_open(sw_trace.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	sw_trace.fd = fd;
	if (descriptor_is_ours())
		return 0;
	sw_sys_close(fd);
	sw_trace.fd = -1;
	return -ENOENT; /* the file was replaced */
}

bool sw_trace_over_file_limit(uint64_t bytes)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

/* Makes every page writable now: the first store into a fresh page of a shared mapping costs up to microseconds. */
static void fault_in(uint8_t *chunk)
{
	if (sw_sys_madvise(chunk, SW_CHUNK_BYTES, MADV_POPULATE_WRITE) == 0)
		return;
	for (uint32_t at = 0; at < SW_CHUNK_BYTES; at += 4096) /* kernels before 5.14 */
		*(volatile uint8_t *)(chunk + at) = 0;
}

/* Under the lock. 0 or -errno. */
static int prepare_one(enum sw_loss_why *why)
{
	uint64_t number = sw_trace.prepared;
	uint64_t offset = chunk_offset(number);
	*why = SW_LOSS_SIZE_LIMIT;
	if (number >= sw_trace.max_chunks || sw_trace_over_file_limit(offset + SW_CHUNK_BYTES))
		return -EFBIG;
	*why = SW_LOSS_NO_SPACE;
	int error = descriptor();
	if (!error)
		error = sw_sys_allocate(sw_trace.fd, offset, SW_CHUNK_BYTES);
	if (error)
		return error;
	*why = SW_LOSS_NO_MEMORY;
	uint8_t *base = sw_sys_map(sw_trace.fd, offset, SW_CHUNK_BYTES, &error);
	if (!base)
		return error;
	fault_in(base);
	sw_trace.ring[number % SW_CHUNK_RING].base = base;
	sw_trace.prepared = number + 1;
	atomic_store_explicit(&sw_trace.ring[number % SW_CHUNK_RING].number, number + 1, memory_order_release);
	return 0;
}

/* Raises the header's count: a reader looks at no chunk beyond it, so it must never lag behind a higher one. */
static void count_taken(uint64_t chunks)
{
	uint64_t seen = __atomic_load_n(&sw_trace.header->chunks, __ATOMIC_RELAXED);
	while (seen < chunks && !__atomic_compare_exchange_n(&sw_trace.header->chunks, &seen, chunks, true,
							     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* The next chunk if it is prepared. A slot is used again only once `taken` has passed it, so that a base read before
   the exchange succeeds is the right one. */
static uint8_t *take_prepared(void)
{
	uint64_t next = atomic_load_explicit(&sw_trace.taken, memory_order_relaxed);
	for (;;) {
		if (atomic_load_explicit(&sw_trace.ring[next % SW_CHUNK_RING].number, memory_order_acquire) != next + 1)
			return NULL;
		uint8_t *base = sw_trace.ring[next % SW_CHUNK_RING].base;
		if (atomic_compare_exchange_weak_explicit(&sw_trace.taken, &next, next + 1, memory_order_acq_rel,
							  memory_order_relaxed)) {
			count_taken(next + 1);
			return base;
		}
	}
}

uint8_t *sw_trace_take(enum sw_loss_why *why, int *error)
{
	uint8_t *chunk = take_prepared();
	*error = 0;
	while (!chunk && !*error) {
		uint64_t mask = sw_lock_enter(&sw_trace.lock);
		chunk = take_prepared(); /* another thread may have been here first */
		if (!chunk) {
			*error = sw_trace.ended ? -ESHUTDOWN : prepare_one(why);
			atomic_fetch_add_explicit(&sw_trace.late, 1, memory_order_relaxed);
			if (!*error)
				chunk = take_prepared();
		}
		sw_lock_leave(&sw_trace.lock, mask);
	}
	return chunk;
}

void sw_trace_retire(uint8_t *chunk)
{
	for (unsigned i = 0; i < 2 * SW_CHUNK_RING; i++) {
		uint8_t *free_slot = NULL;
		if (atomic_compare_exchange_strong_explicit(&sw_trace.retired[i], &free_slot, chunk,
							    memory_order_release, memory_order_relaxed))
			return;
	}
	sw_sys_unmap(chunk, SW_CHUNK_BYTES); /* the helper is behind: without CRC, which readers accept */
}

uint64_t sw_trace_prepare(uint64_t ahead)
{
	enum sw_loss_why why;
	bool more = true;
	while (more) {
		uint64_t mask = sw_lock_enter(&sw_trace.lock);
		more = !sw_trace.ended && sw_trace.prepared < atomic_load(&sw_trace.taken) + ahead &&
		       prepare_one(&why) == 0; /* a failure is reported by the writer that meets it */
		sw_lock_leave(&sw_trace.lock, mask);
	}
	return atomic_load(&sw_trace.taken);
}

void sw_trace_close_chunk(uint8_t *chunk)
{
	struct sw_chunk_header *h = (struct sw_chunk_header *)chunk;
	h->crc = sw_crc32c(0, h + 1, h->committed);
	__atomic_store_n(&h->closed, 1, __ATOMIC_RELEASE);
}

void sw_trace_close_retired(void)
{
	for (unsigned i = 0; i < 2 * SW_CHUNK_RING; i++) {
		uint8_t *chunk = atomic_exchange_explicit(&sw_trace.retired[i], NULL, memory_order_acquire);
		if (!chunk)
			continue;
		sw_trace_close_chunk(chunk);
		sw_sys_unmap(chunk, SW_CHUNK_BYTES);
	}
}

void sw_trace_update_clock(void)
{
	struct sw_file_header *h = sw_trace.header;
	struct sw_clock_pair now = sw_clock_read();
	uint64_t rate = sw_clock_is_tsc ? sw_clock_rate(sw_trace.start, now) : 1000000000u;
	if (rate)
		__atomic_store_n(&h->ticks_per_second, rate, __ATOMIC_RELAXED);
	__atomic_store_n(&h->last_ticks, now.ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&h->last_monotonic_ns, now.monotonic_ns, __ATOMIC_RELEASE);
}

void sw_trace_end(void)
{
	uint64_t mask = sw_lock_enter(&sw_trace.lock);
	sw_trace.ended = true;
	/* A writer takes either before this point or, finding the ring empty, not at all. */
	uint64_t taken = atomic_exchange(&sw_trace.taken, UINT64_MAX / 2);
	if (descriptor_is_ours())
		sw_sys_truncate(sw_trace.fd, chunk_offset(taken));
	sw_lock_leave(&sw_trace.lock, mask);
	sw_trace_close_retired();
	__atomic_fetch_or(&sw_trace.header->flags, SW_FILE_CLOSED, __ATOMIC_RELEASE);
}
