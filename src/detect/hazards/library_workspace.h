/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a library of NVIDIA's allocated for itself, and uses on two streams.
 *
 * How it is protected is not visible: streams that are never used at the same time, a first use that cannot be earlier,
 * flags.  A hazard between two calls of the library on memory of its own is one step less sure, at most a warning.
 * Memory that the program hands to the library is not of this kind.
 */
#ifndef SW_DETECT_HAZARDS_LIBRARY_WORKSPACE_H
#define SW_DETECT_HAZARDS_LIBRARY_WORKSPACE_H

#include <stdbool.h>

struct sw_model;
struct sw_shadow_use;

/* Both are calls of one such library, on memory that it allocated. */
bool sw_library_workspace(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b);

#endif
