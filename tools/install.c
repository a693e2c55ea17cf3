/* SPDX-License-Identifier: Apache-2.0 */
#include "install.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* Finds the folder of this command; false with errno set. */
static bool own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	if (length < 0)
		return false;
	folder[length] = 0;
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	return true;
}

/* The first of the places that can be read, NULL: none; frees the places. */
static char *first_readable(char *places[], size_t n)
{
	char *found = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!found && access(places[i], R_OK) == 0)
			found = sw_strdup(places[i]);
		free(places[i]);
	}
	return found;
}

/* A file that was installed with this command, malloc'ed; NULL with error filled. */
char *sw_install_find(const char *name, struct sw_error *error)
{
	char folder[PATH_MAX];
	if (!own_folder(folder)) {
		sw_fail(error, -errno, "cannot find out where this command lies: /proc/self/exe: %s", strerror(errno));
		return NULL;
	}
	char *places[] = {
		sw_format("%s/%s", folder, name),
		sw_format("%s/../lib/syncwatch/%s", folder, name),
		sw_format("%s/%s", SW_PKGLIBDIR, name),
	};
	char *place = first_readable(places, sizeof places / sizeof places[0]);
	char *found = place ? realpath(place, NULL) : NULL;
	free(place);
	if (!found)
		sw_fail(error, -ENOENT, "%s is neither next to this command in %s nor in ../lib/syncwatch nor in %s",
			name, folder, SW_PKGLIBDIR);
	return found;
}

/* A data file that was installed with this command, malloc'ed; NULL: it is not there. */
char *sw_install_find_data(const char *name)
{
	char folder[PATH_MAX];
	if (!own_folder(folder))
		return NULL;
	char *places[] = {
		sw_format("%s/share/syncwatch/%s", folder, name),
		sw_format("%s/../share/syncwatch/%s", folder, name),
		sw_format("%s/%s", SW_PKGDATADIR, name),
	};
	return first_readable(places, sizeof places / sizeof places[0]);
}

/* The owner of this command, whose files are trusted as it is. */
uid_t sw_install_owner(void)
{
	struct stat s;
	return stat("/proc/self/exe", &s) == 0 ? s.st_uid : (uid_t)-1;
}
