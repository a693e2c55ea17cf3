/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of queries (SW403). */
#ifndef SW_DETECT_WAITS_POLLS_H
#define SW_DETECT_WAITS_POLLS_H

#include <stdbool.h>

struct sw_model;
struct sw_polls;
struct sw_record;
struct sw_access;

/* A query said so; `done`: it was the last of its row. */
void sw_poll_again(struct sw_model *m, const struct sw_record *r, const struct sw_access *what, bool done);
struct sw_polls *sw_polls_new(void);
void sw_polls_free(struct sw_polls *polls);

#endif
