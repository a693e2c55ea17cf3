/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <stdio.h>

/* Bytes of private, writable memory: VmData in /proc/self/status. */
uint64_t sw_process_data_bytes(void)
{
	unsigned long long kilobytes = 0;
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "VmData: %llu kB", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes << 10;
}
