/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: keeps a program in its end, after the recorder's, until somebody has opened the FIFO that LATE_END names
 * for writing and closed it again.  So does the kernel with a process that used a GPU: it takes long to take it apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((destructor)) void wait_at_the_end(void)
{
	const char *path = getenv("LATE_END");
	char unused;
	if (!path || strcmp(program_invocation_short_name, "long_job") != 0)
		return;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && read(fd, &unused, 1) > 0)
		continue;
	close(fd);
}
