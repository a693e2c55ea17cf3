/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the last records, so that a finding can name a call that is not one of its sides: the wait that orders
 * its streams, the record that its fix moves.  A table of fixed size: of older calls only the sequence number is known.
 * Not thread-safe.
 */
#ifndef SW_DETECT_MODEL_RECENT_CALLS_H
#define SW_DETECT_MODEL_RECENT_CALLS_H

#include "detect/detect.h"

#define SW_RECENT_CALLS 65536u /* records; 1 MiB */

struct sw_recent_calls {
	struct sw_named_call *at;
};

void sw_recent_calls_init(struct sw_recent_calls *recent);
void sw_recent_calls_free(struct sw_recent_calls *recent);
/* `seq`: that of the record, or of the END record of its call. */
void sw_recent_calls_add(struct sw_recent_calls *recent, const struct sw_record *record, uint64_t seq);
/* Stack and api are 0 when the call is not in the table; seq 0: no call. */
struct sw_named_call sw_recent_call(const struct sw_recent_calls *recent, uint64_t seq);

#endif
