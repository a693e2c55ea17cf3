/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "reader/packed.h"

#define LINES_MAX 100

static void __attribute__((format(printf, 3, 0)))

/* Adds a line of damage; beyond LINES_MAX one that says so. */
add_line(struct sw_damage *damage, uint64_t offset, const char *format, va_list ap)
{
	char text[320];
	if (damage->lines.n > LINES_MAX)
		return;
	if (damage->lines.n == LINES_MAX) {
		*sw_vec_push(&damage->lines) = sw_format(
			"%s: offset %" PRIu64 ": more damage follows and is not listed", damage->path, offset);
		return;
	}
	vsnprintf(text, sizeof text, format, ap);
	*sw_vec_push(&damage->lines) = sw_format("%s: offset %" PRIu64 ": %s", damage->path, offset, text);
}

void sw_damage_add(struct sw_damage *damage, uint64_t offset, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	add_line(damage, offset, format, ap);
	va_end(ap);
	damage->unusable = true;
}

void sw_damage_gap(struct sw_damage *damage, uint64_t offset, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	add_line(damage, offset, format, ap);
	va_end(ap);
}

/* Frees all lines. */
void sw_damage_free(struct sw_damage *damage)
{
	for (size_t i = 0; i < damage->lines.n; i++)
		free(damage->lines.at[i]);
	free(damage->lines.at);
}

/* A chunk is checked in one piece: this bounds the memory that a damaged header can ask for. */
#define CHUNK_MAX (64u << 20)

/* Reads up to `bytes` at `offset` of this descriptor; *got is less only at the end of the file. */
static int read_from(const struct sw_source *source, int fd, uint64_t offset, void *out, size_t bytes, size_t *got,
		     struct sw_error *error)
{
	size_t done = 0;
	while (done < bytes) {
		ssize_t n = pread(fd, (char *)out + done, bytes - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sw_fail(error, -errno, "%s: offset %" PRIu64 ": cannot read: %s", source->path,
				       offset + done, strerror(errno));
		if (!n)
			break;
		done += (size_t)n;
	}
	*got = done;
	return 0;
}

/* Is the chunk of this offset still in the recorder's memory, so that bytes just read from there were its own?  The
   recorder writes a chunk to the file before it takes it out of the memory.  No read crosses the end of a chunk. */
static bool is_in_memory(const struct sw_source *source, uint64_t offset)
{
	const uint64_t header = source->header.header_bytes, bytes = source->header.chunk_bytes;
	uint32_t magic;
	if (offset < header)
		return true;
	offset = header + (offset - header) / bytes * bytes;
	return pread(source->memory, &magic, sizeof magic, (off_t)offset) == sizeof magic && magic;
}

int sw_source_read(const struct sw_source *source, uint64_t offset, void *out, size_t bytes, size_t *got,
		   struct sw_error *error)
{
	size_t there;
	if (source->memory >= 0 && !read_from(source, source->memory, offset, out, bytes, &there, NULL) &&
	    is_in_memory(source, offset)) {
		*got = there;
		return 0;
	}
	return read_from(source, source->fd, offset, out, bytes, got, error);
}

/* Checks the header of a file, of which `got` bytes could be read. */
static int check_header(const struct sw_source *s, size_t got, struct sw_error *error)
{
	const struct sw_file_header *h = &s->header;
	if (!got)
		return sw_fail(error, SW_E_FORMAT,
			       "%s: the file is empty: the program ended before it could record, or the disk was full",
			       s->path);
	if (got < sizeof h->magic || memcmp(h->magic, SW_FORMAT_MAGIC, sizeof h->magic))
		return sw_fail(error, SW_E_FORMAT, "%s: offset 0: not a syncwatch trace", s->path);
	if (got < sizeof *h)
		return sw_fail(error, SW_E_FORMAT, "%s: offset %zu: the file ends within its header of %zu bytes",
			       s->path, got, sizeof *h);
	if (h->byte_order != SW_FORMAT_BYTE_ORDER)
		return sw_fail(error, SW_E_FORMAT, "%s: offset %zu: byte order 0x%08x is not little-endian", s->path,
			       offsetof(struct sw_file_header, byte_order), h->byte_order);
	if (h->major > SW_FORMAT_MAJOR)
		return sw_fail(error, SW_E_VERSION,
			       "%s: offset %zu: trace of version %u.%u, this syncwatch reads up to %u.x: use the "
			       "syncwatch that recorded it (%.*s) or a newer one",
			       s->path, offsetof(struct sw_file_header, major), h->major, h->minor, SW_FORMAT_MAJOR,
			       (int)strnlen(h->recorder_version, sizeof h->recorder_version), h->recorder_version);
	if (!h->major)
		return sw_fail(error, SW_E_FORMAT, "%s: offset %zu: version 0.%u never existed", s->path,
			       offsetof(struct sw_file_header, major), h->minor);
	if (h->header_bytes < sizeof *h || h->header_bytes % 4096 || h->header_bytes > CHUNK_MAX)
		return sw_fail(error, SW_E_FORMAT, "%s: offset %zu: header of %u bytes is out of bounds", s->path,
			       offsetof(struct sw_file_header, header_bytes), h->header_bytes);
	if (h->chunk_bytes < 4096 || h->chunk_bytes % 4096 || h->chunk_bytes > CHUNK_MAX)
		return sw_fail(error, SW_E_FORMAT, "%s: offset %zu: chunks of %u bytes are out of bounds", s->path,
			       offsetof(struct sw_file_header, chunk_bytes), h->chunk_bytes);
	return 0;
}

/* Replaces the descriptor of a compressed trace by that of the expanded one. */
static int expand_source(struct sw_source *s, struct stat *st, struct sw_error *error)
{
	int fd = sw_expand(s->fd, s->path, error);
	if (fd < 0)
		return fd;
	close(s->fd);
	s->fd = fd;
	return fstat(fd, st) ? sw_fail(error, -errno, "%s: cannot stat: %s", s->path, strerror(errno)) : 0;
}

int sw_source_open(struct sw_source *source, const char *path, struct sw_error *error)
{
	struct stat st;
	struct sw_source s = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .memory = -1};
	int rc;
	if (s.fd < 0)
		return sw_fail(error, -errno, "%s: cannot open: %s", path, strerror(errno));
	s.path = sw_strdup(path);
	size_t got = 0;
	if (fstat(s.fd, &st))
		rc = sw_fail(error, -errno, "%s: cannot stat: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = sw_fail(error, SW_E_FORMAT, "%s: not a regular file", path);
	else
		rc = sw_expand_wanted(s.fd) ? expand_source(&s, &st, error) : 0;
	if (!rc)
		rc = sw_source_read(&s, 0, &s.header, sizeof s.header, &got, error);
	if (!rc)
		rc = check_header(&s, got, error);
	if (rc) {
		sw_source_close(&s);
		return rc;
	}
	s.header.recorder_version[sizeof s.header.recorder_version - 1] = 0;
	s.bytes = (uint64_t)st.st_size;
	posix_fadvise(s.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	*source = s;
	return 0;
}

int sw_source_follow(struct sw_source *source, const char *path, int file, int memory, struct sw_error *error)
{
	struct sw_source s = {.fd = file, .memory = memory, .path = sw_strdup(path)};
	size_t got = 0;
	int rc = read_from(&s, memory >= 0 ? memory : file, 0, &s.header, sizeof s.header, &got, error);
	if (!rc)
		rc = check_header(&s, got, error);
	if (rc) {
		sw_source_close(&s);
		return rc;
	}
	s.header.recorder_version[sizeof s.header.recorder_version - 1] = 0;
	*source = s;
	return 0;
}

/* Reads the header of a program that runs again, to learn of new chunks. */
int sw_source_refresh(struct sw_source *source, struct sw_error *error)
{
	struct sw_file_header now;
	size_t got = 0;
	int rc = read_from(source, source->memory >= 0 ? source->memory : source->fd, 0, &now, sizeof now, &got, error);
	if (rc || got < sizeof now || memcmp(now.magic, SW_FORMAT_MAGIC, sizeof now.magic))
		return rc;
	/* The program may have written anything over it: what reading depends on stays as it was checked, and the clock
	   as it was when reading began. */
	const struct sw_file_header before = source->header;
	source->header = now;
	source->header.major = before.major;
	source->header.minor = before.minor;
	source->header.byte_order = before.byte_order;
	source->header.header_bytes = before.header_bytes;
	source->header.chunk_bytes = before.chunk_bytes;
	source->header.pid = before.pid;
	source->header.start_ticks = before.start_ticks;
	source->header.start_monotonic_ns = before.start_monotonic_ns;
	source->header.ticks_per_second = before.ticks_per_second;
	source->header.last_ticks = before.last_ticks;
	source->header.last_monotonic_ns = before.last_monotonic_ns;
	source->header.recorder_version[sizeof now.recorder_version - 1] = 0;
	if (now.chunks < before.chunks)
		source->header.chunks = before.chunks;
	source->bytes = source->header.header_bytes + source->header.chunks * source->header.chunk_bytes;
	return 0;
}

void sw_source_close(struct sw_source *source)
{
	close(source->fd);
	if (source->memory >= 0)
		close(source->memory);
	free(source->path);
}
