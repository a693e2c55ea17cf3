/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "report/kineto/json_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/memory.h"

enum { BUFFER = 1 << 16, DEEPEST = 256 };

struct sw_json_scan {
	char *path;
	int fd;
#ifdef HAVE_ZLIB
	gzFile gz;
#endif
	unsigned char buffer[BUFFER];
	size_t at, n;
	uint64_t before; /* bytes that came before the buffer */
	bool ended, failed;
	struct sw_error error;
};

static int fail(const char *path, int code, struct sw_error *error)
{
	return sw_fail(error, -code, "cannot open '%s': %s", path, strerror(code));
}

int sw_json_scan_open(const char *path, struct sw_json_scan **out, struct sw_error *error)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(path, errno, error);
	if (fstat(fd, &s) || !S_ISREG(s.st_mode)) {
		close(fd);
		return sw_fail(error, -EINVAL, "cannot open '%s': not a plain file", path);
	}
	struct sw_json_scan *scan = sw_calloc(1, sizeof *scan);
	scan->path = sw_strdup(path);
	scan->fd = fd;
#ifdef HAVE_ZLIB
	scan->gz = gzdopen(fd, "rb"); /* plain files too */
	if (!scan->gz) {
		sw_json_scan_close(scan);
		return fail(path, ENOMEM, error);
	}
#endif
	*out = scan;
	return 0;
}

void sw_json_scan_close(struct sw_json_scan *scan)
{
	if (!scan)
		return;
#ifdef HAVE_ZLIB
	if (scan->gz)
		gzclose(scan->gz);
	else
		close(scan->fd);
#else
	close(scan->fd);
#endif
	free(scan->path);
	free(scan);
}

uint64_t sw_json_scan_offset(const struct sw_json_scan *scan)
{
	return scan->before + scan->at;
}

int sw_json_scan_error(const struct sw_json_scan *scan, struct sw_error *error)
{
	if (scan->failed)
		*error = scan->error;
	return scan->failed ? scan->error.code : 0;
}

void sw_json_scan_fail(struct sw_json_scan *scan, const char *what)
{
	if (scan->failed)
		return;
	scan->failed = true;
	sw_fail(&scan->error, SW_E_FORMAT, "%s: offset %" PRIu64 ": %s", scan->path, sw_json_scan_offset(scan), what);
}

static int fill(struct sw_json_scan *scan)
{
	scan->before += scan->n;
	scan->at = scan->n = 0;
	if (scan->ended || scan->failed)
		return 0;
#ifdef HAVE_ZLIB
	int got = gzread(scan->gz, scan->buffer, BUFFER);
#else
	ssize_t got = read(scan->fd, scan->buffer, BUFFER);
#endif
	if (got < 0)
		sw_json_scan_fail(scan, "cannot be read, or is damaged where it was compressed");
	scan->ended = got <= 0;
	scan->n = got > 0 ? (size_t)got : 0;
	return scan->n > 0;
}

/* The next byte, not taken; -1: there is none. */
static int look(struct sw_json_scan *scan)
{
	if (scan->failed || (scan->at == scan->n && !fill(scan)))
		return -1;
	return scan->buffer[scan->at];
}

size_t sw_json_scan_bytes(struct sw_json_scan *scan, void *bytes, size_t most)
{
	if (look(scan) < 0)
		return 0;
	size_t n = scan->n - scan->at < most ? scan->n - scan->at : most;
	memcpy(bytes, scan->buffer + scan->at, n);
	scan->at += n;
	return n;
}

int sw_json_scan_peek(struct sw_json_scan *scan)
{
	int c;
	while ((c = look(scan)) == ' ' || c == '\n' || c == '\t' || c == '\r')
		scan->at++;
	return c;
}

bool sw_json_scan_take(struct sw_json_scan *scan, char wanted)
{
	if (sw_json_scan_peek(scan) != (unsigned char)wanted)
		return false;
	scan->at++;
	return true;
}

/* After a backslash: the character that is meant. */
static int escaped(struct sw_json_scan *scan)
{
	static const char plain[] = "\"\\/", short_form[] = "bfnrt", meant[] = "\b\f\n\r\t";
	int c = look(scan);
	const char *found = c > 0 ? strchr(short_form, c) : NULL;
	unsigned code = 0;
	if (c < 0)
		return -1;
	scan->at++;
	if (strchr(plain, c))
		return c;
	if (found)
		return meant[found - short_form];
	if (c != 'u')
		return -1;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *digit = (c = look(scan)) > 0 ? strchr(digits, c) : NULL;
		if (!digit)
			return -1;
		scan->at++;
		code = code << 4 | ((unsigned)(digit - digits) & 15);
	}
	return code >= 0x20 && code < 0x7f ? (int)code : '?';
}

bool sw_json_scan_string(struct sw_json_scan *scan, char *text, size_t room)
{
	size_t n = 0;
	int c;
	if (!sw_json_scan_take(scan, '"')) {
		sw_json_scan_fail(scan, "not JSON: a string is missing");
		return false;
	}
	while ((c = look(scan)) >= 0 && c != '"') {
		scan->at++;
		if (c == '\\' && (c = escaped(scan)) < 0)
			break;
		if (n + 1 < room)
			text[n++] = c ? (char)c : '?';
	}
	if (room)
		text[n] = 0;
	if (c != '"') {
		sw_json_scan_fail(scan, "not JSON: a string that does not end, or a wrong escape");
		return false;
	}
	scan->at++;
	return true;
}

bool sw_json_scan_number(struct sw_json_scan *scan, char *text, size_t room)
{
	size_t n = 0;
	int c = sw_json_scan_peek(scan);
	while (c > 0 && strchr("+-.0123456789eE", c) && n + 1 < room) {
		text[n++] = (char)c;
		scan->at++;
		c = look(scan);
	}
	text[n] = 0;
	if (n && n + 1 < room)
		return true;
	sw_json_scan_fail(scan, "not JSON: a number is missing or too long");
	return false;
}

static bool skip_word(struct sw_json_scan *scan)
{
	int c;
	size_t n = 0;
	while ((c = look(scan)) > 0 &&
	       (strchr("+-.", c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
		scan->at++;
		n++;
	}
	if (!n)
		sw_json_scan_fail(scan, "not JSON: a value is missing");
	return n > 0;
}

bool sw_json_scan_skip(struct sw_json_scan *scan)
{
	char closing[DEEPEST];
	size_t depth = 0;
	do {
		int c = sw_json_scan_peek(scan);
		bool sound = true;
		if (depth && (c == ',' || c == ':'))
			scan->at++;
		else if (depth && c == closing[depth - 1]) {
			scan->at++;
			depth--;
		} else if (c == '{' || c == '[') {
			scan->at++;
			sound = depth < DEEPEST;
			if (sound)
				closing[depth++] = c == '{' ? '}' : ']';
		} else if (c == '"')
			sound = sw_json_scan_string(scan, NULL, 0);
		else
			sound = skip_word(scan);
		if (!sound) {
			sw_json_scan_fail(scan, "not JSON: nested too deeply");
			return false;
		}
	} while (depth);
	return true;
}

bool sw_json_scan_member(struct sw_json_scan *scan, bool *first, char *key, size_t room)
{
	if (sw_json_scan_take(scan, '}'))
		return false;
	if (!*first && !sw_json_scan_take(scan, ',')) {
		sw_json_scan_fail(scan, "not JSON: ',' or '}' is missing");
		return false;
	}
	*first = false;
	if (!sw_json_scan_string(scan, key, room))
		return false;
	if (sw_json_scan_take(scan, ':'))
		return true;
	sw_json_scan_fail(scan, "not JSON: ':' is missing");
	return false;
}

bool sw_json_scan_element(struct sw_json_scan *scan, bool *first)
{
	if (sw_json_scan_peek(scan) == ']')
		return false;
	if (!*first && !sw_json_scan_take(scan, ',')) {
		sw_json_scan_fail(scan, "not JSON: ',' or ']' is missing");
		return false;
	}
	*first = false;
	return !scan->failed;
}
