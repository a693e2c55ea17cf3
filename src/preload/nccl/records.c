/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of NCCL as two records of the recorder, before and after it: the calls of CUDA that it makes are recorded
 * between them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "preload/nccl/nccl.h"

static const struct sw_companion *recorder;
static bool asked;

/* Each thread that comes here before it is done does it all: the results are the same. */
const struct sw_companion *sw_nccl_recorder(void)
{
	if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
		const struct sw_companion *(*find)(uint32_t) =
			(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
		recorder = find ? find(SW_COMPANION_VERSION) : NULL;
		__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
	}
	return recorder;
}

void sw_nccl_begin(struct sw_nccl_call *call, const struct sw_rec_collective *what, void *frame)
{
	const int saved = errno;
	const struct sw_companion *c = sw_nccl_recorder();
	struct sw_call one;
	*call = (struct sw_nccl_call){.frame = frame};
	/* A program that never calls CUDA leaves no trace. */
	call->on = c && c->recording() && !c->nested(frame) && c->enter(&one, 0, SW_RF_BEGIN, frame);
	if (call->on) {
		struct sw_rec_collective *r = c->record(&one, SW_REC_COLLECTIVE, sizeof *r);
		if (r)
			memcpy((char *)r + sizeof r->h, (const char *)what + sizeof r->h, sizeof *r - sizeof r->h);
		c->publish(&one);
		call->seq = one.seq;
		call->t0 = one.t0;
		c->leave(&one, 0);
	}
	errno = saved;
}

void sw_nccl_end(struct sw_nccl_call *call, int result)
{
	const int saved = errno;
	const struct sw_companion *c = sw_nccl_recorder();
	struct sw_call one;
	if (call->on && c->enter(&one, 0, SW_RF_END, call->frame)) {
		struct sw_rec_end *r = c->record(&one, SW_REC_COLLECTIVE, sizeof *r);
		if (r)
			r->begin_seq = call->seq;
		c->publish(&one);
		one.t0 = call->t0;
		c->leave(&one, result);
	}
	errno = saved;
}
