/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host threads with a lane each (strict host): what orders them.
 *
 * POSIX.1-2017, Base Definitions 4.12: the functions listed there "synchronize memory with respect to other threads";
 * the order of the calls is in the records: a lock comes after the unlock before it, pthread_create() comes before all
 * that the new thread does, pthread_join() after it.
 */
#include "detect/calls/threads.h"

#include "detect/hazards/host_functions.h"
#include "detect/model/call.h"
#include "detect/model/handlers.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

void sw_on_host_sync(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_sync *s = (const struct sw_rec_host_sync *)(const void *)r->rec;
	const uint64_t key = s->object | (uint64_t)s->kind << 56;
	(void)w;
	if (!m->options->strict_host)
		return;
	m->j->coverage.host_syncs++;
	switch ((enum sw_thread_op)s->op) {
	case SW_THREAD_ACQUIRE:
		sw_hb_acquire(m->hb, key, r->thread, r->seq);
		break;
	case SW_THREAD_RELEASE:
		sw_hb_release(m->hb, key, r->thread, r->seq);
		break;
	case SW_THREAD_CREATE:
		sw_hb_thread_create(m->hb, s->object, r->thread, r->seq);
		break;
	case SW_THREAD_START:
		sw_hb_thread_start(m->hb, s->object, r->thread);
		break;
	case SW_THREAD_ABANDON:
		sw_hb_thread_abandon(m->hb, s->object);
		break;
	case SW_THREAD_END:
		sw_hb_thread_end(m->hb, s->object, r->thread);
		break;
	case SW_THREAD_JOIN:
		sw_hb_thread_join(m->hb, s->object, r->thread, r->seq);
		break;
	}
}

void sw_host_func_returned(struct sw_model *m, const struct sw_record *begin, uint64_t seq)
{
	const struct sw_rec_host_func *f = (const struct sw_rec_host_func *)(const void *)begin->rec;
	struct sw_hb_at at = sw_model_at(m, begin, f->stream);
	at.seq = seq;
	sw_hb_host_func_return(m->hb, &at);
	sw_host_func_finish(m, f->enqueued, begin->thread);
}
