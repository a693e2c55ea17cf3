/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/recent_calls.h"

#include <stdlib.h>

#include "base/memory.h"

void sw_recent_calls_init(struct sw_recent_calls *recent)
{
	recent->at = sw_calloc(SW_RECENT_CALLS, sizeof *recent->at);
}

void sw_recent_calls_free(struct sw_recent_calls *recent)
{
	free(recent->at);
	recent->at = NULL;
}

void sw_recent_calls_add(struct sw_recent_calls *recent, const struct sw_record *record, uint64_t seq)
{
	recent->at[seq % SW_RECENT_CALLS] =
		(struct sw_named_call){seq, record->stack, record->rec->api, record->rec->flags};
}

struct sw_named_call sw_recent_call(const struct sw_recent_calls *recent, uint64_t seq)
{
	const struct sw_named_call *call = &recent->at[seq % SW_RECENT_CALLS];
	return call->seq == seq ? *call : (struct sw_named_call){.seq = seq};
}
