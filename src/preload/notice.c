/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for the report. */
#include "preload/recorder.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"

#define NOTICES 64u

static _Atomic uint64_t said[NOTICES];

void sw_notice(const char *text)
{
	size_t length = strlen(text);
	uint64_t hash = sw_hash_bytes(SW_FNV_START, text, length);
	if (!sw_recording())
		return;
	for (unsigned i = 0; i < NOTICES; i++) {
		uint64_t seen = 0;
		if (!atomic_compare_exchange_strong(&said[i], &seen, hash)) {
			if (seen == hash)
				return;
			continue;
		}
		struct sw_rec_notice *r = sw_describe(SW_REC_NOTICE, sizeof *r + length, false);
		if (r) {
			r->text_bytes = (uint32_t)length;
			memcpy(r + 1, text, length);
		}
		sw_describe_done(r);
		return;
	}
}
