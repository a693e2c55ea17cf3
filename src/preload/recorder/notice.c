/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for the report, and what the header says of the driver. */
#include "preload/platform/seldom.h"

#include "preload/recorder/notice.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/trace.h"

#define NOTICES 64u

static _Atomic uint64_t recorded[NOTICES];

void sw_notice(const char *text)
{
	size_t length = strlen(text);
	uint64_t hash = sw_hash_bytes(SW_FNV_START, text, length);
	if (!sw_recording())
		return;
	for (unsigned i = 0; i < NOTICES; i++) {
		uint64_t seen = 0;
		if (!atomic_compare_exchange_strong(&recorded[i], &seen, hash)) {
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

void sw_notice_forget(void)
{
	for (unsigned i = 0; i < NOTICES; i++)
		atomic_store(&recorded[i], 0);
}

void sw_record_driver(uint32_t version, bool simulated)
{
	struct sw_file_header *header = sw_trace.header;
	if (!sw_recording() || !header)
		return;
	__atomic_store_n(&header->cuda_driver_version, version, __ATOMIC_RELAXED);
	if (simulated)
		__atomic_fetch_or(&header->flags, SW_FILE_SIMULATED, __ATOMIC_RELAXED);
}
