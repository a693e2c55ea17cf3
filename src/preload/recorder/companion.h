/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How companion objects reach the recorder.  Features for options and libraries are in objects of their own next to
 * libsyncwatch.so, so that a program recorded without them has none of their interpositions.  A companion finds
 * syncwatch_companion() with dlsym(RTLD_DEFAULT) and is inert without it.
 *
 * The functions of the table are those of recorder.h and keep its rules.
 */
#ifndef SW_PRELOAD_RECORDER_COMPANION_H
#define SW_PRELOAD_RECORDER_COMPANION_H

#include "preload/platform/named_function.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/window.h"

struct sw_writer;

#define SW_COMPANION_VERSION 11u /* both sides are built together: any difference is a mixed installation */

/* Functions of a companion that the recorder calls.  Each is called on the thread of the call; none may call CUDA, but
   through pointers of driver(). */
struct sw_companion_hooks {
	/* A record is complete and not yet overwritten: before the call where SW_RF_PENDING says so.  NULL: one was
	 * lost. */
	void (*published)(const struct sw_rec *rec);
	/* The parameter block of the LAUNCH that is published next; may lie in the program's memory. */
	void (*parameters)(const void *block, size_t bytes);
	/* The call of the records published since the last time has returned. */
	void (*left)(int status);
};

/* NULL: no companion.  Those of the gate are set while other threads record: only the functions below read it. */
extern const struct sw_companion_hooks *sw_companion_hooks __attribute__((visibility("hidden")));

static inline bool sw_companion_hooked(void)
{
	return __atomic_load_n(&sw_companion_hooks, __ATOMIC_RELAXED) != NULL;
}

static inline const struct sw_companion_hooks *sw_companion_hooks_now(void)
{
	return __atomic_load_n(&sw_companion_hooks, __ATOMIC_ACQUIRE);
}

extern void (*sw_companion_begun)(void) __attribute__((visibility("hidden"))); /* NULL: no companion waits for it */

/* Called with the id of each call's native stack while the writer is being changed; returns the id to record. */
typedef uint32_t sw_companion_stacks(struct sw_writer *w, uint32_t native);
extern sw_companion_stacks *sw_companion_join __attribute__((visibility("hidden"))); /* NULL: none */

extern sw_look_up *sw_companion_names; /* NULL: none */

/* Functions of intercept/driver.h; NULL in an object without that part. */
void *sw_dlsym_call(void *handle, const char *name) __attribute__((weak));
void *sw_driver_resolve(uint32_t id) __attribute__((weak));
void *sw_driver_replace(uint32_t id, void *function) __attribute__((weak));
/* A function of intercept/function_table.h, likewise. */
uint32_t sw_functions_known(void) __attribute__((weak));

struct sw_companion {
	bool (*enter)(struct sw_call *call, uint16_t api, uint16_t flags, void *frame);
	void *(*record)(struct sw_call *call, enum sw_rec_kind kind, size_t bytes);
	void *(*record_after)(struct sw_call *call, enum sw_rec_kind kind, size_t bytes, int status);
	void (*publish)(struct sw_call *call);
	void (*leave)(struct sw_call *call, int status);
	void (*end)(struct sw_call *call, int status);
	void *(*describe)(enum sw_rec_kind kind, size_t bytes, bool ordered);
	void (*described)(void *rec);
	void (*notice)(const char *text);
	bool (*recording)(void);
	bool (*inside)(void);		       /* a call of this thread is being recorded: calls made now are not */
	void (*begun)(void (*function)(void)); /* called whenever recording begins; at once where it has: one at most */
	/* `others`: becomes the hooks that were set before, which the new ones must call, before a thread meets these;
	   NULL: none. */
	void (*hook)(const struct sw_companion_hooks *hooks, const struct sw_companion_hooks **others);
	bool (*nested)(const void *frame); /* the same for a function with this frame, a signal handler or not */
	bool (*host_sync)(enum sw_thread_op op, enum sw_through kind, uint64_t object);
	void (*host_sync_on)(void);
	struct sw_thread *(*thread)(void);
	const struct sw_preload_options *(*options)(void);
	const struct sw_file_header *(*header)(void); /* NULL: no trace */
	void (*file_flags)(uint32_t flags);	      /* adds SW_FILE_* to the header */
	void (*stacks)(sw_companion_stacks *join);
	/* For that function: sw_writer_describe(), sw_writer_commit(). */
	struct sw_rec *(*writer_describe)(struct sw_writer *w, enum sw_rec_kind kind, size_t bytes, bool ordered);
	void (*writer_commit)(struct sw_writer *w);
	/* The real function by its index in cuda.def: what it is called for is not recorded.  NULL: there is none. */
	void *(*driver)(uint32_t id);
	/* Return addresses of the call in progress, innermost first; options()->depth of them are recorded.  Only in
	   hooks of calls. */
	uint32_t (*frames)(const uint64_t **ips);
	/* From now on the wrapper of this entry point calls `function`; returns the real one.  NULL: there is none, and
	   nothing changed.  Once a call was recorded: only then is it known where the driver is. */
	void *(*replace)(uint32_t id, void *function);
	uint32_t (*functions)(void); /* ids of FUNCTION records so far: the next one has a higher id */
	/* Functions of window.h. */
	struct sw_companion_windows {
		bool (*paused)(void); /* records of hot calls are left out */
		void (*push)(uint64_t domain, bool named);
		void (*pop)(uint64_t domain);
		void (*start)(uint64_t id, bool named);
		void (*stop)(uint64_t id);
		void (*ask_python)(sw_window_inside *inside);
	} windows;
	struct sw_look_ups look_ups; /* real: NULL without the part of the object that has a dlsym() */
};

/* NULL: the versions differ.  Any thread, any time; the table is constant. */
const struct sw_companion *syncwatch_companion(uint32_t version) __attribute__((visibility("default")));

/* Finds a symbol of a companion that lies next to us, and loads the companion for it; NULL: it is missing.  Takes the
 * loader's lock. */
void *sw_companion_symbol(const char *file, const char *name);

#endif
