/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind tests whether memory can be read by writing a byte of it into a pipe of its own, and opens that pipe in the
 * program's descriptor table.  A program that closes every descriptor, and then opens files of its own under the same
 * numbers, would lose a byte of its input and find a byte of its stack in its output; libunwind closes what lies there,
 * too.  So its pipe2() gives it a number that no process has, and its read() and write() of that number test the memory
 * in another way.
 */
#include "preload/platform/seldom.h"

#include "preload/stacks/unwind.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/platform/loaded_object.h"
#include "preload/platform/sys.h"

#define NO_DESCRIPTOR 0x7fffff00

static int no_pipe(int out[2])
{
	out[0] = out[1] = NO_DESCRIPTOR;
	return 0;
}

static int no_pipe2(int out[2], int flags)
{
	(void)flags;
	return no_pipe(out);
}

/* Nothing is in the pipe; it need not be opened again. */
static ssize_t empty_read(int fd, void *to, size_t bytes)
{
	if (fd != NO_DESCRIPTOR)
		return read(fd, to, bytes);
	errno = EAGAIN;
	return -1;
}

static ssize_t probing_write(int fd, const void *from, size_t bytes)
{
	if (fd != NO_DESCRIPTOR)
		return write(fd, from, bytes);
	if (sw_sys_readable(from))
		return 1;
	errno = EFAULT;
	return -1;
}

static long probing_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_write && a == NO_DESCRIPTOR)
		return probing_write((int)a, (const void *)(uintptr_t)b, (size_t)c);
	return syscall(number, a, b, c, d, e, f);
}

static const struct {
	const char *name;
	void *function;
} instead[] = {
	{"pipe", (void *)no_pipe},	  {"pipe2", (void *)no_pipe2},	     {"read", (void *)empty_read},
	{"write", (void *)probing_write}, {"syscall", (void *)probing_call},
};

static void redirect(const char *name, void **slot, void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
		if (strcmp(name, instead[i].name) == 0)
			sw_object_set_import(slot, instead[i].function);
}

void sw_unwind_without_pipe(const void *inside)
{
	struct sw_loaded_object library;
	if (sw_object_of(inside, &library))
		sw_object_imports(&library, redirect, NULL);
}
