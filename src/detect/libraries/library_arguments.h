/* SPDX-License-Identifier: Apache-2.0 */
/* What the arguments of libraries' functions mean (library_arguments.def).  Pure functions; names are not terminated.
 */
#ifndef SW_DETECT_LIBRARIES_LIBRARY_ARGUMENTS_H
#define SW_DETECT_LIBRARIES_LIBRARY_ARGUMENTS_H

#include "detect/detect.h"

struct sw_library_setting {
	uint64_t workspace, bytes; /* bytes 0: none, SW_LIBRARY_UNKNOWN: unknown */
};
#define SW_LIBRARY_UNKNOWN UINT64_MAX

enum sw_cuda_library sw_library_by_name(const char *name, size_t length);
/* Is it a name of this pattern, in which `?` stands for one letter?  "_64" at its end is ignored. */
bool sw_library_matches(const char *pattern, const char *name, size_t length);
/* Does a call that succeeded make the handle that it is about? */
bool sw_library_makes(const char *name, size_t length);
/* Is it one of cuFFT that plans, whose record has the size of the work area after the arguments? */
bool sw_library_has_area(const char *name, size_t length);
/* Does it say what later calls of the handle work in? */
bool sw_library_sets(const char *name, size_t length, const uint64_t *word, uint32_t words,
		     struct sw_library_setting *setting);
/* Does the call say itself what it works in, or need nothing (bytes 0)?  Else it is what its handle has. */
bool sw_library_workspace_argument(const char *name, size_t length, const uint64_t *word, uint32_t words,
				   struct sw_library_setting *setting);

#endif
