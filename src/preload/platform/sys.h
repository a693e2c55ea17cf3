/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of the recorder, through syscall(2) and nothing else: libc's open() and posix_fallocate() are
 * cancellation points, and a thread of the program that is cancelled inside the recorder would leave its lock taken.
 *
 * All return a value >= 0 or -errno and leave errno alone.  tests/fault replaces this file to make the n-th one fail.
 */
#ifndef SW_PRELOAD_PLATFORM_SYS_H
#define SW_PRELOAD_PLATFORM_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

int sw_sys_open(const char *path, int flags, unsigned mode);
int sw_sys_close(int fd);
int sw_sys_unlink(const char *path);
int sw_sys_fstat(int fd, struct stat *out);
long sw_sys_read(int fd, void *data, size_t bytes);
long sw_sys_write(int fd, const void *data, size_t bytes);
/* Writes only if that need not wait; -EAGAIN where it would, -EOPNOTSUPP or others where that is unknown. */
long sw_sys_write_now(int fd, const void *data, size_t bytes);
/* To a socket: without waiting, without SIGPIPE. */
long sw_sys_send(int fd, const void *data, size_t bytes);
/* Can something be written without waiting? */
bool sw_sys_writable(int fd);
bool sw_sys_terminal(int fd);
int sw_sys_truncate(int fd, uint64_t bytes);
int sw_sys_fcntl(int fd, int command, long argument);

/* Blocks for [offset, offset + bytes) of the file, so that no store into a mapping of it can raise SIGBUS.  Above
   RLIMIT_FSIZE it fails without the signal. */
int sw_sys_allocate(int fd, uint64_t offset, uint64_t bytes);

/* Allocates blocks beyond the end of the file, whose size stays: harmless to a file that is not ours. -EOPNOTSUPP: not
   here. */
int sw_sys_reserve(int fd, uint64_t offset, uint64_t bytes);
int sw_sys_resize(const char *path, uint64_t bytes);

/* A file in memory that cannot be made shorter. -errno. */
int sw_sys_memory(const char *name);
long sw_sys_read_at(int fd, void *data, size_t bytes, uint64_t offset);
long sw_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset);
/* Where the file holds something, from the offset on; -ENXIO: nowhere. */
int64_t sw_sys_next_data(int fd, uint64_t offset);
/* Frees that part of a file in memory. */
int sw_sys_punch(int fd, uint64_t offset, uint64_t bytes);
/* Bytes of the file system that the file is on, and of them those that this process may still use. 0 or -errno. */
int sw_sys_space(int fd, uint64_t *total, uint64_t *available);

/* A shared, writable mapping of a file; fd < 0: private anonymous memory. NULL when out of memory or of mappings;
   then *error is -errno. */
void *sw_sys_map(int fd, uint64_t offset, size_t bytes, int *error);
void sw_sys_unmap(void *at, size_t bytes);
int sw_sys_madvise(void *at, size_t bytes, int advice);

/* Copies from memory of this process that may not be there: bytes copied, or -errno. */
long sw_sys_copy(void *to, const void *from, size_t bytes);

/* Can a word be read there? */
bool sw_sys_readable(const void *at);

/* Waits while *word == value, at most until the timeout (relative; NULL: none). Wakes are process-private. */
int sw_sys_wait(const uint32_t *word, uint32_t value, const struct timespec *timeout);
void sw_sys_wake(const uint32_t *word, int threads);

/* Blocks every signal, those of glibc's thread cancellation included; returns the old mask. */
uint64_t sw_sys_block_signals(void);
void sw_sys_set_signals(uint64_t mask);

/*
 * Around a call that may raise signals of `raised` in this thread, with all of them blocked: says which of them are
 * pending already, then takes away the others.  `mask`: the thread's own.
 */
uint64_t sw_sys_signals_before(uint64_t mask, uint64_t raised);
void sw_sys_drop_signals(uint64_t raised, uint64_t before);
#define SW_SYS_SIGNAL(number) (1ull << ((number)-1))

/* False: there is no such thread in this process any more. */
bool sw_sys_thread_lives(int process, int thread);

/* A thread that libc does not know of, with all signals blocked; the kernel clears *thread when it has ended. 0 or
 * -errno. */
int sw_sys_clone(int (*body)(void *), void *stack_top, void *thread_pointer, uint32_t *thread);
/* A child in our memory, which waits until it execs or ends; wait() of the program does not see it.  Its pid or -errno.
 */
int sw_sys_spawn(int (*body)(void *), void *with, void *stack_top);
/* Resets all signals to what a new program has, past libc. */
void sw_sys_default_signals(void);
/* The calling thread gets a descriptor table of its own, and an empty one. 0 or -errno. */
int sw_sys_own_descriptors(void);

/* Names the calling thread. The user id is the kernel's, past libc. */
void sw_sys_name_thread(const char *name);
int sw_sys_user(void);
/* The calling thread alone gets these rights: real, effective and saved ones. */
void sw_sys_become(const unsigned user[3], const unsigned group[3]);

/* Nanoseconds of CLOCK_MONOTONIC, from the kernel whatever stands before clock_gettime(). */
uint64_t sw_sys_monotonic(void);

/* Creates a thread of libc's, whose functions have this much stack. 0 or -errno. */
int sw_sys_thread(void *(*body)(void *), size_t stack_bytes);

#endif
