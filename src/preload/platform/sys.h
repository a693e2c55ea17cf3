/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of the recorder, through syscall(2) and nothing else: libc's open() and posix_fallocate() are
 * cancellation points, and a thread of the program that is cancelled inside the recorder would leave its lock taken.
 *
 * All return a value >= 0 or -errno and leave errno alone.  tests/fault replaces this file to make the n-th one fail.
 */
#ifndef SW_PRELOAD_PLATFORM_SYS_H
#define SW_PRELOAD_PLATFORM_SYS_H

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
int sw_sys_truncate(int fd, uint64_t bytes);
int sw_sys_fcntl(int fd, int command, long argument);

/* Blocks for [offset, offset + bytes) of the file, so that no store into a mapping of it can raise SIGBUS. */
int sw_sys_allocate(int fd, uint64_t offset, uint64_t bytes);

/* A shared, writable mapping of a file; fd < 0: private anonymous memory. NULL when out of memory or of mappings;
   then *error is -errno. */
void *sw_sys_map(int fd, uint64_t offset, size_t bytes, int *error);
void sw_sys_unmap(void *at, size_t bytes);
int sw_sys_madvise(void *at, size_t bytes, int advice);

/* Waits while *word == value, at most until the timeout (relative; NULL: for ever). Wakes are process-private. */
int sw_sys_wait(const uint32_t *word, uint32_t value, const struct timespec *timeout);
void sw_sys_wake(const uint32_t *word, int threads);

/* Blocks every signal, those of glibc's thread cancellation included; gives back the old mask. */
uint64_t sw_sys_block_signals(void);
void sw_sys_set_signals(uint64_t mask);

/* Creates the helper thread. 0 or -errno. */
int sw_sys_thread(void *(*body)(void *), size_t stack_bytes);

#endif
