/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that CUDA's own libraries take are no promise to the program: they must not order its threads.  Most are taken
 * inside a recorded call; those of cudart and of calls that are not recorded are reported by whose code calls.
 *
 * The loader is not asked: its lock may be held by a thread that waits for the very lock that our caller holds.  What
 * the kernel says of an address (/proc/self/maps) is kept, since these libraries are never unloaded.  A static cudart
 * is part of the program and cannot be distinguished from it; its locks may then hide a race, never make one up.
 */
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/strict/strict.h"

#define RANGES 256u

static struct range {
	uintptr_t start, end;
	bool foreign;
} ranges[RANGES];
static uint32_t known; /* of them, only ever more */
static uint32_t adding;

static const char *const names[] = {"libcuda.so", "libcudart.so", "libcupti.so", "libnvidia-", "libsyncwatch"};

static bool is_foreign(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static uintptr_t hexadecimal(const char **text)
{
	uintptr_t value = 0;

	for (;; (*text)++) {
		const char c = **text;
		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* "start-end perms offset dev inode   path": true when the address is in it. */
static bool read_line(const char *line, uintptr_t address, struct range *range)
{
	range->start = hexadecimal(&line);
	line += *line == '-';
	range->end = hexadecimal(&line);
	range->foreign = is_foreign(line);
	return address >= range->start && address < range->end;
}

/* System calls, not libc's functions: those are cancellation points. */
static bool look_up(uintptr_t address, struct range *range)
{
	char text[4096 + 1];
	size_t n = 0;
	ssize_t got = 1;
	bool found = false;
	const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && !found && (got = syscall(SYS_read, fd, text + n, sizeof text - 1 - n)) > 0) {
		char *line = text, *end;
		text[n += (size_t)got] = 0;
		while (!found && (end = strchr(line, '\n'))) {
			*end = 0;
			found = read_line(line, address, range);
			line = end + 1;
		}
		n -= (size_t)(line - text);
		memmove(text, line, n);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

bool sw_strict_foreign(const void *caller)
{
	const uintptr_t address = (uintptr_t)caller;
	const uint32_t n = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
	struct range range;

	for (uint32_t i = 0; i < n; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return ranges[i].foreign;
	if (!look_up(address, &range))
		return false;
	/* A thread that comes while another adds does not wait: the next call will add it. */
	if (n < RANGES && !__atomic_exchange_n(&adding, 1, __ATOMIC_ACQUIRE)) {
		const uint32_t at = __atomic_load_n(&known, __ATOMIC_RELAXED);
		if (at < RANGES) {
			ranges[at] = range;
			__atomic_store_n(&known, at + 1, __ATOMIC_RELEASE);
		}
		__atomic_store_n(&adding, 0, __ATOMIC_RELEASE);
	}
	return range.foreign;
}
