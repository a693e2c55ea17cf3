/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the evaluation: operations on forms, for the table in operate.c.  Not thread-safe, as struct sw_eval. */
#ifndef SW_FOOTPRINT_LAUNCH_EVALUATION_OPERATE_H
#define SW_FOOTPRINT_LAUNCH_EVALUATION_OPERATE_H

#include "footprint/launch/evaluation/eval.h"

/* The form of `term`, which is the footprint's term `number`, from its operands, modulo 2^width. */
typedef struct sw_form sw_operation(struct sw_eval *e, const struct sw_term *term, uint32_t number);

/* A new variable in [lo, hi], or in the type's range where that is left, that depends on the operands. */
struct sw_form sw_term_within(struct sw_eval *e, const struct sw_term *term, sw_wide lo, sw_wide hi);
/* A new variable of the term's width that depends on the operands. */
struct sw_form sw_term_unknown(struct sw_eval *e, const struct sw_term *term);
/* The form a + b * by; an unknown number where no form holds it. */
struct sw_form sw_term_sum(struct sw_eval *e, const struct sw_term *term, const struct sw_form *a,
			   const struct sw_form *b, int64_t by);
/* The form a * by; an unknown number where no form holds it. */
struct sw_form sw_term_scaled(struct sw_eval *e, const struct sw_term *term, const struct sw_form *a, sw_wide by);

/* A new variable for a RANGE or LOADED: anything in its bounds. */
struct sw_form sw_term_range(struct sw_eval *e, const struct sw_term *term);

/* bit_operations.c */
sw_operation sw_op_shr, sw_op_shl, sw_op_extend, sw_op_and, sw_op_or;

#endif
