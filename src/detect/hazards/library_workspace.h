/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a library of NVIDIA's made for itself, and that it uses from two streams.
 *
 * What protects a workspace is known to the library: streams that it never uses at a time, a first use that cannot be
 * earlier, flags.  A hazard between two calls of the library on memory of its own is one step less sure, at most a
 * warning.  Memory that the program hands to the library is not of this kind.
 */
#ifndef SW_DETECT_HAZARDS_LIBRARY_WORKSPACE_H
#define SW_DETECT_HAZARDS_LIBRARY_WORKSPACE_H

#include <stdbool.h>

struct sw_model;
struct sw_shadow_use;

/* Both are calls of one such library, on memory that it allocated. */
bool sw_library_workspace(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b);

#endif
