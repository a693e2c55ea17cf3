/* SPDX-License-Identifier: Apache-2.0 */
/* Each record to its handler. */
#include "detect/kernels/collectives.h"
#include "detect/dispatch.h"

#include "detect/calls/threads.h"
#include "detect/graphs/capture_isolation.h"
#include "detect/hazards/host_functions.h"
#include "detect/model/asked_order.h"
#include "detect/model/call.h"
#include "detect/model/contexts.h"
#include "detect/model/handlers.h"
#include "detect/libraries/library_calls.h"
#include "detect/model/model.h"
#include "detect/model/nvtx.h"
#include "detect/waits/schedule_feed.h"
#include "detect/waits/waits.h"
#include "reader/kinds.h"

static sw_handler *const handlers[256] = {
#define SW_HANDLER(kind, name) [SW_REC_##kind] = sw_on_##name,
	SW_HANDLERS(SW_HANDLER)
#undef SW_HANDLER
};

/* Errors after which a context can only be destroyed: cuda.h says of each that "the context cannot be used". */
static const uint16_t sticky[] = {
	214 /* ECC */,		 220 /* NVLink */,	  226 /* contained */,	700 /* illegal address */,
	702 /* time-out */,	 710 /* assert */,	  714 /* stack */,	715 /* illegal instruction */,
	716 /* misaligned */,	 717 /* address space */, 718 /* invalid pc */, 719 /* launch failed */,
	721 /* tensor memory */, 999 /* unknown */,
};

static bool is_sticky(uint16_t status)
{
	for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++)
		if (sticky[i] == status)
			return true;
	return false;
}

static void base_access(struct sw_model *m, const struct sw_record *r, struct sw_access *what)
{
	const struct sw_library_open *open = sw_library_open_of(m, r->thread);
	*what = (struct sw_access){
		.role = SW_CALL,
		.kind = r->rec->kind,
		.api = r->rec->api,
		.flags = r->rec->flags,
		.nvtx = sw_nvtx_of(m, r->thread),
		.forward = sw_nvtx_forward(m, r),
		.library = open ? open->index : 0,
		.library_call = open ? open->call : 0,
		.operands = open ? open->operands : 0,
		.seq = r->seq,
		.t_ns = r->t_ns,
		.dur_ns = r->dur_ns,
		.thread = r->thread,
		.stack = r->stack,
		.device = m->context[r->rec->ctx].device,
		.param = -1,
	};
}

static void count_call(struct sw_model *m, const struct sw_record *r)
{
	uint64_t end = r->t_ns + r->dur_ns;
	if (!m->any || r->t_ns < m->first_ns)
		m->first_ns = r->t_ns;
	if (!m->any || end > m->last_ns)
		m->last_ns = end;
	m->any = true;
	if (r->rec->flags & SW_RF_END || r->rec->kind == SW_REC_HOST_FUNC_RUN || r->rec->kind == SW_REC_ANNOTATION ||
	    r->rec->kind == SW_REC_HOST_ACCESS || r->rec->kind == SW_REC_HOST_SYNC)
		return;
	sw_host_func_caller(m, r->thread);
	m->j->coverage.driver_calls++;
	m->j->coverage.runtime_calls += r->rec->flags & SW_RF_RUNTIME ? 1 : 0;
}

static void end_of_call(struct sw_model *m, const struct sw_record *r)
{
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
	struct sw_wait *w = sw_wait_take(m, end->begin_seq);
	if (!w)
		return;
	m->wait = w;
	m->record = &w->record;
	if (m->schedule)
		sw_timing_return(m, &w->record, r->dur_ns);
	if (w->record.rec->kind == SW_REC_HOST_FUNC_RUN)
		sw_host_func_returned(m, &w->record, r->seq);
	sw_recent_calls_add(&m->collect.recent, &w->record, r->seq);
	sw_wait_done(m, w, r->seq, r->t_ns, r->dur_ns, r->failed);
	sw_wait_recycle(m, w);
}

static void report_failed_call(struct sw_model *m, const struct sw_record *r)
{
	struct sw_operation op = {.record = r};
	struct sw_context_state *context = &m->context[r->rec->ctx];
	if (is_sticky(r->rec->status) && !context->over) {
		context->over = true;
		if (!m->j->coverage.sticky_error_seq)
			m->j->coverage.sticky_error_seq = r->seq;
	}
	if (r->rec->flags & SW_RF_END)
		return;
	base_access(m, r, &op.what);
	sw_isolation_failed(m, r, &op.what);
	if (!m->observer->operation)
		return;
	m->observer->operation(m->observer->arg, &op);
}

void sw_model_step(struct sw_model *m, const struct sw_record *r)
{
	m->step++;
	if (r->rec->kind == SW_REC_RANGE) {
		sw_nvtx_take(m, r);
		return;
	}
	if (r->rec->kind == SW_REC_COLLECTIVE) {
		m->j->collectives = true;
		sw_collective_take(m, r);
		return;
	}
	if (r->rec->kind == SW_REC_LIBRARY) {
		sw_library_take(m, r);
		return;
	}
	sw_handler *handler = handlers[r->rec->kind];
	bool operation = sw_kind_is_operation(r->rec->kind);
	if (operation) {
		count_call(m, r);
		if (r->failed)
			report_failed_call(m, r);
		if (r->rec->flags & SW_RF_END) {
			end_of_call(m, r);
			return;
		}
		/* A capture has ended also when its end returned an error. */
		if ((r->failed && r->rec->kind != SW_REC_CAPTURE) || m->context[r->rec->ctx].over)
			return;
	}
	bool two = operation && r->rec->flags & SW_RF_BEGIN;
	m->record = r;
	m->wait = two ? sw_wait_open(m, r) : sw_wait_single(m, r);
	base_access(m, r, &m->wait->what);
	sw_recent_calls_add(&m->collect.recent, r, r->seq);
	if (handler)
		handler(m, m->record, m->wait);
	sw_asked_order_take(m, m->wait);
	if (operation && m->schedule)
		sw_timing_call(m, m->record, m->wait);
	if (operation && !two)
		sw_wait_done(m, m->wait, r->seq, r->t_ns + r->dur_ns, r->dur_ns, false);
}
