/* SPDX-License-Identifier: Apache-2.0 */
/* Making the trace file: its name, and its first page. */
#include "preload/platform/seldom.h"

#include "preload/recorder/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/name_pattern.h"
#include "preload/platform/isolated_thread.h"
#include "preload/platform/sys.h"
#include "preload/recorder/memory.h"
#include "preload/recorder/recorder.h"
#include "config.h"

/* So many names are tried one after the other, then as many that no other process tries. */
#define SW_NAME_TRIES 100u

/* "syncwatch-PROGRAM-PID.swt", the program's name without anything that a shell would mind. */
static void default_name(char *out, size_t room)
{
	char program[65];
	size_t n = 0;
	for (const char *p = program_invocation_short_name; *p && n < sizeof program - 1; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
			     *p == '_' || (n && (*p == '.' || *p == '-' || *p == '+'));
		program[n++] = plain ? *p : '_';
	}
	program[n] = 0;
	snprintf(out, room, "syncwatch-%s-%d.swt", program, (int)getpid());
}

/* FILE.swt, FILE-2.swt, FILE-3.swt ...  A program that execs another keeps its pid. */
static int name_try(char *out, size_t room, const char *path, unsigned number)
{
	size_t n = strlen(path), stem = n > 4 && strcmp(path + n - 4, ".swt") == 0 ? n - 4 : n;
	int got = number == 1 ? snprintf(out, room, "%s", path)
			      : snprintf(out, room, "%.*s-%u%s", (int)stem, path, number, path + stem);
	return got > 0 && (size_t)got < room ? 0 : -ENAMETOOLONG;
}

static bool host_sync;

void sw_host_sync_on(void)
{
	__atomic_store_n(&host_sync, true, __ATOMIC_SEQ_CST);
	struct sw_file_header *header = sw_trace.header;
	if (header)
		__atomic_fetch_or(&header->flags, SW_FILE_HOST_SYNC, __ATOMIC_RELAXED);
}

static void fill(struct sw_file_header *h, uint64_t ticks_per_second)
{
	memcpy(h->magic, SW_FORMAT_MAGIC, sizeof h->magic);
	h->major = SW_FORMAT_MAJOR;
	h->minor = SW_FORMAT_MINOR;
	h->byte_order = SW_FORMAT_BYTE_ORDER;
	h->header_bytes = SW_FORMAT_HEADER_BYTES;
	h->chunk_bytes = SW_CHUNK_BYTES;
	h->flags = (sw_clock_is_tsc ? SW_FILE_TSC : 0u) | (host_sync ? SW_FILE_HOST_SYNC : 0u);
	h->pid = (uint32_t)getpid();
	h->ppid = (uint32_t)getppid();
	h->ticks_per_second = ticks_per_second;
	sw_trace.start = sw_clock_read();
	h->start_ticks = sw_trace.start.ticks;
	h->start_monotonic_ns = sw_trace.start.monotonic_ns;
	h->start_realtime_ns = sw_clock_ns(CLOCK_REALTIME);
	strncpy(h->recorder_version, PACKAGE_VERSION, sizeof h->recorder_version - 1);
}

/* The file and its first page. -EEXIST: the name is taken. */
static int create(void)
{
	struct stat s;
	int fd = sw_isolated_open(sw_trace.file.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	int error = sw_sys_fstat(fd, &s);
	if (!error)
		error = sw_trace_over_file_limit(SW_FORMAT_HEADER_BYTES) ? -EFBIG : 0;
	if (!error)
		error = sw_sys_allocate(fd, 0, SW_FORMAT_HEADER_BYTES);
	const int memory = error || !sw_trace.memory.inode ? -1 : sw_trace_borrow(&sw_trace.memory);
	if (!error && memory < 0)
		sw_memory_drop();
	if (!error)
		sw_trace.header = sw_sys_map(memory < 0 ? fd : memory, 0, SW_FORMAT_HEADER_BYTES, &error);
	if (memory >= 0)
		sw_trace_return(&sw_trace.memory, memory);
	if (error) {
		sw_sys_unlink(sw_trace.file.path); /* an empty file is of no use */
		sw_memory_drop();
	}
	sw_trace.file.device = error ? 0 : s.st_dev;
	sw_trace.file.inode = error ? 0 : s.st_ino;
	if (!error && sw_isolated_here())
		sw_trace.file.fd = fd;
	else
		sw_sys_close(fd);
	return error;
}

static void create_isolated(void *error)
{
	*(int *)error = create();
}

static int create_some(const char *path)
{
	int error = -EEXIST;
	for (unsigned try = 1; try <= 2 * SW_NAME_TRIES && error == -EEXIST; try++) {
		const unsigned number = try <= SW_NAME_TRIES ?
		try : try
			+(unsigned)getpid();
		error = name_try(sw_trace.file.path, sizeof sw_trace.file.path, path, number);
		if (!error)
			sw_isolated_run(create_isolated, &error);
	}
	return error;
}

static void discard(void *unused)
{
	(void)unused;
	sw_sys_unlink(sw_trace.file.path);
	atomic_store(&sw_trace.ended, true);
}

void sw_trace_discard(void)
{
	sw_isolated_run(discard, NULL);
}

int sw_trace_open(const char *asked, const char *directory, uint64_t max_bytes)
{
	char name[sizeof sw_trace.file.path], path[sizeof sw_trace.file.path];
	if (!*asked)
		default_name(name, sizeof name);
	else if (sw_name_expand(name, sizeof name, asked))
		return -ENAMETOOLONG;
	asked = name;
	bool relative = asked[0] != '/' && directory[0];
	if ((size_t)snprintf(path, sizeof path, "%s%s%s", relative ? directory : "", relative ? "/" : "", asked) >=
	    sizeof path)
		return -ENAMETOOLONG;
	uint64_t rate = sw_clock_start();
	sw_trace.max_chunks =
		max_bytes > SW_FORMAT_HEADER_BYTES ? (max_bytes - SW_FORMAT_HEADER_BYTES) / SW_CHUNK_BYTES : 0;
	sw_trace.file.fd = -1;
	if (sw_trace.memory.inode)
		sw_memory_name();
	int error = create_some(path);
	if (error)
		atomic_store(&sw_trace.ended, true);
	else
		fill(sw_trace.header, rate);
	if (!error && sw_trace.memory.inode)
		sw_trace.header->flags |= SW_FILE_BEHIND;
	return error;
}
