/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every wrapper does around a call of the driver: find the real function, start the call, say in which context it
 * works. It records through recorder.h.
 */
#ifndef SW_PRELOAD_INTERCEPT_HOOK_H
#define SW_PRELOAD_INTERCEPT_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "api/ids.h"
#include "preload/intercept/cuda_types.h"
#include "preload/intercept/driver.h"
#include "preload/recorder/recorder.h"

/* A handle, an address or a number as the word that a record holds. */
#define SW_WORD(x) ((uint64_t)(uintptr_t)(x))
/* The value that the driver stored through a pointer that may be NULL. */
#define OUT(p) ((p) ? *(p) : 0)

/* Where a wrapper stands: its entry point and who called it. */
struct sw_site {
	void *real;
	void *frame;	/* __builtin_frame_address(0) of the exported function */
	uint16_t id;	/* enum sw_api_id */
	uint16_t flags; /* SW_RF_* */
};

/*
 * sw_call_enter(), the API record at the first use of the entry point, and SW_RF_RUNTIME when a CUDA runtime called.
 * False: call the real function and record nothing.
 */
bool sw_hook_enter(struct sw_call *call, uint16_t id, uint16_t flags, void *frame);

/* The driver's function, NULL: there is none; and sw_hook_enter() before its call: call->writer is NULL where that says
   false.  `what`: the entry point, and flags from bit 16 on. */
void *sw_hook_begin(struct sw_call *call, uint32_t what, void *frame);

/* sw_hook_begin() for calls about events; also makes the record: EVENT_RECORD (event, stream) or STREAM_WAIT (stream,
   event), from their words; `more`: its flags, and its kind from bit 32 on. */
void *sw_hook_event(struct sw_call *call, uint32_t what, void *frame, uint64_t a, uint64_t b, uint64_t more);

static inline bool sw_site_enter(struct sw_call *call, const struct sw_site *site, uint16_t flags)
{
	return sw_hook_enter(call, site->id, site->flags | flags, site->frame);
}

/*
 * A further record of a call that leaves more than one (elements of a batch, events of a launch): numbered now, before
 * the call's own record.  Fill it, then sw_describe_done().  NULL: lost.
 */
void *sw_hook_extra(const struct sw_call *call, enum sw_rec_kind kind, size_t bytes);

/* An API record for an entry point that is not in the table; `id` from SW_ID_COUNT on. */
void sw_hook_describe(uint16_t id, const char *driver, const char *runtime);

#endif
