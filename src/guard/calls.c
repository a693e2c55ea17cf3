/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of libc that hand buffers to the kernel, the begin of the object, and fork, exec and spawn. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arch.h"
#include "guard/guard.h"
#include "preload/platform/lock.h"

/* How the guard finds the recorder, and the lock around what both work on. */

const struct sw_companion *sw_guard_recorder;
const struct sw_companion_hooks *sw_guard_others;
static struct sw_lock lock;

uint64_t sw_guard_lock(void)
{
	return sw_lock_enter(&lock);
}

void sw_guard_unlock(uint64_t mask)
{
	sw_lock_leave(&lock, mask);
}

/* In a fork child, which has no other thread: frees the lock that one of the parent may have held. */
static void guard_lock_renew(void)
{
	lock = (struct sw_lock){0};
}

/* The function of this name that comes after ours, mostly libc's. */
void *sw_guard_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Both objects are preloaded, ours last: the recorder is there, whichever constructor runs first. It reads its
   options when it starts, which may be later; the preloaded guard shows that it was requested. */
static __attribute__((constructor)) void attach(void)
{
	const struct sw_companion *(*find)(uint32_t) =
		(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");

	sw_guard_recorder = find ? find(SW_COMPANION_VERSION) : NULL;
	if (sw_guard_recorder)
		sw_guard_recorder->hook(&sw_guard_hooks, &sw_guard_others);
}

/*
 * Children.  One of fork has the mappings of its parent, so its pages are released there, before any handler of the
 * program runs; one of _Fork or clone does it at its first fault, as the handler is there too.  A child of vfork works
 * in its parent's memory, where the parent's handler serves it.  Strings for exec and spawn are read by the kernel.
 */

static uint64_t before;

/* Forking with the lock held, so that the child finds the tables whole. */
static void before_fork(void)
{
	before = sw_guard_lock();
}

/* After fork(), in the parent: gives the lock back. */
static void after_fork(void)
{
	sw_guard_unlock(before);
}

/* In the child, which has no other thread and no work on a device: all pages are its own again. */
static void in_child(void)
{
	uint64_t mask = before;
	guard_lock_renew();
	sw_guard_lock();
	sw_pages_release_all();
	sw_work_forget();
	sw_guard_unlock(mask);
}

/* fork() of the program runs these three. */
static __attribute__((constructor)) void start(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* Before exec or spawn: the kernel reads the strings, which may lie on protected pages. */
static void release_pages(void)
{
	if (!sw_pages_any())
		return;
	uint64_t mask = sw_guard_lock();
	sw_pages_release_all();
	sw_guard_unlock(mask);
}

#define LEAVING(type, name, parameters, arguments)                                                                     \
	SW_EXPORT type name parameters                                                                                 \
	{                                                                                                              \
		static __typeof__(&name) real;                                                                         \
		SW_NEXT(real, #name);                                                                                  \
		release_pages();                                                                                       \
		return real arguments;                                                                                 \
	}
LEAVING(int, execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
LEAVING(int, execv, (const char *path, char *const argv[]), (path, argv))
LEAVING(int, execvp, (const char *file, char *const argv[]), (file, argv))
LEAVING(int, execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
LEAVING(int, fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))
LEAVING(int, posix_spawn,
	(pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
	 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const envp[restrict]),
	(pid, path, actions, attributes, argv, envp))
LEAVING(int, posix_spawnp,
	(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *restrict actions,
	 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const envp[restrict]),
	(pid, file, actions, attributes, argv, envp))
LEAVING(int, system, (const char *command), (command))
LEAVING(FILE *, popen, (const char *command, const char *mode), (command, mode))

/*
 * Calls of libc that hand buffers to the kernel: the pages are released before the call and stay so until it has
 * returned, since the kernel answers EFAULT where it may not write.  What the call touched is recorded after it, when
 * it is known how many bytes that was.
 *
 * Not seen: system calls made without libc, io_uring, libc's own threads (aio, getaddrinfo_a).
 */
#undef _FORTIFY_SOURCE /* its inline functions have the names of ours */
#include "guard/guard.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Parts of a vector that are looked at; what lies beyond is not protected while any is. */
#define PARTS 16u

struct part {
	uint64_t at, bytes;
	bool hit;
};

struct call {
	uint32_t n;
	bool any, writes; /* any: of it lies in buffers of ours */
	bool all;	  /* more parts than we look at */
	struct part part[PARTS];
};

/* Before a call: releases the pages of all its buffers and keeps them released until finish_access().  part.hit: work
   in flight uses the bytes in a way that this access conflicts with. */
static void begin_access(struct call *c)
{
	const uint64_t page = sw_arch_page_bytes();
	uint64_t mask = sw_guard_lock();
	for (uint32_t i = 0; i < c->n; i++) {
		struct part *p = &c->part[i];
		if (p->bytes && sw_buffers_next(p->at & -page, (p->at + p->bytes + page - 1) & -page)) {
			c->any = true;
			p->hit = sw_pages_release(p->at, p->at + p->bytes, c->writes);
			sw_pages_busy(p->at, p->at + p->bytes, true);
		} else {
			p->bytes = 0;
		}
	}
	if (c->all)
		sw_pages_release_all();
	sw_guard_unlock(mask);
}

/* The call has returned: its pages may be protected again. */
static void finish_access(struct call *c)
{
	uint64_t mask = sw_guard_lock();
	for (uint32_t i = 0; i < c->n; i++)
		if (c->part[i].bytes)
			sw_pages_busy(c->part[i].at, c->part[i].at + c->part[i].bytes, false);
	sw_guard_unlock(mask);
}

/* After a call that worked on `done` bytes: records each part that hit.  Kept out of the wrappers: `lengths` holds the
   parts' true lengths, which begin_access() may have cleared. */
static void record_parts(const struct call *c, const uint64_t lengths[PARTS], uint64_t done, void *frame)
{
	int saved = errno;
	for (uint32_t i = 0; i < c->n && done; i++) {
		uint64_t bytes = lengths[i] < done ? lengths[i] : done;
		if (c->part[i].hit && bytes)
			sw_fault_record(c->part[i].at, bytes, 0, SW_HOST_CALL | (c->writes ? SW_HOST_WRITES : 0),
					frame);
		done -= bytes;
	}
	errno = saved;
}

/* Is the recorder there, and has it begun? */
static bool is_watched(void)
{
	return sw_guard_recorder && sw_guard_recorder->recording();
}

/* The only buffer of a call; the rest of *c is zero. */
static void set_buffer(struct call *c, const void *at, uint64_t bytes, bool writes)
{
	c->n = 1;
	c->writes = writes;
	c->part[0] = (struct part){(uint64_t)(uintptr_t)at, bytes, false};
}

/* The buffers of readv() and its like, of which PARTS fit. */
static void set_vector(struct call *c, const struct iovec *v, size_t n, bool writes)
{
	c->writes = writes;
	c->all = n > PARTS;
	for (size_t i = 0; i < n && i < PARTS; i++)
		c->part[c->n++] = (struct part){(uint64_t)(uintptr_t)v[i].iov_base, v[i].iov_len, false};
}

#define UNPAREN(...)	  __VA_ARGS__
#define APPLY(macro, ...) macro(__VA_ARGS__)

#define GATHER_IN(at, n)	     set_buffer(&call, at, n, false)
#define GATHER_OUT(at, n)	     set_buffer(&call, at, n, true)
#define GATHER_IN_EACH(at, n, each)  set_buffer(&call, at, (n) * (each), false)
#define GATHER_OUT_EACH(at, n, each) set_buffer(&call, at, (n) * (each), true)
#define GATHER_IN_VECTOR(v, n)	     set_vector(&call, v, (size_t)(n), false)
#define GATHER_OUT_VECTOR(v, n)	     set_vector(&call, v, (size_t)(n), true)
#define GATHER_TEXT(s)		     set_buffer(&call, s, strlen(s) + 1, false)
#define GATHER_SMALL(at, n)	     set_buffer(&call, at, n, true)

/* How many bytes it worked on, by what it returned. */
#define DONE_IN(...)		   ((int64_t)got > 0 ? (uint64_t)got : 0)
#define DONE_OUT(...)		   DONE_IN()
#define DONE_IN_VECTOR(...)	   DONE_IN()
#define DONE_OUT_VECTOR(...)	   DONE_IN()
#define DONE_IN_EACH(at, n, each)  ((uint64_t)got * (each))
#define DONE_OUT_EACH(at, n, each) ((uint64_t)got * (each))
#define DONE_TEXT(s)		   ((int)got >= 0 ? call.part[0].bytes : 0)
#define DONE_SMALL(...)		   0

#define CALL(type, name, parameters, arguments, how, what)                                                             \
	SW_EXPORT type(name) parameters;                                                                               \
	SW_EXPORT type(name) parameters                                                                                \
	{                                                                                                              \
		static __typeof__(&name) real;                                                                         \
		struct call call = {0};                                                                                \
		uint64_t lengths[PARTS];                                                                               \
		SW_NEXT(real, #name);                                                                                  \
		if (__builtin_expect(!is_watched(), 1))                                                                \
			return real arguments;                                                                         \
		APPLY(GATHER_##how, UNPAREN what);                                                                     \
		for (uint32_t i = 0; i < call.n; i++)                                                                  \
			lengths[i] = call.part[i].bytes;                                                               \
		begin_access(&call);                                                                                   \
		type got = real arguments;                                                                             \
		if (call.any) {                                                                                        \
			finish_access(&call);                                                                          \
			record_parts(&call, lengths, APPLY(DONE_##how, UNPAREN what), __builtin_frame_address(0));     \
		}                                                                                                      \
		return got;                                                                                            \
	}
#include "guard/calls.def"

/* A request says how long its argument is, if it says so at all. */
SW_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	SW_NEXT(real, "ioctl");
	if (sw_pages_any() && is_watched()) {
		uint64_t at = (uint64_t)(uintptr_t)argument, bytes = request >> 16 & 0x3fff;
		uint64_t mask = sw_guard_lock();
		sw_pages_release(at, at + bytes + 1, true);
		sw_guard_unlock(mask);
	}
	return real(fd, request, argument);
}

/* A stream's own buffer is filled by every call on it. */
SW_EXPORT int setvbuf(FILE *restrict file, char *restrict at, int mode, size_t bytes)
{
	static int (*real)(FILE *, char *, int, size_t);
	SW_NEXT(real, "setvbuf");
	if (at && is_watched()) {
		uint64_t from = (uint64_t)(uintptr_t)at, mask = sw_guard_lock();
		struct sw_buffer *b = sw_buffers_next(from, from + bytes);
		sw_pages_release(from, from + bytes, true);
		if (b)
			b->off = true;
		sw_guard_unlock(mask);
	}
	return real(file, at, mode, bytes);
}
