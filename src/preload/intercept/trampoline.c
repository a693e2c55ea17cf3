/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/trampoline.h"

#include <string.h>

#include "preload/intercept/contexts.h"
#include "preload/intercept/hook.h"
#include "preload/intercept/hook_state.h"

#define BYTES_EACH 16

extern const char sw_trampolines[] __attribute__((visibility("hidden")));

static struct {
	void *real;
	const char *name;
	uint32_t called;
} taken[SW_STATE_UNKNOWN];

/* A copy of the name that is never freed, at most 255 bytes. */
static const char *keep_name(const char *name)
{
	const size_t bytes = strnlen(name, 255);
	char *copy = sw_table_memory(bytes + 1);

	return copy ? memcpy(copy, name, bytes) : "";
}

/* Each trampoline is some bytes of code with an index; the table has for it the function to jump to.  Finds the one of
   this function, or takes a free one by compare-and-swap. */
void *sw_trampoline(const char *name, void *real)
{
	for (uint32_t i = 0; i < SW_STATE_UNKNOWN; i++) {
		void *held = NULL;

		__atomic_compare_exchange_n(&taken[i].real, &held, real, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		if (held && held != real)
			continue;
		/* Another thread may be about to name it, and who gets the trampoline may call it at once. */
		if (!__atomic_load_n(&taken[i].name, __ATOMIC_ACQUIRE))
			__atomic_store_n(&taken[i].name, keep_name(name), __ATOMIC_RELEASE);
		return (void *)(sw_trampolines + (size_t)i * BYTES_EACH);
	}
	return real;
}

/* Called from the trampoline, with the registers that hold arguments: records the first call and returns where to
   jump. */
__attribute__((used)) void *sw_trampoline_count(uint64_t index, const uint64_t *args, void *frame)
{
	const uint16_t id = (uint16_t)(SW_ID_COUNT + index);
	struct sw_rec_other *r;
	struct sw_call call;

	if (__atomic_fetch_add(&taken[index].called, 1, __ATOMIC_RELAXED) != 0)
		return taken[index].real;
	if (!sw_call_enter(&call, id, 0, frame))
		return taken[index].real;
	sw_hook_describe(id, __atomic_load_n(&taken[index].name, __ATOMIC_ACQUIRE), "");
	sw_call_context(&call, sw_context_here());
	r = sw_call_record(&call, SW_REC_UNCLASSIFIED, sizeof *r);
	if (r)
		memcpy(r->args, args, sizeof r->args);
	sw_call_publish(&call);
	/* The call continues without us, so neither its status nor its duration is known. */
	sw_call_leave(&call, 0);
	return taken[index].real;
}
