/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files with a part for each process: %p its id, %e its program, %h the machine, %q{NAME} an environment
   variable, %% a percent sign.  Anything else after % stands for itself; nothing stands for a variable that is not set.
 */
#ifndef SW_BASE_NAME_PATTERN_H
#define SW_BASE_NAME_PATTERN_H

#include <stddef.h>

/* 0, or -ENAMETOOLONG: the result, with its NUL, has more than `room` bytes.  Links libc only; allocates nothing. */
int sw_name_expand(char *out, size_t room, const char *pattern);

#endif
