/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/bypass.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/platform/sys.h"

/* /dev/nvidia-uvm is opened by the CUDA driver alone; /dev/nvidia0 also by tools that only look at the GPU (NVML). */
static bool is_cuda_device(const char *descriptor)
{
	char link[64], target[64];
	snprintf(link, sizeof link, "/proc/self/fd/%.16s", descriptor);
	ssize_t got = readlink(link, target, sizeof target - 1);
	target[got > 0 ? got : 0] = 0;
	return strcmp(target, "/dev/nvidia-uvm") == 0;
}

struct entry { /* as getdents64 fills it: struct dirent64 of the kernel */
	uint64_t inode;
	int64_t next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

bool sw_bypass_gpu_open(void)
{
	char buffer[2048] __attribute__((aligned(8)));
	bool found = false;
	long got;
	int fd = sw_sys_open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	/* Not opendir(): it allocates, and at exit the program's allocator may have been torn down. */
	while (!found && (got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
		for (long at = 0; !found && at < got; at += ((struct entry *)(buffer + at))->bytes)
			found = is_cuda_device(((struct entry *)(buffer + at))->name);
	sw_sys_close(fd);
	return found;
}
