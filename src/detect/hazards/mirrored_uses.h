/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of memory that is mapped more than once: entered at its other addresses, too.  Not thread-safe. */
#ifndef SW_DETECT_HAZARDS_MIRRORED_USES_H
#define SW_DETECT_HAZARDS_MIRRORED_USES_H

#include "detect/memory/physical_memory.h"

struct sw_model;

/* The use was just entered in its block. */
void sw_use_mirror(struct sw_model *m, const struct sw_shadow_use *use);
/* The block's memory is mapped at another address from now on: enters earlier uses there. */
void sw_uses_share(void *model, struct sw_block *block, const struct sw_alias *alias);

#endif
