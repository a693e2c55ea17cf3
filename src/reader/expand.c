/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "reader/expand.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "syncwatch/format.h"

bool sw_expand_wanted(int fd)
{
	static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd}; /* RFC 8878, 3.1.1 */
	unsigned char first[4];
	return pread(fd, first, sizeof first, 0) == sizeof first && !memcmp(first, magic, sizeof magic);
}

#ifdef HAVE_ZSTD
#include <zstd.h>

/* A trace is seldom above 10 GB; a hostile frame expands without end. */
#define EXPANDED_MAX	 (256ull << 30)
#define SOURCE_CHUNK_MAX (64ull << 20) /* as in source.c */
#define CHUNKS_AHEAD	 64u	       /* prepared and not yet counted: a recorder has 32 at most */
#define ZEROS_MAX	 (512ull << 20)

struct stream {
	const char *path;
	int in, out;
	ZSTD_DStream *zstd;
	void *input, *output;
	size_t input_room, output_room;
	uint64_t taken, made;
	uint64_t zeros; /* at the end of what was made */
	uint64_t most;	/* bytes that a reader can use; 0: not known yet */
	struct sw_error *error;
};

static int temporary(const char *path, struct sw_error *error)
{
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	char *name = sw_format("%s/syncwatch-XXXXXX", folder); /* file systems without O_TMPFILE */
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	else
		sw_fail(error, -errno, "%s: cannot expand into %s: %s", path, folder, strerror(errno));
	free(name);
	return fd < 0 ? -1 : fd;
}

/* What the header announces, once it came out: whatever follows is of no use to a reader. */
static void read_header(struct stream *s)
{
	struct sw_file_header h;
	s->most = s->made; /* no trace: what came out says so as well as the rest would */
	if (pread(s->out, &h, sizeof h, 0) != (ssize_t)sizeof h || memcmp(h.magic, SW_FORMAT_MAGIC, sizeof h.magic) ||
	    h.chunk_bytes > SOURCE_CHUNK_MAX || h.header_bytes > SOURCE_CHUNK_MAX)
		return;
	s->most = h.chunks > EXPANDED_MAX / 4096 ? EXPANDED_MAX
						 : h.header_bytes + (h.chunks + CHUNKS_AHEAD) * h.chunk_bytes;
}

static bool all_zero(const char *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

static int write_all(struct stream *s, const char *bytes, size_t n)
{
	while (n) {
		ssize_t written = pwrite(s->out, bytes, n, (off_t)s->made);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return sw_fail(s->error, -errno, "%s: cannot write what it expands to: %s", s->path,
				       strerror(errno));
		bytes += written;
		n -= (size_t)written;
		s->made += (uint64_t)written;
	}
	return 0;
}

/* Zeros stay a hole, and too many in a row end it: a recorder leaves far fewer. */
static int put(struct stream *s, size_t bytes)
{
	int rc = 0;
	if (all_zero(s->output, bytes)) {
		s->made += bytes;
		s->zeros += bytes;
	} else {
		rc = write_all(s, s->output, bytes);
		s->zeros = 0;
	}
	if (!rc && !s->most && s->made >= sizeof(struct sw_file_header))
		read_header(s);
	if (s->made > EXPANDED_MAX)
		return sw_fail(s->error, SW_E_FORMAT, "%s: expands to more than %llu GiB", s->path, EXPANDED_MAX >> 30);
	return rc;
}

static bool enough(const struct stream *s)
{
	return s->zeros > ZEROS_MAX || (s->most && s->made >= s->most);
}

/* One piece of input; *left: zstd expects more before its frame ends. */
static int piece(struct stream *s, size_t bytes, size_t *left)
{
	ZSTD_inBuffer in = {s->input, bytes, 0};
	ZSTD_outBuffer out;
	do {
		out = (ZSTD_outBuffer){s->output, s->output_room, 0};
		*left = ZSTD_decompressStream(s->zstd, &out, &in);
		if (ZSTD_isError(*left))
			return sw_fail(s->error, SW_E_FORMAT, "%s: offset %" PRIu64 ": damaged zstd frame: %s", s->path,
				       s->taken + in.pos, ZSTD_getErrorName(*left));
		int rc = put(s, out.pos);
		if (rc)
			return rc;
	} while (!enough(s) && (in.pos < in.size || out.pos == out.size));
	s->taken += bytes;
	return 0;
}

/* A frame that is cut short yields what was whole: the reader says where the trace ends. */
static int run(struct stream *s)
{
	for (size_t left = 0;;) {
		ssize_t n = pread(s->in, s->input, s->input_room, (off_t)s->taken);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sw_fail(s->error, -errno, "%s: offset %" PRIu64 ": cannot read: %s", s->path, s->taken,
				       strerror(errno));
		if (!n || enough(s))
			return 0;
		int rc = piece(s, (size_t)n, &left);
		if (rc)
			return rc;
	}
}

int sw_expand(int fd, const char *path, struct sw_error *error)
{
	int out = temporary(path, error);
	if (out < 0)
		return out;
	struct stream s = {.path = path,
			   .in = fd,
			   .out = out,
			   .zstd = ZSTD_createDStream(),
			   .input_room = ZSTD_DStreamInSize(),
			   .output_room = ZSTD_DStreamOutSize(),
			   .error = error};
	s.input = sw_alloc(s.input_room);
	s.output = sw_alloc(s.output_room);
	int rc = s.zstd ? run(&s) : sw_fail(error, -ENOMEM, "%s: no memory to expand it", path);
	ZSTD_freeDStream(s.zstd);
	free(s.input);
	free(s.output);
	if (!rc && ftruncate(out, (off_t)s.made))
		rc = sw_fail(error, -errno, "%s: cannot write what it expands to: %s", path, strerror(errno));
	if (!rc)
		return out;
	close(out);
	return rc;
}

#else

int sw_expand(int fd, const char *path, struct sw_error *error)
{
	(void)fd;
	return sw_fail(error, SW_E_UNSUPPORTED, "%s: compressed with zstd, which this syncwatch was built without",
		       path);
}

#endif
