/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define OPEN_MOST 8

/* Temporary files that exist: a signal handler may have to remove them. */
static char *volatile temporaries[OPEN_MOST];

/* Remembers a temporary file, for sw_output_drop_all(). */
static void remember_temporary(char *temporary)
{
	for (size_t i = 0; i < OPEN_MOST; i++)
		if (!temporaries[i]) {
			temporaries[i] = temporary;
			return;
		}
}

/* Forgets a temporary file that is gone, or has its real name, so that a crash does not remove it. */
static void forget_temporary(const char *temporary)
{
	for (size_t i = 0; temporary && i < OPEN_MOST; i++)
		if (temporaries[i] == temporary)
			temporaries[i] = NULL;
}

/* Removes all temporary files; for signal handlers. */
void sw_output_drop_all(void)
{
	for (size_t i = 0; i < OPEN_MOST; i++)
		if (temporaries[i])
			unlink(temporaries[i]);
}

/* Fills in the error that a file cannot be written. */
static int fail_write(const char *path, int code, struct sw_error *error)
{
	return sw_fail(error, -code, "cannot write '%s': %s", path, strerror(code));
}

/* Follows symbolic links, so that a link to a report stays a link.  malloc'ed. */
static char *target_of(const char *path)
{
	char *real = realpath(path, NULL);
	return real ? real : sw_strdup(path);
}

/* Does "-" name standard output? */
static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* Is it something that cannot be replaced by renaming: standard output, a device or a pipe? */
static bool in_place(const char *path)
{
	struct stat s;
	return is_stdout(path) || (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode));
}

/* Opens a file next to the one that is wanted, which it replaces when it is complete. */
static int open_temporary(struct sw_output *output, struct sw_error *error)
{
	struct stat s;
	if (stat(output->path, &s) == 0 && S_ISDIR(s.st_mode))
		return fail_write(output->path, EISDIR, error);
	output->temporary = sw_format("%s.XXXXXX", output->path);
	int fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		int code = errno;
		free(output->temporary);
		output->temporary = NULL;
		return fail_write(output->path, code, error);
	}
	remember_temporary(output->temporary);
	output->file = fdopen(fd, "w");
	if (output->file)
		return 0;
	int code = errno;
	close(fd);
	return fail_write(output->path, code, error);
}

/* Opens a file for writing. */
int sw_output_open(struct sw_output *output, const char *path, struct sw_error *error)
{
	*output = (struct sw_output){.path = target_of(path)};
	int rc = 0;
	if (!in_place(path))
		rc = open_temporary(output, error);
	else if (!(output->file = is_stdout(path) ? fdopen(dup(STDOUT_FILENO), "w") : fopen(path, "we")))
		rc = fail_write(path, errno, error);
	if (rc)
		sw_output_drop(output);
	else
		__fsetlocking(output->file, FSETLOCKING_BYCALLER); /* one thread writes, in millions of small pieces */
	return rc;
}

/* Gives the file up: what was there before stays. */
void sw_output_drop(struct sw_output *output)
{
	if (output->file)
		fclose(output->file);
	if (output->temporary)
		unlink(output->temporary);
	forget_temporary(output->temporary);
	free(output->temporary);
	free(output->path);
	*output = (struct sw_output){0};
}

/* Completes the file; <0 with error filled if any of it could not be written. */
int sw_output_close(struct sw_output *output, struct sw_error *error)
{
	bool bad = ferror(output->file) != 0;
	errno = 0;
	/* Why an earlier write failed is forgotten: one more says it again. */
	if (bad && putc('\n', output->file) != EOF)
		fflush(output->file);
	const int why = errno;
	bad |= fclose(output->file) != 0;
	output->file = NULL;
	if (!bad && output->temporary)
		bad = rename(output->temporary, output->path) != 0;
	int rc = bad ? fail_write(output->path, why ? why : errno ? errno : EIO, error) : 0;
	if (!bad) {
		forget_temporary(output->temporary);
		free(output->temporary);
		output->temporary = NULL;
	}
	sw_output_drop(output);
	return rc;
}

/* Could the file be written?  Nothing is left of the attempt. */
int sw_output_check(const char *path, struct sw_error *error)
{
	struct sw_output output;
	if (is_stdout(path))
		return 0;
	if (in_place(path))
		return access(path, W_OK) == 0 ? 0 : fail_write(path, errno, error);
	int rc = sw_output_open(&output, path, error);
	if (!rc)
		sw_output_drop(&output);
	return rc;
}
