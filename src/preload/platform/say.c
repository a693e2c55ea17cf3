/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "preload/platform/sys.h"

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
	line[n++] = '\n';
	sw_sys_write(2, line, n);
	errno = saved;
}
