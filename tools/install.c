/* SPDX-License-Identifier: Apache-2.0 */
#include "install.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

char *sw_install_find(const char *name, struct sw_error *error)
{
	char folder[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
	if (length < 0) {
		sw_fail(error, -errno, "cannot find out where this command lies: /proc/self/exe: %s", strerror(errno));
		return NULL;
	}
	folder[length] = 0;
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;

	char *places[] = {
		sw_format("%s/%s", folder, name),
		sw_format("%s/../lib/syncwatch/%s", folder, name),
		sw_format("%s/%s", SW_PKGLIBDIR, name),
	};
	char *found = NULL;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		if (!found && access(places[i], R_OK) == 0)
			found = realpath(places[i], NULL);
		free(places[i]);
	}
	if (!found)
		sw_fail(error, -ENOENT, "%s is neither next to this command in %s nor in ../lib/syncwatch nor in %s",
			name, folder, SW_PKGLIBDIR);
	return found;
}
