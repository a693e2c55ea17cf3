/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/platform/say.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "preload/platform/sys.h"

/* Writes to a pipe or terminal without waiting: its reader may be slow, or have ended.  Bytes or -errno. */
static long write_to_reader(const char *line, size_t n)
{
	long got = sw_sys_write_now(2, line, n);
	if (got > 0 || got == -EAGAIN || got == -EPIPE)
		return got;
	/* Kernels that cannot do that: another open file of the same pipe or terminal, which does not wait. */
	int fd = sw_sys_open("/proc/thread-self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (fd >= 0) {
		got = sw_sys_write(fd, line, n);
		sw_sys_close(fd);
		return got;
	}
	return sw_sys_writable(2) ? sw_sys_write(2, line, n) : -EAGAIN;
}

/* Writes a line to stderr, whatever that is.  One that cannot be written now is dropped: the report says the same once
   more. */
static long write_line(const char *line, size_t n)
{
	struct stat s;
	int error = sw_sys_fstat(2, &s);
	if (error)
		return error == -EBADF ? error : write_to_reader(line, n);
	if (S_ISREG(s.st_mode))
		return sw_sys_write(2, line, n);
	if (S_ISSOCK(s.st_mode))
		return sw_sys_send(2, line, n);
	if (S_ISFIFO(s.st_mode) || sw_sys_terminal(2))
		return write_to_reader(line, n);
	return sw_sys_writable(2) ? sw_sys_write(2, line, n) : -EAGAIN;
}

/*
 * A pipe without readers raises SIGPIPE, a file above RLIMIT_FSIZE SIGXFSZ, in this thread: they are taken away before
 * it can have them.  With SIGTTOU blocked, a process in the background may write to its terminal.
 */
static void write_quietly(const char *line, size_t n)
{
	const uint64_t raised = SW_SYS_SIGNAL(SIGPIPE) | SW_SYS_SIGNAL(SIGXFSZ), mask = sw_sys_block_signals();
	const uint64_t before = sw_sys_signals_before(mask, raised);
	long got = write_line(line, n);
	if (got == -EPIPE || got == -EFBIG)
		sw_sys_drop_signals(raised, before);
	sw_sys_set_signals(mask);
}

/* Replaces what a terminal would obey by '?', the C1 controls of UTF-8 included: folders and programs have any
   names. */
static void make_plain(unsigned char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (line[i] < 0x20 || line[i] == 0x7f || (line[i] == 0xc2 && i + 1 < n && line[i + 1] < 0xa0))
			line[i] = '?';
		else if (line[i] >= 0x80 && line[i] < 0xa0 && i && line[i - 1] == '?')
			line[i] = '?';
}

/* One line, made in a buffer on the stack and written at once: neither stdio nor malloc is ours to use inside the
   program. */
void sw_say(const char *format, ...)
{
	char line[2048] = "syncwatch: ";
	int saved = errno;
	size_t n = strlen(line);
	va_list arguments;
	va_start(arguments, format);
	int got = vsnprintf(line + n, sizeof line - n - 1, format, arguments); /* into memory: no stream, no malloc */
	va_end(arguments);
	if (got > 0)
		n += (size_t)got < sizeof line - n - 1 ? (size_t)got : sizeof line - n - 2;
	make_plain((unsigned char *)line, n);
	line[n++] = '\n';
	write_quietly(line, n);
	errno = saved;
}
