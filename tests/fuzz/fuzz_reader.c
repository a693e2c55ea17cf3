/* SPDX-License-Identifier: Apache-2.0 */
/* A whole trace file of any bytes: read, every record and dictionary dumped. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "report/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct sw_reader *reader;
	struct sw_error error;
	char path[32];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (fd < 0 || !nowhere || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!sw_reader_open(path, &reader, &error)) {
		if (sw_dump(nowhere, reader, &(struct sw_dump_options){0}, &error))
			abort(); /* a file that opens is read to its end */
		sw_reader_close(reader);
	}
	close(fd);
	return 0;
}
