/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/counted.h"
#include "base/hash.h"
#include "preload/handoff/analyse.h"
#include "preload/platform/bypass.h"
#include "preload/platform/isolated_thread.h"
#include "preload/platform/say.h"
#include "preload/platform/sys.h"
#include "preload/recorder/call_begin.h"
#include "preload/recorder/companion.h"
#include "preload/recorder/trace.h"
#include "preload/recorder/memory.h"
#include "preload/recorder/options.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/window.h"
#include "preload/recorder/writer.h"
#include "preload/session/announce.h"
#include "preload/stacks/modules.h"
#include "preload/stacks/stack.h"
#include "preload/stacks/unwind.h"

static void process_exit(void);

#define ARGUMENT_BYTES	32768u /* of a longer command line the rest is dropped */
#define BOOT_BYTES	36     /* of a UUID as text */
#define VARIABLES_BYTES 1024u  /* those that do not fit are left out */

/* Writes the PROCESS record: executable, the directory that the program started in, and its arguments (from /proc, as a
   library has no argv). */
static void describe_process(struct sw_writer *w, const char *directory)
{
	char exe[1024];
	int error;
	char *args = sw_sys_map(-1, 0, ARGUMENT_BYTES, &error);
	uint32_t args_bytes = 0, count = 0, dir_bytes = (uint32_t)strlen(directory);
	ssize_t exe_bytes = readlink("/proc/self/exe", exe, sizeof exe);
	int fd = args ? sw_sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0) : -1;
	if (fd >= 0) {
		long got;
		while (args_bytes < ARGUMENT_BYTES - 1 &&
		       (got = sw_sys_read(fd, args + args_bytes, ARGUMENT_BYTES - 1 - args_bytes)) > 0)
			args_bytes += (uint32_t)got;
		sw_sys_close(fd);
		if (args_bytes && args[args_bytes - 1])
			args_bytes++; /* cut off: the NUL is there, the mapping is zeroed */
		for (uint32_t i = 0; i < args_bytes; i++)
			count += !args[i];
	}
	uint32_t name_bytes = exe_bytes > 0 ? (uint32_t)exe_bytes : 0;
	struct sw_rec_process *r = (struct sw_rec_process *)sw_writer_describe(
		w, SW_REC_PROCESS, sizeof *r + name_bytes + dir_bytes + args_bytes, false);
	if (r) {
		char *p = (char *)(r + 1);
		r->exe_bytes = name_bytes;
		r->cwd_bytes = dir_bytes;
		r->args = count;
		r->args_bytes = args_bytes;
		p = mempcpy(p, exe, name_bytes);
		p = mempcpy(p, directory, dir_bytes);
		if (args_bytes)
			memcpy(p, args, args_bytes);
		sw_writer_commit(w);
	}
	if (args)
		sw_sys_unmap(args, ARGUMENT_BYTES);
}

static const char rank_variables[] =
#define SW_RANK_ROW(rank, size, job) rank "\0" size "\0" job "\0"
#define SW_RANK_OTHER(name)	     name "\0"
#include "base/ranks.def"
#undef SW_RANK_ROW
#undef SW_RANK_OTHER
	;

/* Fills in NAME=value, each with its NUL.  Returns how many. */
static uint32_t collect_variables(char *out, size_t room, uint32_t *bytes)
{
	uint32_t n = 0;
	*bytes = 0;
	for (const char *name = rank_variables; name < rank_variables + sizeof rank_variables - 1;
	     name += strlen(name) + 1) {
		const char *value = *name ? getenv(name) : NULL;
		const size_t name_bytes = strlen(name), need = value ? name_bytes + strlen(value) + 2 : 0;
		if (!value || need > room - *bytes)
			continue;
		char *p = mempcpy(out + *bytes, name, name_bytes);
		*p++ = '=';
		memcpy(p, value, need - name_bytes - 1);
		*bytes += (uint32_t)need;
		n++;
	}
	return n;
}

/* Machine and rank; for a child of fork() again: Python may have set the variables since. */
static void describe_environment(struct sw_writer *w)
{
	char boot[BOOT_BYTES], variables[VARIABLES_BYTES];
	struct utsname machine;
	uint32_t bytes;
	const int fd = sw_sys_open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0);
	const bool known = fd >= 0 && sw_sys_read(fd, boot, sizeof boot) == (long)sizeof boot;
	if (fd >= 0)
		sw_sys_close(fd);
	if (uname(&machine))
		machine.nodename[0] = 0;
	const uint32_t n = collect_variables(variables, sizeof variables, &bytes);
	const uint32_t boot_bytes = known ? BOOT_BYTES : 0, host_bytes = (uint32_t)strlen(machine.nodename);
	struct sw_rec_environment *r = (struct sw_rec_environment *)sw_writer_describe(
		w, SW_REC_ENVIRONMENT, sizeof *r + boot_bytes + host_bytes + bytes, false);
	if (!r)
		return;
	r->boot_bytes = boot_bytes;
	r->host_bytes = host_bytes;
	r->variables = n;
	r->variables_bytes = bytes;
	char *p = mempcpy(r + 1, boot, boot_bytes);
	p = mempcpy(p, machine.nodename, host_bytes);
	memcpy(p, variables, bytes);
	sw_writer_commit(w);
}

/* How often an entry point was called, and how often it failed, over all threads; approximate while they run. */
static void sum_calls(uint32_t api, uint64_t *calls, uint64_t *failed)
{
	*calls = *failed = 0;
	for (const struct sw_writer *w = sw_writer_all(); w; w = w->next) {
		*calls += __atomic_load_n(&w->calls[api], __ATOMIC_RELAXED);
		*failed += __atomic_load_n(&w->failed[api], __ATOMIC_RELAXED);
	}
}

/* Writes how often each entry point was called: the judge compares that with the records that it finds. */
static void write_counts(struct sw_writer *w)
{
	uint64_t calls, failed;
	uint32_t entries = 0;
	for (uint32_t api = 0; api < SW_API_IDS; api++) {
		sum_calls(api, &calls, &failed);
		entries += calls != 0;
	}
	struct sw_rec_counts *r = (struct sw_rec_counts *)sw_writer_describe(
		w, SW_REC_COUNTS, sizeof *r + entries * sizeof(struct sw_count), true);
	if (!r)
		return;
	struct sw_count *count = (struct sw_count *)(r + 1);
	for (uint32_t api = 0; api < SW_API_IDS && r->entries < entries; api++) {
		sum_calls(api, &calls, &failed);
		if (calls)
			count[r->entries++] =
				(struct sw_count){.api = (uint16_t)api, .failed = (uint32_t)failed, .calls = calls};
	}
	sw_writer_commit(w);
}

/* Writes the last records of a complete trace: counts and END. */
static void describe_end(struct sw_writer *w)
{
	write_counts(w);
	struct sw_rec *end = sw_writer_describe(w, SW_REC_END, sizeof *end, true);
	if (end)
		sw_writer_commit(w);
}

/* Sentences for the report, and what the header says of the driver. */

#define NOTICES 64u

static _Atomic uint64_t recorded_notices[NOTICES];

/* Records a sentence for the user, once: hashes of those that were written lie in a small table, entered by
   compare-and-swap.  When it is full, further ones are left out. */
void sw_notice(const char *text)
{
	size_t length = strlen(text);
	uint64_t hash = sw_hash_bytes(SW_FNV_START, text, length);
	if (!sw_recording())
		return;
	for (unsigned i = 0; i < NOTICES; i++) {
		uint64_t seen = 0;
		if (!atomic_compare_exchange_strong(&recorded_notices[i], &seen, hash)) {
			if (seen == hash)
				return;
			continue;
		}
		struct sw_rec_notice *r = sw_describe(SW_REC_NOTICE, sizeof *r + length, false);
		if (r) {
			r->text_bytes = (uint32_t)length;
			memcpy(r + 1, text, length);
		}
		sw_describe_done(r);
		return;
	}
}

/* In a fork child: all notices are written again, into its own trace. */
static void notice_forget(void)
{
	for (unsigned i = 0; i < NOTICES; i++)
		atomic_store(&recorded_notices[i], 0);
}

/* Writes the driver's version into the trace's header, atomically: the command may read the header of a running
   trace. */
void sw_record_driver(uint32_t version, bool simulated)
{
	struct sw_file_header *header = sw_trace.header;
	if (!sw_recording() || !header)
		return;
	__atomic_store_n(&header->cuda_driver_version, version, __ATOMIC_RELAXED);
	if (simulated)
		__atomic_fetch_or(&header->flags, SW_FILE_SIMULATED, __ATOMIC_RELAXED);
}

/*
 * A child of fork must not write into its parent's trace, however it was made: _Fork and clone run no atfork handlers.
 * So the state of the recorder lies in a page that the kernel clears in children (MADV_WIPEONFORK, Linux 4.14): to a
 * child the recorder looks as if no CUDA call had been made yet.
 *
 * A child of vfork shares the page with its suspended parent.  All it may do is to exec or _exit, and nothing of the
 * recorder runs then.
 */

static struct sw_process_page first_page;
struct sw_process_page *sw_process_page = &first_page;
static pid_t owner;
static bool wiped; /* the page is one that forks clear */

/* True in the process that made the trace; false in a child of fork or vfork. A system call. */
static bool process_is_owner(void)
{
	return owner == getpid();
}

/*
 * Fork support: the page, and forgetting the parent's trace in a child.  Puts the state into a page that
 * forks clear. SW_STATE_ON or, where there is no such page, SW_STATE_ON_CHECKED.
 */
static int fork_page(void)
{
	owner = getpid();
	if (wiped)
		return SW_STATE_ON;
	int error;
	struct sw_process_page *page = sw_sys_map(-1, 0, 4096, &error);
	if (!page)
		return SW_STATE_ON_CHECKED;
	if (sw_sys_madvise(page, 4096, MADV_WIPEONFORK)) {
		sw_sys_unmap(page, 4096);
		return SW_STATE_ON_CHECKED;
	}
	atomic_store(&page->state, atomic_load(&sw_process_page->state));
	__atomic_store_n(&sw_process_page, page, __ATOMIC_RELEASE);
	/* Threads that wait for the start wait on the first page, whose state no longer changes. */
	sw_sys_wake((const uint32_t *)&first_page.state, INT32_MAX);
	wiped = true;
	return SW_STATE_ON;
}

/* In a child, before it starts its own trace: leaves the parent's file alone. */
static void fork_forget(void)
{
	if (!owner || process_is_owner())
		return;
	memset(&sw_trace, 0, sizeof sw_trace);
	sw_trace.file.fd = sw_trace.memory.fd = -1;
	atomic_store(&sw_sequence.last, 0);
	sw_writer_forget();
	sw_modules_forget();
	sw_helper_forget();
	sw_memory_forget();
	notice_forget();
	sw_window_forget();
	sw_stack_depth = 0;
	owner = 0;
}

#define ROUNDS 40u
#define TRIES  5u

/* Makes records of calls, with the code that the program's calls will run, to measure what one costs. */
static void record_rounds(struct sw_writer *scratch)
{
	(void)scratch;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct sw_call call;
		struct sw_rec_stream_wait *r;
		sw_call_begin(&call, 0, __builtin_frame_address(0));
		r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
		if (r)
			r->stream = i;
		sw_call_publish(&call);
		sw_call_leave(&call, 0);
	}
}

/* Takes a stack again and again, to measure what one costs. */
static void walk_rounds(struct sw_writer *scratch)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		sw_stack_capture(scratch, __builtin_frame_address(0));
}

/* Picoseconds a round, the best of some tries; 0 when there is no memory. The thread writes into a scratch buffer. */
static uint64_t measure_rounds(void (*rounds)(struct sw_writer *scratch))
{
	int error;
	uint64_t best = UINT64_MAX;
	struct sw_writer *scratch = sw_sys_map(-1, 0, sizeof *scratch, &error);
	uint8_t *buffer = sw_sys_map(-1, 0, SW_CHUNK_BYTES, &error);
	struct sw_thread before = sw_thread;
	for (unsigned try = 0; scratch && buffer && try < TRIES; try++) {
		scratch->base = buffer;
		scratch->at = sizeof(struct sw_chunk_header);
		scratch->end = SW_CHUNK_BYTES;
		scratch->modules = sw_modules_generation();
		sw_thread.writer = scratch;
		sw_thread.busy = 0;
		uint64_t from = sw_clock_ticks();
		rounds(scratch);
		uint64_t took = sw_clock_ticks() - from;
		best = took < best ? took : best;
	}
	sw_thread = before;
	if (scratch)
		sw_stack_free(scratch);
	if (scratch)
		sw_sys_unmap(scratch, sizeof *scratch);
	if (buffer)
		sw_sys_unmap(buffer, SW_CHUNK_BYTES);
	if (best == UINT64_MAX)
		return 0;
	return (uint64_t)((unsigned __int128)best * 1000000000000u / sw_trace.header->ticks_per_second / ROUNDS);
}

/* Measures what a record costs and writes that into the trace's header, in about a tenth of a millisecond.  Before the
   state is ON: uses the calling thread. */
static void cost_measure(void)
{
	sw_trace.header->cost_no_stack_ps = measure_rounds(record_rounds);
	atomic_store(&sw_sequence.last, 0); /* no other thread counts yet */
}

/* Measures what a record with a remembered call stack costs and writes that into the trace's header; when stacks are on
   and the modules are known. */
static void cost_measure_stack(void)
{
	uint64_t walk = measure_rounds(walk_rounds);
	if (walk && sw_trace.header->cost_no_stack_ps)
		sw_trace.header->cost_stack_ps = sw_trace.header->cost_no_stack_ps + walk;
}

#define START_NS 2000000000u
#define LOOK_NS	 5000000
/* So many until the recorder's thread must have begun: a second, more where other signals interrupt. */
#define HELPER_LOOKS 200

struct sw_sequence sw_sequence;
static char directory[1024]; /* where the program was started: it may change directories before its first CUDA call */
static _Atomic bool warned;
static pid_t first_pid; /* the process that the constructor ran in; 0: it has not */

/* Once per process image: before main where the loader runs constructors, else at the first call. */
__attribute__((constructor)) static void prepare(void)
{
	if (first_pid)
		return;
	first_pid = getpid();
	int saved = errno;
	if (!getcwd(directory, sizeof directory))
		directory[0] = 0;
	sw_announce_start();
	sw_options_start();
	sw_window_prepare();
	errno = saved;
}

/* Runs after the program's own atexit functions, which may still call CUDA; errno is the program's. */
__attribute__((destructor)) static void at_exit(void)
{
	int saved = errno;
	process_exit();
	errno = saved;
}

/* Changes the state of the recorder and wakes the threads that wait for it.  Returns whether calls are recorded in that
   state. */
static bool set_state(enum sw_recorder_state state)
{
	atomic_store_explicit(&sw_process_page->state, state, memory_order_release);
	sw_sys_wake((const uint32_t *)&sw_process_page->state, INT32_MAX);
	return sw_state_records(state);
}

/* Is this a set-user-id program?  There the environment is not to be trusted, nor is the current directory, so nothing
   is recorded. */
static bool is_set_user_id(void)
{
	return getauxval(AT_SECURE) != 0;
}

/* glibc has it from 2.32 on. */
extern const char *strerrordesc_np(int) __attribute__((weak));

/* Text of a negative errno; without strerror()'s translations where glibc can, as those may allocate. */
static const char *why_not(int error)
{
	const char *text = strerrordesc_np ? strerrordesc_np(-error) : strerror(-error);
	return text ? text : "unknown error";
}

/* Passes descriptors of the trace, which are those of the isolated thread. */
static void announce_trace(void *unused)
{
	(void)unused;
	struct sw_trace_file *file = &sw_trace.file, *memory = sw_trace.memory.inode ? &sw_trace.memory : NULL;
	sw_memory_write(false);
	const int fd = sw_trace_borrow(file), memory_fd = memory ? sw_trace_borrow(memory) : -1;
	const bool held = sw_announce_trace(fd, memory_fd, file->device, file->inode, file->path);
	if (memory_fd >= 0)
		sw_trace_return(memory, memory_fd);
	if (memory && !(held && memory_fd >= 0))
		sw_memory_leave();
	if (fd >= 0)
		sw_trace_return(file, fd);
}

/* Makes the trace and writes its first records.  Returns whether calls are recorded from now on; every way out sets the
   state, on which other threads wait.  Signals are blocked. */
static bool start(void)
{
	prepare();
	fork_forget();
	atomic_store(&warned, false);
	if (is_set_user_id())
		return set_state(SW_STATE_OFF);
	sw_announce_begin();
	int on = fork_page();
	const struct sw_preload_options *options = sw_preload_options();
	sw_helper_begin();
	int error = sw_trace_open(options->trace, directory, options->spool ? UINT64_MAX : options->max_bytes);
	if (error) {
		sw_say("cannot create %s: %s; this program runs unrecorded",
		       sw_trace.file.path[0] ? sw_trace.file.path : "the trace", why_not(error));
		sw_announce_failed(why_not(error));
		return set_state(SW_STATE_OFF);
	}
	if (sw_announce_wanted())
		sw_isolated_run(announce_trace, NULL);
	sw_writer_start();
	cost_measure();
	if (!sw_writer_attach(&sw_thread)) {
		sw_say("out of memory; this program runs unrecorded");
		sw_announce_failed("out of memory");
		sw_trace_discard();
		return set_state(SW_STATE_OFF);
	}
	if (sw_process_state() == SW_STATE_FULL)
		return set_state(SW_STATE_FULL);
	describe_process(sw_thread.writer, directory);
	describe_environment(sw_thread.writer);
	sw_modules_refresh(sw_thread.writer);
	/* Without a page that forks clear the state is more than on or off: there all is recorded. */
	if (on == SW_STATE_ON)
		on = (int)sw_window_begin(sw_thread.writer);
	return set_state((enum sw_recorder_state)on);
}

/* Tells the user that recording begins, and which options do nothing since their library is not preloaded. */
static void say_what_starts(const struct sw_preload_options *options)
{
	if (!options->quiet)
		sw_say("recording; 'syncwatch report %s' judges the trace", sw_trace.file.path);
	if (options->guard_host && !sw_companion_hooked())
		sw_say("guard-host does nothing without libsyncwatch-guard.so: put it after libsyncwatch.so in "
		       "LD_PRELOAD");
	if (strstr(options->pass, "--strict-host\n") && !(sw_trace.header->flags & SW_FILE_HOST_SYNC))
		sw_say("strict-host does nothing without libsyncwatch-host.so: put it after libsyncwatch.so in "
		       "LD_PRELOAD; "
		       "the report takes all host threads for one");
}

/* The rest of the start, which may take a while or needs the loader's lock, comes after the state is ON, as no other
   thread waits for it.  A handler that jumps out of the wait for the loader leaves out what follows it, so that is
   nothing that a later call needs. */
static void start_rest(uint64_t mask)
{
	const struct sw_preload_options *options = sw_preload_options();
	if (options->stacks) {
		sw_stack_start();
		__atomic_fetch_or(&sw_trace.header->flags, SW_FILE_STACKS, __ATOMIC_RELAXED);
	}
	say_what_starts(options);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* between the state, which is ON, and this (companion.c) */
	void (*begun)(void) = __atomic_load_n(&sw_companion_begun, __ATOMIC_ACQUIRE);
	if (begun)
		begun();
	const bool loaded = sw_helper_load(mask);
	if (sw_helper_simulated())
		__atomic_fetch_or(&sw_trace.header->flags, SW_FILE_SIMULATED, __ATOMIC_RELAXED);
	if (options->stacks) {
		if (loaded && SW_ARCH_USES_LIBUNWIND && !sw_unwind_loaded())
			sw_notice(
				"libunwind could not be loaded: call stacks come from unwind tables, new ones slower");
		sw_modules_refresh(sw_thread.writer); /* libunwind has come */
		cost_measure_stack();
	}
}

/*
 * Another thread starts recording: waits for it, but for a bounded time.  Looks again after a moment: the state may
 * have moved to another page (process.c) since it was read.  Time in which the whole process was stopped does not
 * count.  False: it took too long, which is counted as a loss.
 */
static bool wait_for_start(void)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const uint64_t until = sw_sys_monotonic() + START_NS;
	for (unsigned n = 0; sw_process_state() == SW_STATE_STARTING; n++) {
		if (n >= START_NS / LOOK_NS && sw_sys_monotonic() >= until) {
			sw_writer_lost(NULL, 0, SW_LOSS_OTHER);
			return false;
		}
		sw_sys_wait((const uint32_t *)&sw_process_page->state, SW_STATE_STARTING, &look);
	}
	return true;
}

/* Begins the isolated thread.  Under `run` it has the descriptors of the memory that the trace lies in (memory.h), so
   it must run first.  False: it is not there yet, and recording must wait. */
static bool helper_has_begun(void)
{
	prepare();
	if (is_set_user_id() || !sw_announce_wanted())
		return true;
	fork_forget();
	return sw_helper_begin() || sw_isolated_entered();
}

/* In state STARTING.  Where it has to wait it goes back to FRESH: signals get through, nothing is left half done. */
static void start_or_wait(bool may_wait)
{
	/* A handler of the program that jumps out of here would leave the state at STARTING. */
	const uint64_t mask = sw_sys_block_signals();
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const int saved = errno;
	sw_thread.busy = 1;
	const bool later = may_wait && !helper_has_begun();
	const bool on = later ? set_state(SW_STATE_FRESH) : start();
	sw_thread.busy = 0;
	if (on)
		start_rest(mask);
	sw_sys_set_signals(mask);
	if (later)
		sw_isolated_wait_entered(&look);
	errno = saved;
}

/* Is recording on?  Starts it at the first call, if `may_start`: whoever changes the state from FRESH to STARTING does
   it, the others wait. */
bool sw_process_ready(bool may_start)
{
	uint32_t state = sw_process_state();
	for (unsigned n = 0; (state == SW_STATE_FRESH && may_start) || (state == SW_STATE_STARTING && !sw_thread.busy);
	     state = sw_process_state()) {
		if (state == SW_STATE_STARTING && !wait_for_start())
			return false;
		state = SW_STATE_FRESH;
		if (may_start && atomic_compare_exchange_strong(&sw_process_page->state, &state, SW_STATE_STARTING))
			start_or_wait(n++ < HELPER_LOOKS);
	}
	if (state == SW_STATE_ON_CHECKED && !process_is_owner()) {
		atomic_store(&sw_process_page->state, SW_STATE_FRESH);
		return sw_process_ready(may_start);
	}
	return sw_state_records(state);
}

static enum sw_loss_why full_why;

/* True the first time: one warning a trace is enough. */
bool sw_process_warn(void)
{
	return !atomic_exchange(&warned, true);
}

/* Why there is no room for a record now. */
enum sw_loss_why sw_process_loss(void)
{
	return sw_process_state() == SW_STATE_FULL ? full_why : SW_LOSS_OTHER;
}

/* Stops recording where there is no more room: the first thread that finds none changes the state and says so. */
void sw_process_full(enum sw_loss_why why, int error)
{
	uint32_t state = sw_process_state();
	full_why = why;
	while (sw_state_records(state) || state == SW_STATE_STARTING) {
		if (!atomic_compare_exchange_weak(&sw_process_page->state, &state, SW_STATE_FULL))
			continue;
		if (!sw_process_warn())
			return;
		if (why == SW_LOSS_SIZE_LIMIT)
			sw_say("%s has reached its size limit (max-size); what follows is not recorded",
			       sw_trace.file.path);
		else if (sw_trace.low)
			sw_say("little room is left on the file system of %s; what follows is not recorded",
			       sw_trace.file.path);
		else
			sw_say("cannot extend %s: %s; what follows is not recorded", sw_trace.file.path,
			       why_not(error));
		return;
	}
}

/* From now on calls pass through, unrecorded. */
static void process_end(void)
{
	set_state(SW_STATE_ENDED);
}

/* ---- facts about the process ------------------------------------------------------------------------------------- */

static _Atomic bool hooked;
static _Atomic uint64_t nested;

/* Counts a call inside of another one, which is not recorded. */
void sw_process_nested(void)
{
	atomic_fetch_add_explicit(&nested, 1, memory_order_relaxed);
}

/* Notes for the report how many calls were not recorded as CUDA itself, or a callback, made them inside another
   call. */
static void process_count_nested(void)
{
	char text[160];
	uint64_t count = atomic_load_explicit(&nested, memory_order_relaxed);
	if (!count)
		return;
	snprintf(text, sizeof text, "%llu %s made inside another CUDA call of %s thread and not recorded",
		 (unsigned long long)count, sw_plural(count, "call was", "calls were"),
		 sw_plural(count, "its", "their"));
	sw_notice(text);
}

/* The program got a function of ours.  One that never did, but has a GPU open at its end, is told so (SW901). */
void sw_intercepted(void)
{
	if (!atomic_load_explicit(&hooked, memory_order_relaxed))
		atomic_store_explicit(&hooked, true, memory_order_relaxed);
}

/* Was any pointer of ours handed out (sw_intercepted())?  If not, no CUDA call was seen. */
static bool process_hooked(void)
{
	return atomic_load_explicit(&hooked, memory_order_relaxed);
}

/* Is this the process that the library was loaded in, and not a fork child of it? */
static bool process_is_first(void)
{
	return first_pid == getpid();
}

static const char *process_directory(void)
{
	return directory;
}

/*
 * The end of the program: exit() or the end of main.  Nothing runs on _exit, quick_exit or a signal, and nothing has
 * to: by then everything is in the file.  No CUDA function is called here.
 */

/* Writes all that is still counted, the END record, and closes the file. */
static void end_trace(void)
{
	struct sw_thread *t = &sw_thread;
	if (!t->busy && (t->writer || sw_writer_attach(t))) {
		sw_writer_abandon(t->writer);
		sw_writer_write_missed(t->writer);
		sw_counted_flush_all(t->writer);
		sw_window_end(t->writer);
		process_count_nested();
		describe_end(t->writer);
	}
	process_end();
	sw_trace_update_clock();
	sw_trace_end();
	sw_announce(SW_ANNOUNCE_CLOSED, 0, 0, "");
}

/* Says on stderr, in the trace and to `run` that calls reach CUDA without being recorded (SW901).  `object`: the
   library that makes them, empty if unknown. */
static void report_bypassed(const char *what, const char *object)
{
	char text[768];
	snprintf(text, sizeof text, "SW901: %s%s%s%s", what, object[0] ? ": " : "", object,
		 object[0] ? " calls CUDA past the recorder" : "");
	sw_say("%s. Programs that load CUDA with dlmopen or RTLD_DEEPBIND are not seen", text);
	sw_notice(text);
	sw_announce_begin();
	sw_announce_failed(text);
}

/* Looks for libraries that call CUDA past the recorder, and for a second copy of the recorder.  `recorded`: this
   process has a trace.  Called while records can still be written. */
static void look_for_bypass(bool recorded)
{
	char object[512] = "";
	if (!recorded && sw_bypass_recorder(object, sizeof object)) {
		sw_say("the recorder is preloaded twice: %s records, this copy does nothing; take one out of "
		       "LD_PRELOAD",
		       object);
		return;
	}
	const bool unseen = !recorded && !process_hooked() && sw_bypass_gpu_open();
	if (sw_bypass_object(object, sizeof object, unseen) || unseen)
		report_bypassed(unseen ? "this program used a GPU, but no CUDA call could be intercepted"
				       : "not all CUDA calls of this program could be intercepted",
				object);
}

/* At the end of the program: completes the trace and, with the option `report`, judges it.  A process that made no CUDA
   call is only looked at for bypassing. */
static void process_exit(void)
{
	const struct sw_preload_options *options = sw_preload_options();
	switch (sw_process_state()) {
	case SW_STATE_FRESH:
		if (process_is_first())
			look_for_bypass(false);
		process_end();
		break;
	case SW_STATE_ON:
	case SW_STATE_ON_CHECKED:
	case SW_STATE_PAUSED:
	case SW_STATE_TURN:
	case SW_STATE_ON_ASKED:
	case SW_STATE_FULL:
		if (!process_is_owner())
			return; /* a child of vfork that called exit() */
		look_for_bypass(true);
		end_trace();
		if (options->report)
			sw_analyse(sw_trace.file.path, options->pass, process_directory());
		break;
	default:
		break;
	}
}
