/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the host, queries. */
#ifndef SW_DETECT_CALLS_SYNCS_H
#define SW_DETECT_CALLS_SYNCS_H

#include <stdint.h>

struct sw_model;
struct sw_value_copies;
struct sw_access;

/* The last call of a thread if it copied a value to the host, else seq is 0. */
struct sw_access *sw_model_value(struct sw_model *m, uint32_t thread);
struct sw_value_copies *sw_value_copies_new(void);
void sw_value_copies_free(struct sw_value_copies *copies);

#endif
