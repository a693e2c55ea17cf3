/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/hash.h"
#include "preload/platform/isolated_thread.h"
#include "preload/platform/sys.h"
#include "preload/recorder/memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct sw_trace sw_trace;

/* Is it this file that the descriptor leads to? */
static bool is_file(const struct sw_trace_file *file, int fd)
{
	struct stat s;
	return sw_sys_fstat(fd, &s) == 0 && s.st_dev == file->device && s.st_ino == file->inode;
}

/* Where header and chunks are mapped from. */
static struct sw_trace_file *store_file(void)
{
	return sw_trace.memory.inode ? &sw_trace.memory : &sw_trace.file;
}

int sw_trace_borrow(struct sw_trace_file *file)
{
	if (file->fd >= 0 && sw_isolated_here())
		return file->fd;
	/* The path of memory is a link that the kernel follows, and only there it is meant to. */
	const int follow = file == &sw_trace.memory ? 0 : O_NOFOLLOW;
	int fd = sw_isolated_open(file->path, O_RDWR | follow | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	if (!is_file(file, fd)) {
		sw_sys_close(fd);
		return -ENOENT; /* the file was replaced */
	}
	if (sw_isolated_here())
		file->fd = fd;
	return fd;
}

void sw_trace_return(const struct sw_trace_file *file, int fd)
{
	if (!sw_isolated_here() && is_file(file, fd))
		sw_sys_close(fd);
}

/*
 * Blocks for the chunk.  On a thread of the program the file after the descriptor may be another one at any moment:
 * nothing is done to it that could be seen in a foreign file, and the trace grows by its name.
 */
static int grow(const struct sw_trace_file *file, int fd, uint64_t offset)
{
	if (sw_isolated_here())
		return sw_sys_allocate(fd, offset, SW_CHUNK_BYTES);
	int error = sw_sys_reserve(fd, offset, SW_CHUNK_BYTES);
	if (error == -EOPNOTSUPP || error == -ENOSYS)
		return is_file(file, fd) ? sw_sys_allocate(fd, offset, SW_CHUNK_BYTES) : -EBADF;
	return error ? error : sw_sys_resize(file->path, offset + SW_CHUNK_BYTES);
}

/* A chunk in memory is written to the file in time: it needs the blocks as well. */
static int grow_file(uint64_t offset)
{
	if (sw_trace.write_error || !sw_trace.memory.inode || !sw_isolated_here())
		return sw_trace.write_error;
	const int fd = sw_trace_borrow(&sw_trace.file);
	return fd < 0 ? fd : grow(&sw_trace.file, fd, offset);
}

static uint8_t *map_chunk(uint64_t offset, enum sw_loss_why *why, int *error)
{
	struct sw_trace_file *store = store_file();
	*why = SW_LOSS_NO_SPACE;
	*error = grow_file(offset);
	int fd = *error ? -1 : sw_trace_borrow(store);
	if (!*error)
		*error = fd < 0 ? fd : grow(store, fd, offset);
	uint8_t *base = NULL;
	if (!*error) {
		*why = SW_LOSS_NO_MEMORY;
		base = sw_sys_map(fd, offset, SW_CHUNK_BYTES, error);
	}
	if (base && !sw_isolated_here() && !is_file(store, fd)) {
		sw_sys_unmap(base, SW_CHUNK_BYTES);
		*error = -EBADF;
		base = NULL;
	}
	if (fd >= 0)
		sw_trace_return(store, fd);
	return base;
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
	uint64_t offset = sw_chunk_offset(number);
	*why = SW_LOSS_SIZE_LIMIT;
	if (number >= sw_trace.max_chunks || sw_trace_over_file_limit(offset + SW_CHUNK_BYTES))
		return -EFBIG;
	int error = 0;
	uint8_t *base = map_chunk(offset, why, &error);
	if (!base)
		return error;
	fault_in(base);
	memcpy(base + SW_CHUNK_RECORDS_END, &number, sizeof number);
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

struct wanted {
	enum sw_loss_why *why;
	int error;
};

/* Where it runs there is no other lock. */
static void prepare_for(void *with)
{
	struct wanted *wanted = with;
	uint64_t mask = sw_lock_enter(&sw_trace.lock);
	if (sw_trace.ended)
		wanted->error = -ESHUTDOWN;
	else if (sw_trace.prepared <= atomic_load(&sw_trace.taken) && /* another thread may have been here first */
		 !sw_memory_is_behind())
		wanted->error = prepare_one(wanted->why);
	sw_lock_leave(&sw_trace.lock, mask);
}

/* No thread can do better. */
static bool is_final(int error)
{
	return error == -ESHUTDOWN || error == -EFBIG || error == -ENOSPC;
}

/* Recording ends where no chunk can be had, so a thread that may not prepare one waits for the one that may. */
static void prepare(struct wanted *wanted)
{
	if (sw_isolated_run(prepare_for, wanted) || !wanted->error || is_final(wanted->error))
		return;
	const int error = wanted->error;
	wanted->error = 0;
	if (!sw_isolated_insist(prepare_for, wanted))
		wanted->error = error;
}

uint8_t *sw_trace_take(enum sw_loss_why *why, int *error)
{
	uint8_t *chunk = take_prepared();
	struct wanted wanted = {why, 0};
	while (!chunk && !wanted.error) {
		prepare(&wanted);
		atomic_fetch_add_explicit(&sw_trace.late, 1, memory_order_relaxed);
		if (!wanted.error)
			chunk = take_prepared();
	}
	*error = wanted.error;
	return chunk;
}

/* Marks a chunk closed with its CRC. The mapping stays. */
static void close_chunk(uint8_t *chunk)
{
	struct sw_chunk_header *h = (struct sw_chunk_header *)chunk;
	h->crc = sw_crc32c(0, h + 1, h->committed);
	__atomic_store_n(&h->closed, 1, __ATOMIC_RELEASE);
}

void sw_trace_retire(uint8_t *chunk)
{
	for (unsigned i = 0; i < 2 * SW_CHUNK_RING; i++) {
		uint8_t *free_slot = NULL;
		if (atomic_compare_exchange_strong_explicit(&sw_trace.retired[i], &free_slot, chunk,
							    memory_order_release, memory_order_relaxed))
			return;
	}
	/* The helper is late.  A file's chunk needs no CRC, one in memory has to say that it can leave it. */
	if (sw_trace.memory.inode) {
		close_chunk(chunk);
		atomic_fetch_add(&sw_trace.behind, 1);
	}
	sw_sys_unmap(chunk, SW_CHUNK_BYTES);
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

void sw_trace_close_retired(void)
{
	for (unsigned i = 0; i < 2 * SW_CHUNK_RING; i++) {
		uint8_t *chunk = atomic_exchange_explicit(&sw_trace.retired[i], NULL, memory_order_acquire);
		if (!chunk)
			continue;
		close_chunk(chunk);
		sw_memory_write_closed(chunk);
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

bool sw_trace_ended(void)
{
	return atomic_load(&sw_trace.ended);
}

static void cut_file(uint64_t bytes)
{
	const int fd = sw_trace_borrow(&sw_trace.file);
	if (fd < 0)
		return;
	if (sw_isolated_here())
		sw_sys_truncate(fd, bytes);
	else
		sw_sys_resize(sw_trace.file.path, bytes);
	sw_trace_return(&sw_trace.file, fd);
}

static void cut(void *unused)
{
	(void)unused;
	uint64_t mask = sw_lock_enter(&sw_trace.lock);
	/* A writer takes either before this point or, finding the ring empty, not at all. */
	uint64_t taken = atomic_exchange(&sw_trace.taken, UINT64_MAX / 2);
	cut_file(sw_chunk_offset(taken));
	sw_trace_close_retired();
	__atomic_fetch_or(&sw_trace.header->flags, SW_FILE_CLOSED, __ATOMIC_RELEASE);
	sw_memory_write(true);
	atomic_store(&sw_trace.ended, true);
	sw_lock_leave(&sw_trace.lock, mask);
}

void sw_trace_end(void)
{
	sw_isolated_run(cut, NULL);
}
