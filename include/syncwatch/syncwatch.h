/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program can declare to syncwatch.
 *
 *     #include <syncwatch/syncwatch.h>
 *
 * Needs nothing at link time and does nothing when the program does not run under syncwatch: then each call is one load
 * and one branch, after one look-up for each source file that uses it.  (Before glibc 2.34 link with -ldl.)  C99, C++
 * and CUDA; may be called from any thread.
 *
 * `stream` is a cudaStream_t or a CUstream.  SYNCWATCH_HOST in its place means: not in the order of a stream, but now,
 * by the calling thread.  Calls made before the first call of CUDA are ignored.
 */
#ifndef SYNCWATCH_SYNCWATCH_H
#define SYNCWATCH_SYNCWATCH_H

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SYNCWATCH_HOST ((void *)-1)

/* The kind of an annotation; the values are those of enum sw_annotation in format.h, names come after. */
enum syncwatch_op {
	SYNCWATCH_READS = 1,
	SYNCWATCH_WRITES,
	SYNCWATCH_BLOCK_BEGIN,
	SYNCWATCH_BLOCK_END,
	SYNCWATCH_IGNORE,
	SYNCWATCH_JUDGE,
	SYNCWATCH_BEFORE,
	SYNCWATCH_AFTER,
	SYNCWATCH_NAME_STREAM = 64,
	SYNCWATCH_NAME_BUFFER,
	SYNCWATCH_GATE,	 /* stores a const struct syncwatch_gate * at the address */
	SYNCWATCH_RECORD /* `flags`: 1 open, 2 close, 3 ask; stores at the address whether a window is open */
};
/* Flag: stream 0 is the per-thread default stream in this source file. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define SYNCWATCH_FLAGS 1u
#else
#define SYNCWATCH_FLAGS 0u
#endif

typedef void syncwatch_function(unsigned op, const void *address, size_t bytes, void *stream, unsigned flags,
				const char *name);

static inline void syncwatch_call_flags(unsigned op, const void *address, size_t bytes, void *stream, unsigned flags,
					const char *name)
{
	static syncwatch_function *function;
	static int asked;
	if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
		/* A null handle is RTLD_DEFAULT: the program and what was loaded with it. */
		syncwatch_function *found = __extension__(syncwatch_function *) dlsym((void *)0, "syncwatch_annotate");
		__atomic_store_n(&function, found, __ATOMIC_RELAXED);
		__atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
	}
	syncwatch_function *call = __atomic_load_n(&function, __ATOMIC_RELAXED);
	if (call)
		call(op, address, bytes, stream, flags, name);
}

static inline void syncwatch_call(unsigned op, const void *address, size_t bytes, void *stream, const char *name)
{
	syncwatch_call_flags(op, address, bytes, stream, SYNCWATCH_FLAGS, name);
}

static inline int syncwatch_record(unsigned order)
{
	unsigned char open = 0;
	syncwatch_call_flags(SYNCWATCH_RECORD, &open, sizeof open, NULL, order, NULL);
	return open;
}

/*
 * The next kernel that is launched on the stream reads (writes) these bytes.  Said once or several times before a
 * launch, it is taken as all that this launch touches: say all of it.
 */
static inline void syncwatch_reads(void *stream, const void *address, size_t bytes)
{
	syncwatch_call(SYNCWATCH_READS, address, bytes, stream, NULL);
}
static inline void syncwatch_writes(void *stream, const void *address, size_t bytes)
{
	syncwatch_call(SYNCWATCH_WRITES, address, bytes, stream, NULL);
}

/*
 * A suballocator hands out part of an allocation, and takes it back, in the order of the stream (as cudaMallocAsync and
 * cudaFreeAsync do): uses that are not ordered after the begin or before the end are findings, and so are uses of what
 * was taken back.  A block that begins where another lives ends that one.
 */
static inline void syncwatch_block_begin(const void *address, size_t bytes, void *stream)
{
	syncwatch_call(SYNCWATCH_BLOCK_BEGIN, address, bytes, stream, NULL);
}
static inline void syncwatch_block_end(const void *address, void *stream)
{
	syncwatch_call(SYNCWATCH_BLOCK_END, address, 0, stream, NULL);
}

/* Accesses that lie in these bytes are not judged, until syncwatch_judge() of them: a flag that streams poll on
 * purpose. */
static inline void syncwatch_ignore(const void *address, size_t bytes)
{
	syncwatch_call(SYNCWATCH_IGNORE, address, bytes, SYNCWATCH_HOST, NULL);
}
static inline void syncwatch_judge(const void *address, size_t bytes)
{
	syncwatch_call(SYNCWATCH_JUDGE, address, bytes, SYNCWATCH_HOST, NULL);
}

/*
 * An order that CUDA does not know of (a kernel that waits for another one through memory): what the stream was given
 * before happens_before(tag) comes before what the other one is given after happens_after(tag).  The latest
 * happens_before counts.  `tag` is any address of the program's.
 */
static inline void syncwatch_happens_before(const void *tag, void *stream)
{
	syncwatch_call(SYNCWATCH_BEFORE, tag, 0, stream, NULL);
}
static inline void syncwatch_happens_after(const void *tag, void *stream)
{
	syncwatch_call(SYNCWATCH_AFTER, tag, 0, stream, NULL);
}

/*
 * Windows: what the program does between start and stop is recorded and judged, whatever --capture, --delay and
 * --duration say; after stop only creations, allocations, frees and the like are, at a cost of nanoseconds a call.  Of
 * the whole process, from the next call of each thread on.  May be called before the first call of CUDA.
 */
static inline void syncwatch_record_start(void)
{
	syncwatch_record(1);
}
static inline void syncwatch_record_stop(void)
{
	syncwatch_record(2);
}
/* Is a window open?  0 too where the program does not run under syncwatch. */
static inline int syncwatch_recording(void)
{
	return syncwatch_record(3);
}

/* How reports call a stream, and the allocation (or block) that starts at an address.  The text is copied. */
static inline void syncwatch_name_stream(void *stream, const char *name)
{
	syncwatch_call(SYNCWATCH_NAME_STREAM, NULL, 0, stream, name);
}
static inline void syncwatch_name_buffer(const void *address, const char *name)
{
	syncwatch_call(SYNCWATCH_NAME_BUFFER, address, 0, SYNCWATCH_HOST, name);
}

/*
 * Calls that a block must not make.
 *
 *     int token = syncwatch_forbid_begin("wait,alloc");
 *     ...
 *     struct syncwatch_forbidden call;
 *     if (syncwatch_forbid_end(token, &call) > 0)
 *             fail("%s (%s) took %llu ns", call.api, call.kind, call.ns);
 *
 * Kinds, with commas between: wait (the host is blocked by the device, by the call's nature, whether anything is
 * pending or not), alloc, free, pin, load, pageable, any: doc/no-waits.md.  device-wait is known to the report alone.
 * A block belongs to its thread: calls of others are not in it.  Blocks may lie in each other, 16 deep.  A call that
 * fails counts for nothing.
 */
struct syncwatch_forbidden {
	const char *kind, *api; /* "wait", "cuStreamSynchronize"; constant */
	unsigned long long ns;	/* host time in the call */
};
/* Called for each, when it returns, on its thread.  What it calls of CUDA is not recorded. */
typedef void syncwatch_forbidden_function(void *arg, const struct syncwatch_forbidden *call);
/* Results below 0. */
enum { SYNCWATCH_NOT_CHECKED = -1, SYNCWATCH_UNKNOWN_KIND = -2 };

struct syncwatch_gate {
	int (*begin)(const char *kinds, syncwatch_forbidden_function *tell, void *arg);
	long (*end)(int token, struct syncwatch_forbidden *first, unsigned long long *calls);
};
static inline const struct syncwatch_gate *syncwatch_find_gate(void)
{
	const struct syncwatch_gate *gate = NULL;
	syncwatch_call(SYNCWATCH_GATE, &gate, sizeof gate, NULL, NULL);
	return gate;
}

/* A token above 0.  SYNCWATCH_NOT_CHECKED: the program does not run under syncwatch, or blocks lie too deep. */
static inline int syncwatch_forbid_begin(const char *kinds)
{
	const struct syncwatch_gate *gate = syncwatch_find_gate();
	return gate ? gate->begin(kinds, NULL, NULL) : (int)SYNCWATCH_NOT_CHECKED;
}
/* Ends the block, and those inside of it that have not ended.  How many calls were forbidden; *first (may be NULL) is
   the first of them.  SYNCWATCH_NOT_CHECKED: none was looked at, or not all as recording was paused, or the token is of
   no block of this thread. */
static inline long syncwatch_forbid_end(int token, struct syncwatch_forbidden *first)
{
	const struct syncwatch_gate *gate = token > 0 ? syncwatch_find_gate() : NULL;
	return gate ? gate->end(token, first, NULL) : (long)SYNCWATCH_NOT_CHECKED;
}

#ifdef __cplusplus
}
#endif

#endif
