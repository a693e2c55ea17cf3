/* SPDX-License-Identifier: Apache-2.0 */
/* Module variables: where they are, as far as the program asked.  Not thread-safe. */
#ifndef SW_DETECT_MEMORY_MODULE_VARIABLES_H
#define SW_DETECT_MEMORY_MODULE_VARIABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct sw_variables;
struct sw_variables *sw_variables_new(void);
void sw_variables_free(struct sw_variables *variables);
/* Grows with what is known. */
uint64_t sw_variables_epoch(const struct sw_variables *variables);
void sw_variables_loaded(struct sw_variables *variables, uint64_t module, uint32_t image);
/* `name`: mangled, `bytes` long. */
void sw_variables_add(struct sw_variables *variables, uint8_t ctx, uint64_t module, const char *name, size_t bytes,
		      uint64_t address);
uint64_t sw_variables_find(const struct sw_variables *variables, uint8_t ctx, uint32_t image, const char *name);

#endif
