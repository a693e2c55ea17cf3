/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of the interpreter's memory: a bad address fails the read and nothing else. */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/python/python.h"

/* Copies memory of this process by a system call, which fails where an ordinary load would be a fault.  `number`:
   process_vm_readv, or process_vm_writev for the other direction. */
static bool copy_from(long number, const void *at, void *here, size_t bytes)
{
	const struct iovec local = {here, bytes}, remote = {(void *)(uintptr_t)at, bytes};
	const int saved = errno;
	const long got = syscall(number, (long)getpid(), &local, 1l, &remote, 1l, 0l);
	errno = saved;
	return got == (long)bytes;
}

/* Copies memory of this process that may not be there; false: it is not. */
bool sw_python_read(const void *at, void *out, size_t bytes)
{
	return copy_from(SYS_process_vm_readv, at, out, bytes);
}

/* Can this process read its own memory by a system call at all?  Containers may forbid that. */
bool sw_python_readable(void)
{
	const uint64_t known = 0x5357505954484f4eull;
	uint64_t seen = 0;
	return sw_python_read(&known, &seen, sizeof seen) && seen == known;
}

/* Writes the byte that is there already: a page that may not be written makes that fail. */
bool sw_python_writable(const void *at)
{
	uint8_t byte;
	return sw_python_read(at, &byte, 1) && copy_from(SYS_process_vm_writev, at, &byte, 1);
}
