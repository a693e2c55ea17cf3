/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"
#include "config.h"

#include "preload/recorder/trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/name_pattern.h"
#include "preload/platform/isolated_thread.h"
#include "preload/platform/sys.h"
#include "preload/recorder/companion.h"
#include "preload/recorder/memory.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/window.h"
#include "preload/recorder/writer.h"
#include "preload/session/announce.h"
#include "preload/stacks/modules.h"
#include "preload/stacks/unwind.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define NEWS_NS 1000000 /* a chunk takes some 0.1 ms */

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

/* A descriptor for one use: only the isolated thread keeps one open, others open the file anew. */
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

/* Ends a use of the descriptor: closes it, unless the program put another file there. */
void sw_trace_return(const struct sw_trace_file *file, int fd)
{
	if (!sw_isolated_here() && is_file(file, fd))
		sw_sys_close(fd);
}

/* Room that a trace leaves to others on its file system, and as a part of it, where that is less. */
#define SPARE_BYTES (256ull << 20)
#define SPARE_PART  16u

/* Would the trace fill the disk?  Programs that share it fail then, the recorded one perhaps among them. */
static bool is_disk_low(const struct sw_trace_file *file, int fd)
{
	uint64_t total, available;
	if (file != &sw_trace.file || sw_sys_space(fd, &total, &available) || !total)
		return false;
	const uint64_t spare = total / SPARE_PART < SPARE_BYTES ? total / SPARE_PART : SPARE_BYTES;
	sw_trace.low = available < spare + SW_CHUNK_BYTES && available >= SW_CHUNK_BYTES;
	return sw_trace.low;
}

/*
 * Blocks for the chunk.  On a thread of the program the file after the descriptor may be another one at any moment:
 * nothing is done to it that could be seen in a foreign file, and the trace grows by its name.
 */
static int grow(const struct sw_trace_file *file, int fd, uint64_t offset)
{
	if (is_disk_low(file, fd))
		return -ENOSPC;
	if (sw_isolated_here())
		return sw_sys_allocate(fd, offset, SW_CHUNK_BYTES);
	int error = sw_sys_reserve(fd, offset, SW_CHUNK_BYTES);
	if (error == -EOPNOTSUPP || error == -ENOSYS)
		return is_file(file, fd) ? sw_sys_allocate(fd, offset, SW_CHUNK_BYTES) : -EBADF;
	return error ? error : sw_sys_resize(file->path, offset + SW_CHUNK_BYTES);
}

/*
 * Zeros through the file first: the pages of a shared mapping that are in the page cache and dirty are made writable
 * for a fifth of what each costs as a hole (ext4 of Linux 6.18: 58 instead of 280 us a chunk; memory costs the same
 * either way). On a thread of the program the descriptor may lead to another file.
 */
static int fill_cache(const struct sw_trace_file *file, int fd, uint64_t offset)
{
	static uint8_t zeros[SW_CHUNK_BYTES / 4];
	if (file != &sw_trace.file || !sw_isolated_here())
		return 0;
	for (uint64_t at = 0; at < SW_CHUNK_BYTES; at += sizeof zeros) {
		const long wrote = sw_sys_write_at(fd, zeros, sizeof zeros, offset + at);
		if (wrote < 0)
			return (int)wrote;
	}
	return 0;
}

/* Gets blocks in the file for a chunk that lies in memory, as it is written there in time. */
static int grow_file(uint64_t offset)
{
	if (sw_trace.write_error || !sw_trace.memory.inode || !sw_isolated_here())
		return sw_trace.write_error;
	const int fd = sw_trace_borrow(&sw_trace.file);
	return fd < 0 ? fd : grow(&sw_trace.file, fd, offset);
}

/* Gets disk blocks for the chunk at an offset and maps it.  NULL: *why says which kind of loss that is, *error is
   -errno. */
static uint8_t *map_chunk(uint64_t offset, enum sw_loss_why *why, int *error)
{
	struct sw_trace_file *store = store_file();
	*why = SW_LOSS_NO_SPACE;
	*error = grow_file(offset);
	int fd = *error ? -1 : sw_trace_borrow(store);
	if (!*error)
		*error = fd < 0 ? fd : grow(store, fd, offset);
	if (!*error)
		*error = fill_cache(store, fd, offset);
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

/* Would a file of so many bytes be above RLIMIT_FSIZE?  There the kernel does not only refuse but send SIGXFSZ, which
   ends the program. */
static bool trace_over_file_limit(uint64_t bytes)
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

/* Does the trace of a flight recorder take more blocks than it may, as `run` does not give them back any more? */
static bool is_spool_full(void)
{
	const struct sw_preload_options *options = sw_preload_options();
	struct stat s;
	const int fd = options->spool ? sw_trace_borrow(&sw_trace.file) : -1;
	if (fd < 0)
		return false;
	const bool known = sw_sys_fstat(fd, &s) == 0;
	sw_trace_return(&sw_trace.file, fd);
	return known && (uint64_t)s.st_blocks * 512 > options->max_bytes + (uint64_t)sw_writer_count() * SW_CHUNK_BYTES;
}

/* Makes the next chunk and puts it into the ring, from which writers take it.  Under the lock.  0 or -errno. */
static int prepare_one(enum sw_loss_why *why)
{
	uint64_t number = sw_trace.prepared;
	uint64_t offset = sw_chunk_offset(number);
	*why = SW_LOSS_SIZE_LIMIT;
	if (number >= sw_trace.max_chunks || is_spool_full() || trace_over_file_limit(offset + SW_CHUNK_BYTES))
		return -EFBIG;
	int error = 0;
	uint8_t *base = map_chunk(offset, why, &error);
	if (!base)
		return error;
	/* To get pages of memory and to map them takes half of the time each: a thread that waits does the second half,
	   and the helper goes on to the next chunk. */
	const bool cold = sw_trace.memory.inode && atomic_load(&sw_trace.waiting);
	if (!cold)
		fault_in(base);
	memcpy(base + SW_CHUNK_RECORDS_END, &number, sizeof number);
	sw_trace.ring[number % SW_CHUNK_RING].base = base;
	sw_trace.ring[number % SW_CHUNK_RING].cold = cold;
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

/* Takes the next chunk if it is prepared; NULL: it is not.  A slot is used again only once `taken` has passed it, so
   that a base read before the exchange succeeds is the right one. */
static uint8_t *take_prepared(void)
{
	uint64_t next = atomic_load_explicit(&sw_trace.taken, memory_order_relaxed);
	for (;;) {
		if (atomic_load_explicit(&sw_trace.ring[next % SW_CHUNK_RING].number, memory_order_acquire) != next + 1)
			return NULL;
		uint8_t *base = sw_trace.ring[next % SW_CHUNK_RING].base;
		const bool cold = sw_trace.ring[next % SW_CHUNK_RING].cold;
		if (atomic_compare_exchange_weak_explicit(&sw_trace.taken, &next, next + 1, memory_order_acq_rel,
							  memory_order_relaxed)) {
			count_taken(next + 1);
			if (cold)
				fault_in(base);
			return base;
		}
	}
}

struct wanted {
	enum sw_loss_why *why;
	int error;
};

/* Prepares a chunk for a thread that found none, as a job of the isolated thread where there is one. */
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

/* Is the error one that no other thread can do better about? */
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

/* While the helper prepares chunks the next one is soon there: to have it prepared as a job would take as long as all
   of what the helper is at.  False: no news. */
static bool wait_for_helper(void)
{
	const uint32_t seen = atomic_load(&sw_trace.news);
	const uint64_t next = atomic_load(&sw_trace.taken);
	if (!atomic_load(&sw_trace.preparing))
		return false;
	if (atomic_load(&sw_trace.ring[next % SW_CHUNK_RING].number) == next + 1)
		return true;
	atomic_fetch_add(&sw_trace.waiting, 1);
	sw_sys_wait((const uint32_t *)&sw_trace.news, seen, &(struct timespec){.tv_nsec = NEWS_NS});
	atomic_fetch_sub(&sw_trace.waiting, 1);
	return atomic_load(&sw_trace.news) != seen;
}

/* Wakes the writers that wait in wait_for_helper(). */
static void tell_news(void)
{
	atomic_fetch_add(&sw_trace.news, 1);
	if (atomic_load(&sw_trace.waiting))
		sw_sys_wake((const uint32_t *)&sw_trace.news, INT_MAX);
}

/* So many bytes will be written soon: chunks are prepared ahead, so that the thread need not wait for each. */
void sw_trace_expect(uint64_t bytes)
{
	const uint64_t chunks = bytes / SW_CHUNK_RECORDS_END + 2,
		       more = chunks < SW_CHUNK_RING - 2 ? chunks : SW_CHUNK_RING - 2,
		       in_all = atomic_load(&sw_trace.taken) + more;
	if (chunks <= 2 || in_all <= atomic_load(&sw_trace.expected))
		return;
	atomic_store(&sw_trace.expected, in_all);
	sw_isolated_nudge();
}

/* A zeroed chunk that the helper prepared; where that is late, one that is made here. */
uint8_t *sw_trace_take(enum sw_loss_why *why, int *error)
{
	uint8_t *chunk = take_prepared();
	struct wanted wanted = {why, 0};
	if (!chunk)
		atomic_fetch_add_explicit(&sw_trace.late, 1, memory_order_relaxed);
	while (!chunk && !wanted.error) {
		if (!wait_for_helper())
			prepare(&wanted);
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

/* Hands a full chunk to the helper, which closes and unmaps it; where that is late, unmaps it here. */
void sw_trace_retire(uint8_t *chunk)
{
	for (unsigned i = 0; i < SW_CHUNKS_RETIRED; i++) {
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

/* Must more chunks be prepared?  No more than the ring holds, whatever is expected.  Under the lock. */
static bool lacks_chunks(uint64_t ahead)
{
	const uint64_t taken = atomic_load(&sw_trace.taken), expected = atomic_load(&sw_trace.expected);
	return sw_trace.prepared < taken + ahead ||
	       (sw_trace.prepared < expected && sw_trace.prepared < taken + SW_CHUNK_RING - 2);
}

/* For the helper: prepares chunks until `ahead` and those expected are ready. Returns the chunks taken so far. */
static uint64_t trace_prepare(uint64_t ahead)
{
	enum sw_loss_why why;
	bool more = true;
	while (more) {
		uint64_t mask = sw_lock_enter(&sw_trace.lock);
		more = !sw_trace.ended && lacks_chunks(ahead) &&
		       prepare_one(&why) == 0; /* a failure is reported by the writer that meets it */
		sw_lock_leave(&sw_trace.lock, mask);
		if (more)
			tell_news();
	}
	return atomic_load(&sw_trace.taken);
}

/* Each takes as long as to prepare one, so those are not left waiting in between.  ahead 0: the trace ends. */
static void trace_close_retired(uint64_t ahead)
{
	for (unsigned i = 0; i < SW_CHUNKS_RETIRED; i++) {
		uint8_t *chunk = atomic_exchange_explicit(&sw_trace.retired[i], NULL, memory_order_acquire);
		if (!chunk)
			continue;
		close_chunk(chunk);
		sw_memory_write_closed(chunk);
		sw_sys_unmap(chunk, SW_CHUNK_BYTES);
		if (ahead)
			trace_prepare(ahead);
	}
}

/* Writes the present time by both clocks into the header, and a rate that is the more exact the later. */
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

/* Gives the file its final length: chunks that were prepared and never taken go. */
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

/* The end of the trace, on the isolated thread: no chunk can be taken any more, unused ones go, full ones are closed,
   the header says CLOSED. */
static void end_of_trace(void *unused)
{
	(void)unused;
	uint64_t mask = sw_lock_enter(&sw_trace.lock);
	/* A writer takes either before this point or, finding the ring empty, not at all. */
	uint64_t taken = atomic_exchange(&sw_trace.taken, UINT64_MAX / 2);
	cut_file(sw_chunk_offset(taken));
	trace_close_retired(0);
	__atomic_fetch_or(&sw_trace.header->flags, SW_FILE_CLOSED, __ATOMIC_RELEASE);
	sw_memory_write(true);
	atomic_store(&sw_trace.ended, true);
	sw_lock_leave(&sw_trace.lock, mask);
}

void sw_trace_end(void)
{
	sw_isolated_run(end_of_trace, NULL);
}

/* Enough for dlopen; the loader takes the program's thread-local storage from it as well. */
#define STACK_BYTES   (512u << 10)
#define LOADER_NS     100000000u  /* what the first CUDA call waits for the loader at most */
#define GPU_NS	      5000000000u /* the same, where CUPTI is loaded too */
#define LOOK_NS	      10000000
#define ACTIVE_NS     2000000u
#define IDLE_NS	      100000000u
#define LOOK_EVERY_NS 200000000ull
#define LOOK_SHARE    9 /* so many times as long as a look took, until the next: thousands of threads have many chunks */

static _Atomic uint32_t loader_done;
static bool simulated;

/* Loads a companion and starts it.  False: it is missing. */
static bool load_companion(const char *file, const char *name)
{
	void (*start)(const struct sw_companion *) = (__typeof__(start))sw_companion_symbol(file, name);
	if (start)
		start(syncwatch_companion(SW_COMPANION_VERSION));
	return start != NULL;
}

/* Loads the companion for GPU times before the first CUDA call continues, so that no work is missed. */
static void load_gpu(void)
{
	if (!load_companion("libsyncwatch-gpu.so", "syncwatch_gpu_start"))
		sw_notice("GPU time stamps: not recorded, libsyncwatch-gpu.so is missing: syncwatch was built without "
			  "CUPTI");
}

/* Python lines are recorded where the interpreter's symbols are in the process. */
static void load_python(void)
{
	if (dlsym(RTLD_DEFAULT, "PyCode_Type") && !load_companion("libsyncwatch-python.so", "syncwatch_python_start"))
		sw_notice("Python lines: not recorded, libsyncwatch-python.so is missing");
}

/* All that needs the loader's lock: companions, the question whether CUDA is simulated, and libunwind. */
static void use_loader(void)
{
	if (sw_preload_options()->gpu_timeline)
		load_gpu();
	if (sw_preload_options()->stacks)
		load_python();
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (cuda) {
		simulated = dlsym(cuda, "syncwatch_simulated_cuda") != NULL;
		dlclose(cuda);
	}
	/* The last one: from a cold disk it may come after the first calls, whose stacks do not need it. */
	if (sw_preload_options()->stacks && !sw_unwind_loaded())
		sw_unwind_load();
	atomic_store_explicit(&loader_done, 1, memory_order_release);
	sw_sys_wake((const uint32_t *)&loader_done, 1);
}

static void *load(void *unused)
{
	use_loader();
	return unused;
}

/* The rest of the line of a /proc text that begins with `name` (of `length` bytes); NULL: the text has no such line. */
static const char *line_of(const char *text, const char *name, long length)
{
	for (; *text; text++) {
		long same = 0;
		while (same < length && text[same] == name[same])
			same++;
		if (same == length)
			return text + length;
	}
	return NULL;
}
#define LINE_OF(text, name) line_of(text, "\n" name ":\t", sizeof name + 2)

/* Reads a file of /proc, as far as there is room; always ends with NUL.  Returns the bytes or -errno. */
static long read_text(const char *path, char *text, long room)
{
	const int fd = sw_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	const long got = fd < 0 ? 0 : sw_sys_read(fd, text, (size_t)room - 1);
	if (fd >= 0)
		sw_sys_close(fd);
	text[got > 0 ? got : 0] = 0;
	return got;
}

/* Three numbers: the real, the effective and the saved one. */
static void read_ids(const char *line, unsigned ids[3])
{
	for (int i = 0; i < 3; i++, line += *line == '\t')
		for (ids[i] = 0; *line >= '0' && *line <= '9'; line++)
			ids[i] = ids[i] * 10 + (unsigned)(*line - '0');
}

/* setuid() reaches libc's threads only; ours must not keep rights that the program has given up. */
static void give_up_rights(const char *users, const char *groups)
{
	unsigned user[3], group[3];
	if (!users || !groups)
		return;
	read_ids(users, user);
	read_ids(groups, group);
	if (user[0] && user[1] && user[2])
		sw_sys_become(user, group);
}

/* The last field: how the first thread has ended. */
static int first_status(void)
{
	char text[1024];
	int status = 0;
	for (long i = 0, got = read_text("/proc/self/stat", text, sizeof text); i < got && text[i] != '\n'; i++)
		status = text[i] >= '0' && text[i] <= '9' ? status * 10 + text[i] - '0' : 0;
	return status >> 8 & 0xff;
}

/*
 * Have all other threads ended, by the system call exit?  The first one is a zombie then, and we are the second: this
 * thread must not keep the process, and ends as the first one did.
 */
static bool left_alone(int *status)
{
	char text[1024];
	if (read_text("/proc/self/status", text, sizeof text) <= 0)
		return false;
	const char *state = LINE_OF(text, "State"), *threads = LINE_OF(text, "Threads");
	if (state && state[0] == 'Z' && threads && threads[0] == '2' && threads[1] == '\n') {
		*status = first_status();
		return true;
	}
	if (sw_sys_user() == 0)
		give_up_rights(LINE_OF(text, "Uid"), LINE_OF(text, "Gid"));
	return false;
}

/*
 * Prepares as many chunks as two of the last periods took.  While chunks are taken it looks every 2 ms, else ten
 * times a second: writers make no system call to wake it, but where they find no chunk.
 */
static int help(void)
{
	int status = 0;
	uint64_t seen = 0, ahead = 2, look_at = 0;
	sw_sys_name_thread("syncwatch");
	if (sw_announce_wanted())
		sw_memory_make();
	sw_isolated_enter();
	while (!atomic_load(&sw_trace.ended)) {
		uint64_t used = 0;
		if (sw_recording()) {
			atomic_store(&sw_trace.preparing, 1);
			const uint64_t taken = trace_prepare(ahead);
			used = taken - seen;
			seen = taken;
			trace_close_retired(ahead);
			atomic_store(&sw_trace.preparing, 0);
			tell_news();
			ahead = used * 2 > ahead ? used * 2 : ahead - (ahead > 2);
			ahead = ahead > SW_CHUNK_RING - 2 ? SW_CHUNK_RING - 2 : ahead;
		}
		if (sw_sys_monotonic() >= look_at) {
			const uint64_t now = sw_sys_monotonic();
			if (left_alone(&status)) {
				sw_memory_write(true);
				return status;
			}
			if (sw_recording()) {
				sw_trace_update_clock();
				sw_memory_write(false);
			}
			const uint64_t after = sw_sys_monotonic();
			look_at = after + LOOK_EVERY_NS + LOOK_SHARE * (after - now);
		}
		const uint64_t most = used ? ACTIVE_NS : ahead > 2 ? 5 * ACTIVE_NS : IDLE_NS;
		sw_isolated_serve(sw_recording() ? sw_window_look(most) : most);
	}
	return status;
}

/* Starts the isolated thread, which prepares chunks, writes memory to the file, and keeps the clock. */
int sw_helper_begin(void)
{
	static pid_t begun_by;
	if (sw_isolated_thread() && begun_by == getpid())
		return 0;
	sw_isolated_forget(); /* a fork child has the parent's number */
	begun_by = getpid();
	return sw_isolated_start(help);
}

/* Loads on another thread what needs the loader's lock, which this one may hold; waits for it for a short time. */
bool sw_helper_load(uint64_t mask)
{
	if (sw_sys_thread(load, STACK_BYTES))
		return true;
	/* A handler that jumps out of here leaves nothing locked, and the loader goes on. */
	sw_sys_set_signals(mask);
	const uint64_t until = sw_sys_monotonic() + (sw_preload_options()->gpu_timeline ? GPU_NS : LOADER_NS);
	while (!atomic_load_explicit(&loader_done, memory_order_acquire) && sw_sys_monotonic() < until) {
		const struct timespec look = {.tv_nsec = LOOK_NS};
		sw_sys_wait((const uint32_t *)&loader_done, 0, &look);
	}
	sw_sys_block_signals();
	return atomic_load_explicit(&loader_done, memory_order_acquire);
}

bool sw_helper_simulated(void)
{
	return atomic_load_explicit(&loader_done, memory_order_acquire) && simulated;
}

/* In a fork child there is no helper: a new one can be started for the child's trace. */
void sw_helper_forget(void)
{
	atomic_store(&loader_done, 0);
	sw_isolated_forget();
}

/* Making the trace file: its name, and its first page. */

/* So many names are tried one after the other, then as many that no other process tries. */
#define SW_NAME_TRIES 100u

/* FILE.swt, FILE-2.swt, FILE-3.swt ...  A program that execs another keeps its pid. */
static int name_try(char *out, size_t room, const char *path, unsigned number)
{
	size_t n = strlen(path), stem = n > 4 && strcmp(path + n - 4, ".swt") == 0 ? n - 4 : n;
	int got = number == 1 ? snprintf(out, room, "%s", path)
			      : snprintf(out, room, "%.*s-%u%s", (int)stem, path, number, path + stem);
	return got > 0 && (size_t)got < room ? 0 : -ENAMETOOLONG;
}

static bool host_sync;

/* From now on the trace says that it has all steps that order the host's threads: called once all of them are seen. */
void sw_host_sync_on(void)
{
	__atomic_store_n(&host_sync, true, __ATOMIC_SEQ_CST);
	struct sw_file_header *header = sw_trace.header;
	if (header)
		__atomic_fetch_or(&header->flags, SW_FILE_HOST_SYNC, __ATOMIC_RELAXED);
}

/* Fills the header of a new trace.  `ticks_per_second` is a first estimate, which the helper makes better with time. */
static void fill_header(struct sw_file_header *h, uint64_t ticks_per_second)
{
	memcpy(h->magic, SW_FORMAT_MAGIC, sizeof h->magic);
	h->major = SW_FORMAT_MAJOR;
	h->minor = SW_FORMAT_MINOR;
	h->byte_order = SW_FORMAT_BYTE_ORDER;
	h->header_bytes = SW_FORMAT_HEADER_BYTES;
	h->chunk_bytes = SW_CHUNK_BYTES;
	h->flags = (sw_clock_is_tsc ? SW_FILE_TSC : 0u) | (host_sync ? SW_FILE_HOST_SYNC : 0u);
	h->pid = (uint32_t)getpid();
	h->ppid = (uint32_t)getppid();
	h->ticks_per_second = ticks_per_second;
	sw_trace.start = sw_clock_read();
	h->start_ticks = sw_trace.start.ticks;
	h->start_monotonic_ns = sw_trace.start.monotonic_ns;
	h->start_realtime_ns = sw_clock_ns(CLOCK_REALTIME);
	strncpy(h->recorder_version, PACKAGE_VERSION, sizeof h->recorder_version - 1);
}

/* Makes the trace's file and maps its first page.  -EEXIST: the name is taken. */
static int create(void)
{
	struct stat s;
	int fd = sw_isolated_open(sw_trace.file.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	int error = sw_sys_fstat(fd, &s);
	if (!error)
		error = trace_over_file_limit(SW_FORMAT_HEADER_BYTES) ? -EFBIG : 0;
	if (!error)
		error = sw_sys_allocate(fd, 0, SW_FORMAT_HEADER_BYTES);
	const int memory = error || !sw_trace.memory.inode ? -1 : sw_trace_borrow(&sw_trace.memory);
	if (!error && memory < 0)
		sw_memory_drop();
	if (!error)
		sw_trace.header = sw_sys_map(memory < 0 ? fd : memory, 0, SW_FORMAT_HEADER_BYTES, &error);
	if (memory >= 0)
		sw_trace_return(&sw_trace.memory, memory);
	if (error) {
		sw_sys_unlink(sw_trace.file.path); /* an empty file is of no use */
		sw_memory_drop();
	}
	sw_trace.file.device = error ? 0 : s.st_dev;
	sw_trace.file.inode = error ? 0 : s.st_ino;
	if (!error && sw_isolated_here())
		sw_trace.file.fd = fd;
	else
		sw_sys_close(fd);
	return error;
}

static void create_isolated(void *error)
{
	*(int *)error = create();
}

/* Creates the file under the first free name: PATH, PATH-2, ...; where a hundred are taken, names with the pid, which
   no other process tries. */
static int create_some(const char *path)
{
	int error = -EEXIST;
	for (unsigned attempt = 1; attempt <= 2 * SW_NAME_TRIES && error == -EEXIST; attempt++) {
		const unsigned number = attempt <= SW_NAME_TRIES ? attempt : attempt + (unsigned)getpid();
		error = name_try(sw_trace.file.path, sizeof sw_trace.file.path, path, number);
		if (!error)
			sw_isolated_run(create_isolated, &error);
	}
	return error;
}

/* Removes the file again, as a job of the isolated thread. */
static void discard(void *unused)
{
	(void)unused;
	sw_sys_unlink(sw_trace.file.path);
	atomic_store(&sw_trace.ended, true);
}

void sw_trace_discard(void)
{
	sw_isolated_run(discard, NULL);
}

/* Makes the trace's file and header; a name that is taken gets a number. */
int sw_trace_open(const char *asked, const char *directory, uint64_t max_bytes)
{
	char name[sizeof sw_trace.file.path], path[sizeof sw_trace.file.path];
	if (sw_name_expand(name, sizeof name, *asked ? asked : "syncwatch-%e-%p.swt"))
		return -ENAMETOOLONG;
	asked = name;
	bool relative = asked[0] != '/' && directory[0];
	if ((size_t)snprintf(path, sizeof path, "%s%s%s", relative ? directory : "", relative ? "/" : "", asked) >=
	    sizeof path)
		return -ENAMETOOLONG;
	uint64_t rate = sw_clock_start();
	sw_trace.max_chunks =
		max_bytes > SW_FORMAT_HEADER_BYTES ? (max_bytes - SW_FORMAT_HEADER_BYTES) / SW_CHUNK_BYTES : 0;
	sw_trace.file.fd = -1;
	if (sw_trace.memory.inode)
		sw_memory_name();
	int error = create_some(path);
	if (error)
		atomic_store(&sw_trace.ended, true);
	else
		fill_header(sw_trace.header, rate);
	if (!error && sw_trace.memory.inode)
		sw_trace.header->flags |= SW_FILE_BEHIND;
	return error;
}
