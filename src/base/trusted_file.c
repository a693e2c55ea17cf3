/* SPDX-License-Identifier: Apache-2.0 */
#include "base/trusted_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As the kernel has it (path_resolution(7)). */
#define MOST_LINKS 40u

/* The way that is left: `rest` from the folder `at`. */
struct walk {
	const char *path;
	uid_t also;
	struct sw_error *error;
	int at;
	unsigned links;
	char rest[PATH_MAX];
};

/* Does the owner count as trusted: this user, root, or the one that the caller allows? */
static bool is_ours(const struct walk *w, uid_t owner)
{
	return owner == geteuid() || owner == 0 || owner == w->also;
}

/* Fills in the error of a system call for the path; returns the code. */
static int fail_path(const struct walk *w, int code)
{
	return sw_fail(w->error, code, "%s: %s", w->path, strerror(-code));
}

/* Goes on at this folder; -1: the current one. */
static void move_to(struct walk *w, int folder)
{
	if (w->at >= 0)
		close(w->at);
	w->at = folder;
}

/* Absolute paths, of links as well, begin at the root. */
static int from_root(struct walk *w)
{
	if (*w->rest != '/')
		return 0;
	const int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return fail_path(w, -errno);
	move_to(w, root);
	memmove(w->rest, w->rest + strspn(w->rest, "/"), strlen(w->rest + strspn(w->rest, "/")) + 1);
	return 0;
}

/* Puts what the link says before what is left behind it. */
static int follow_link(struct walk *w, int link, const char *left)
{
	char text[PATH_MAX], joined[PATH_MAX];
	struct stat s;
	if (fstat(link, &s))
		return fail_path(w, -errno);
	if (!is_ours(w, s.st_uid))
		return sw_fail(w->error, -EPERM, "%s: a symbolic link on the way belongs to another user", w->path);
	const ssize_t n = readlinkat(link, "", text, sizeof text);
	if (n < 0)
		return fail_path(w, -errno);
	const size_t rest = strlen(left);
	if (++w->links > MOST_LINKS)
		return fail_path(w, -ELOOP);
	if ((size_t)n + 1 + rest >= sizeof joined)
		return fail_path(w, -ENAMETOOLONG);
	memcpy(joined, text, (size_t)n);
	joined[n] = '/';
	memcpy(joined + n + (rest != 0), left, rest + 1);
	memcpy(w->rest, joined, (size_t)n + (rest != 0) + rest + 1);
	return from_root(w);
}

/* The opened file, if it is a regular one of a trusted owner.  Returns its descriptor, above those of the standard
   streams; or an error. */
static int checked_file(const struct walk *w, int fd)
{
	struct stat s;
	int rc = 0;
	if (fstat(fd, &s))
		rc = fail_path(w, -errno);
	else if (!S_ISREG(s.st_mode))
		rc = sw_fail(w->error, -EISDIR, "%s: it is no regular file", w->path);
	else if (!is_ours(w, s.st_uid))
		rc = sw_fail(w->error, -EPERM, "%s: it belongs to another user", w->path);
	/* Where standard input is closed, the first descriptor is 0, which enter_part() says of a folder. */
	const int high = rc ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (!rc && high < 0)
		rc = fail_path(w, -errno);
	close(fd);
	return rc ? rc : high;
}

/* The next part: a folder that is entered, a link that is followed (0), or the file (its descriptor). */
static int enter_part(struct walk *w)
{
	char part[NAME_MAX + 1];
	const size_t length = strcspn(w->rest, "/"), slashes = strspn(w->rest + length, "/");
	const bool last = !w->rest[length];
	const int folder = w->at >= 0 ? w->at : AT_FDCWD;
	if (!length)
		return sw_fail(w->error, -EISDIR, "%s: it is no regular file", w->path);
	if (length > NAME_MAX)
		return fail_path(w, -ENAMETOOLONG);
	memcpy(part, w->rest, length);
	part[length] = 0;
	if (last) {
		const int fd = openat(folder, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd >= 0)
			return checked_file(w, fd);
		if (errno != ELOOP)
			return fail_path(w, -errno);
	}
	const int next = openat(folder, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat s;
	if (next < 0)
		return fail_path(w, -errno);
	int rc = fstat(next, &s) ? fail_path(w, -errno) : 0;
	if (!rc && S_ISLNK(s.st_mode)) {
		char left[PATH_MAX];
		strcpy(left, w->rest + length + slashes);
		rc = follow_link(w, next, left);
	} else if (!rc && !last) {
		memmove(w->rest, w->rest + length + slashes, strlen(w->rest + length + slashes) + 1);
		move_to(w, next);
		return 0;
	}
	/* The last part is none any more, if it was a link just now: looked at again. */
	close(next);
	return rc;
}

/* Opens a file if it belongs to someone who is trusted.  Each part of the path is opened by itself and looked at, so
   nobody can exchange one in between. */
int sw_trusted_open(const char *path, uid_t also, struct sw_error *error)
{
	struct walk w = {.path = path, .also = also, .error = error, .at = -1};
	if (strlen(path) >= sizeof w.rest)
		return fail_path(&w, -ENAMETOOLONG);
	strcpy(w.rest, path);
	int rc = from_root(&w);
	for (unsigned steps = 0; !rc && steps < PATH_MAX; steps++)
		rc = enter_part(&w);
	move_to(&w, -1);
	return rc ? rc : fail_path(&w, -ELOOP);
}

/* As sw_trusted_open(), as a stream. */
FILE *sw_trusted_stream(const char *path, uid_t also, struct sw_error *error)
{
	const int fd = sw_trusted_open(path, also, error);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !file) {
		sw_fail(error, -errno, "%s: %s", path, strerror(errno));
		close(fd);
	}
	return file;
}
