/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program gave a library to work in, used by two of its calls. */
#ifndef SW_DETECT_HAZARDS_SHARED_WORKSPACE_H
#define SW_DETECT_HAZARDS_SHARED_WORKSPACE_H

#include <stdbool.h>

struct sw_model;
struct sw_shadow_use;

/* Do both uses lie in what their calls were given to work in? */
bool sw_workspace_shared(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b);
/* Are both part of one call of a library, which knows what of its own work is apart, and is it not certain which bytes
   they touch?  cudnnRNNForward() has parts of a workspace in use on several streams at once (H200, cuDNN 9). */
bool sw_library_may_order(const struct sw_shadow_use *a, const struct sw_shadow_use *b);

#endif
