/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each kind of machine instruction: sw_sass_lower_<lowering> of sass_ops.def. */
#ifndef SW_FOOTPRINT_SASS_LOWER_H
#define SW_FOOTPRINT_SASS_LOWER_H

#include "footprint/sass.h"

void sw_sass_lower_unknown(struct sw_sass *s);

/* Straight code knows this constant in the register from here on. */
void sw_sass_know(struct sw_sass *s, sw_reg reg, bool constant, int64_t value);

#define SW_SASS_ROW(code, mask, first, last, name, lowering, words, flags)                                             \
	void sw_sass_lower_##lowering(struct sw_sass *s);
#include "footprint/sass_ops.def"

#endif
