/* SPDX-License-Identifier: Apache-2.0 */
/* A footprint as text, for tests and for looking at one. */
#ifndef SW_TESTS_FOOTPRINT_DUMP_H
#define SW_TESTS_FOOTPRINT_DUMP_H

#include <stdio.h>

#include "footprint/code.h"
#include "footprint/footprint.h"

/* One term as an expression. */
void sw_dump_term(FILE *out, const struct sw_footprint *footprint, uint32_t term);
/* Sites (role, bytes, roots, address, facts), then the loops they mention. */
void sw_dump_footprint(FILE *out, const struct sw_footprint *footprint);
/* The footprint of a program of sm_90, which it frees; malloc'ed. */
char *sw_dump_program(struct sw_program *program, enum sw_code_source source);

#endif
