/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a capture forbids (SW204). */
#ifndef SW_DETECT_GRAPHS_CAPTURE_ISOLATION_H
#define SW_DETECT_GRAPHS_CAPTURE_ISOLATION_H

struct sw_model;
struct sw_record;
struct sw_access;

/* The call failed: because of a capture? */
void sw_isolation_failed(struct sw_model *m, const struct sw_record *r, const struct sw_access *call);

#endif
