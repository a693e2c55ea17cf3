/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "preload/platform/isolated_thread.h"
#include "preload/platform/sys.h"
#include "preload/recorder/trace.h"

#define MOST_BEHIND 256u /* full chunks that wait: 64 MiB */

#define PIECE	8192u /* copied at a time, on a thread with 64 KiB of stack */
#define TRIES	20
#define LOOK_NS 5000000

/* So many looks until chunks are written again that have no new records: calls have returned meanwhile, which is
   written into the records of their beginning. */
#define WHOLE_EVERY 16u

/* A chunk must not be freed while another thread copies it. */
static struct sw_lock writing;
static unsigned looks;

/* Takes the lock of the copying, for 0.1 s at most.  False: the process that holds it does not respond; whatever is
   left undone then is done by the next look, or by the process that holds the memory.  *mask: the signal mask, for
   sw_lock_leave(). */
static bool enter_memory(uint64_t *mask)
{
	static const uint32_t never = 0;
	const struct timespec look = {.tv_nsec = LOOK_NS};
	for (int i = 0; i < TRIES; i++) {
		if (sw_lock_try(&writing, mask))
			return true;
		sw_sys_wait(&never, 0, &look);
	}
	return false;
}

/* Makes the memory that records go to; full chunks are written from there to the file, so the program does not wait for
   a disk. */
void sw_memory_make(void)
{
	struct stat s;
	const int fd = sw_isolated_here() ? sw_sys_memory("syncwatch trace") : -EBADF;
	if (fd < 0)
		return;
	if (sw_sys_fstat(fd, &s) || sw_sys_allocate(fd, 0, SW_FORMAT_HEADER_BYTES)) {
		sw_sys_close(fd);
		return;
	}
	sw_trace.memory.fd = fd;
	sw_trace.memory.device = s.st_dev;
	sw_trace.memory.inode = s.st_ino;
}

/* The path by which the program's threads open the memory: it is a descriptor of the isolated thread. */
void sw_memory_name(void)
{
	snprintf(sw_trace.memory.path, sizeof sw_trace.memory.path, "/proc/self/task/%u/fd/%d", sw_isolated_thread(),
		 sw_trace.memory.fd);
}

/* Gives the memory up: the trace is written into its file directly. */
void sw_memory_drop(void)
{
	if (sw_trace.memory.inode && sw_isolated_here())
		sw_sys_close(sw_trace.memory.fd);
	sw_trace.memory.fd = -1;
	sw_trace.memory.inode = 0;
}

/* Changes from memory to the file while there is only the header, which is copied and mapped there. */
void sw_memory_leave(void)
{
	int error;
	const int fd = sw_trace_borrow(&sw_trace.file);
	struct sw_file_header *header = fd < 0 ? NULL : sw_sys_map(fd, 0, SW_FORMAT_HEADER_BYTES, &error);
	if (!header)
		return; /* stays in memory: what is written to the file in time is all that a kill leaves */
	*header = *sw_trace.header;
	header->flags &= ~(uint32_t)SW_FILE_BEHIND;
	sw_sys_unmap(sw_trace.header, SW_FORMAT_HEADER_BYTES);
	sw_trace.header = header;
	sw_memory_drop();
	sw_trace_return(&sw_trace.file, fd);
}

/* Writes all bytes at an offset of the file, in pieces if it must.  False: the disk is full or failed; the error is
   kept, and the trace stops growing. */
static bool write_all(int fd, const void *data, uint64_t bytes, uint64_t offset)
{
	const uint8_t *at = data;
	while (bytes) {
		const long got = sw_sys_write_at(fd, at, bytes, offset);
		if (got == -EINTR)
			continue;
		if (got <= 0) {
			sw_trace.write_error = got ? (int)got : -ENOSPC;
			return false;
		}
		at += got;
		offset += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
	return true;
}

/* Writes a chunk to the file.  Its header comes last: where the file has it, it has the records.  False: an error. */
static bool write_chunk(int fd, uint64_t offset, const struct sw_chunk_header *header, const uint8_t *records)
{
	return write_all(fd, records, header->committed, offset + sizeof *header) &&
	       write_all(fd, header, sizeof *header, offset);
}

/* Writes a full chunk to the file and frees its pages in memory. */
void sw_memory_write_closed(const uint8_t *chunk)
{
	uint64_t number, mask;
	if (!sw_trace.memory.inode || !enter_memory(&mask))
		return;
	memcpy(&number, chunk + SW_CHUNK_RECORDS_END, sizeof number);
	const int file = sw_trace_borrow(&sw_trace.file), memory = sw_trace_borrow(&sw_trace.memory);
	const struct sw_chunk_header *header = (const struct sw_chunk_header *)chunk;
	if (file >= 0 && memory >= 0 &&
	    write_chunk(file, sw_chunk_offset(number), header, (const uint8_t *)(header + 1)) &&
	    write_all(file, sw_trace.header, SW_FORMAT_HEADER_BYTES, 0))
		sw_sys_punch(memory, sw_chunk_offset(number), SW_CHUNK_BYTES);
	if (file >= 0)
		sw_trace_return(&sw_trace.file, file);
	if (memory >= 0)
		sw_trace_return(&sw_trace.memory, memory);
	sw_lock_leave(&writing, mask);
}

/* Copies bytes from memory to the same offset of the trace file.  False: an error, or memory ends before. */
static bool copy_to_file(int memory, int file, uint64_t offset, uint64_t bytes)
{
	uint8_t piece[PIECE];
	while (bytes) {
		const long got = sw_sys_read_at(memory, piece, bytes < sizeof piece ? bytes : sizeof piece, offset);
		if (got <= 0 || !write_all(file, piece, (uint64_t)got, offset))
			return false;
		offset += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
	return true;
}

/* Has the file as many records of the chunk as there are by now?  Their ends may be newer than in the file. */
static bool is_written(int file, uint64_t offset, const struct sw_chunk_header *now)
{
	struct sw_chunk_header then;
	return sw_sys_read_at(file, &then, sizeof then, offset) == sizeof then && then.magic == now->magic &&
	       then.writer == now->writer && then.index == now->index && then.committed == now->committed &&
	       then.closed == now->closed;
}

/* Copies one chunk from memory to the file if the file lacks some of it, or in any case (`again`); the memory of a
   closed one is freed.  False: the file still lacks some of it. */
static bool write_one(int memory, int file, uint64_t offset, bool again)
{
	struct sw_chunk_header now;
	if (sw_sys_read_at(memory, &now, sizeof now, offset) != sizeof now)
		return false;
	/* A writer that closes it now: the length may have been read before its last record, `closed` after that. */
	if (now.closed && sw_sys_read_at(memory, &now, sizeof now, offset) != sizeof now)
		return false;
	if (now.magic != SW_FORMAT_CHUNK_MAGIC || now.committed > SW_CHUNK_BYTES - sizeof now)
		return true; /* no thread has begun it */
	if ((again || !is_written(file, offset, &now)) &&
	    !(copy_to_file(memory, file, offset + sizeof now, now.committed) &&
	      write_all(file, &now, sizeof now, offset)))
		return false;
	if (now.closed && sw_sys_punch(memory, offset, SW_CHUNK_BYTES) == 0 && atomic_load(&sw_trace.behind))
		atomic_fetch_sub(&sw_trace.behind, 1);
	return true;
}

/* Copies all chunks that have data in memory to the file.  `again`: also those that have no new records, as durations
   may have been filled in since.  `last`: the trace has ended; once all is copied the file is no longer marked as
   behind. */
static void write_new(int memory, int file, bool again, bool last)
{
	const uint64_t chunks = __atomic_load_n(&sw_trace.header->chunks, __ATOMIC_ACQUIRE);
	int64_t at = SW_FORMAT_HEADER_BYTES;
	bool all = true;
	while ((at = sw_sys_next_data(memory, (uint64_t)at)) > 0) {
		const uint64_t number = ((uint64_t)at - SW_FORMAT_HEADER_BYTES) / SW_CHUNK_BYTES;
		if (number >= chunks)
			break;
		all = write_one(memory, file, sw_chunk_offset(number), again) && all;
		at = (int64_t)sw_chunk_offset(number + 1);
	}
	if (last && all)
		__atomic_fetch_and(&sw_trace.header->flags, ~(uint32_t)SW_FILE_BEHIND, __ATOMIC_RELAXED);
	write_all(file, sw_trace.header, SW_FORMAT_HEADER_BYTES, 0);
}

/* Writes to the file what was added to memory since; now and then all chunks, since records of calls in progress change
   later. */
void sw_memory_write(bool last)
{
	uint64_t mask;
	if (!sw_trace.memory.inode || !enter_memory(&mask))
		return;
	const int file = sw_trace_borrow(&sw_trace.file), memory = sw_trace_borrow(&sw_trace.memory);
	if (file >= 0 && memory >= 0)
		write_new(memory, file, last || ++looks % WHOLE_EVERY == 0, last);
	if (file >= 0)
		sw_trace_return(&sw_trace.file, file);
	if (memory >= 0)
		sw_trace_return(&sw_trace.memory, memory);
	sw_lock_leave(&writing, mask);
}

/* In a fork child: a thread of the parent may have held the lock. */
void sw_memory_forget(void)
{
	writing = (struct sw_lock){0};
}

/* Does too much memory wait for a file system that stands still?  Then the program waits as well, as it would for a
   file. */
bool sw_memory_is_behind(void)
{
	/* Without the isolated thread nothing would ever be written. */
	return !sw_isolated_here() && sw_isolated_thread() && atomic_load(&sw_trace.behind) > MOST_BEHIND;
}
