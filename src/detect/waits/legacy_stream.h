/* SPDX-License-Identifier: Apache-2.0 */
/* Order that only the legacy stream made (SW304). */
#ifndef SW_DETECT_WAITS_LEGACY_STREAM_H
#define SW_DETECT_WAITS_LEGACY_STREAM_H

#include "hb/hb.h"

struct sw_model;
struct sw_legacy;

void sw_legacy_edge(struct sw_model *m, const struct sw_hb_edge *edge);
struct sw_legacy *sw_legacy_new(void);
void sw_legacy_free(struct sw_legacy *legacy);

#endif
