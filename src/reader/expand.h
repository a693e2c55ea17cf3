/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces compressed with zstd(1): expanded once into a file without a name, because a trace is read at offsets (the
 * chunks of its writers lie interleaved).
 */
#ifndef SW_READER_EXPAND_H
#define SW_READER_EXPAND_H

#include <stdbool.h>

#include "base/error.h"

/* Do the first bytes of this file make it a zstd frame? */
bool sw_expand_wanted(int fd);

/* Expands `fd` into a temporary file ($TMPDIR, else /tmp) and returns its descriptor, the caller's to close; <0 with
   error filled.  `path` is for messages. */
int sw_expand(int fd, const char *path, struct sw_error *error);

#endif
