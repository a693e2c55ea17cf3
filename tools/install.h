/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts that belong to this very command lie: an installation may have been moved as a whole. */
#ifndef SW_TOOLS_INSTALL_H
#define SW_TOOLS_INSTALL_H

#include <sys/types.h>

#include "base/error.h"

/*
 * Absolute path of a file of the installation, e.g. "libsyncwatch.so" or "sim/libcuda.so.1": next to the command (a
 * build tree), in ../lib/syncwatch of the command, or where `make install` puts it.  malloc'ed; NULL with error filled.
 */
char *sw_install_find(const char *name, struct sw_error *error);

/* Finds data that comes with syncwatch: share/syncwatch/NAME, by a name of which links are not resolved. malloc'ed,
   NULL: not installed. */
char *sw_install_find_data(const char *name);

/* The owner of this command, who may own its data as well. */
uid_t sw_install_owner(void);

#endif
