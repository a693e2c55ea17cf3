/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are believed although the user did not name them: .syncwatch, known.supp, tables of calibrate, footprints
 * and the last report in the cache folder.
 *
 * Another user may be able to put a file, or a symbolic link to one of ours, where they are looked for.  So each is
 * opened once, through the links of this user and of root alone, and what was opened is checked, not its name.
 */
#ifndef SW_BASE_TRUSTED_FILE_H
#define SW_BASE_TRUSTED_FILE_H

#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Opens a regular file of this user, of root or of the user `also` for reading; (uid_t)-1: of nobody else.  Links on
 * the way must belong to one of them, too.  A descriptor, or -errno with error filled: -EPERM when it belongs to
 * somebody else, -EISDIR when it is no regular file.
 */
int sw_trusted_open(const char *path, uid_t also, struct sw_error *error);
/* Opens it as a stream; NULL with error filled. */
FILE *sw_trusted_stream(const char *path, uid_t also, struct sw_error *error);

#endif
