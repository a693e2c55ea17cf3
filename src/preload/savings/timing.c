/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the run took: from the first work for a device to the end of the last call.  What comes before (starting
 * CUDA, loading code) and after it (unloading) differs more from run to run than what is to be measured.
 */
#include "preload/savings/savings.h"

#include "preload/platform/sys.h"

static _Atomic uint64_t first_ns, last_ns, before_us;
static _Atomic bool installed, prepared, begun;
static __thread bool counts __attribute__((tls_model("initial-exec")));
static __thread bool waits __attribute__((tls_model("initial-exec")));
static __thread bool waits_for_all __attribute__((tls_model("initial-exec")));

static bool is_work(const struct sw_rec *rec)
{
	switch (rec->kind) {
	case SW_REC_LAUNCH:
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
	case SW_REC_GRAPH_LAUNCH:
	case SW_REC_HOST_FUNC:
		return true;
	default:
		return false;
	}
}

static void time_call(const struct sw_rec *rec)
{
	uint64_t never = 0;
	counts = rec->kind != SW_REC_CONTEXT_OP && rec->kind != SW_REC_CODE_UNLOAD;
	waits |= rec->flags & SW_RF_BEGIN || rec->kind == SW_REC_SYNC || rec->kind == SW_REC_QUERY ||
		 rec->kind == SW_REC_FREE || rec->kind == SW_REC_CONFIG || rec->kind == SW_REC_CODE_UNLOAD;
	waits_for_all |=
		rec->kind == SW_REC_SYNC && ((const struct sw_rec_sync *)(const void *)rec)->what == SW_SYNC_CONTEXT;
	if (!is_work(rec) || atomic_load(&first_ns))
		return;
	/* Not earlier: programs ask for the limit that there is, and add to it. */
	if (!atomic_exchange(&begun, true))
		sw_limits_prepare();
	atomic_store(&before_us, sw_result_us());
	atomic_compare_exchange_strong(&first_ns, &never, sw_sys_monotonic());
}

/* What a change does once, before the first work.  A call that makes something shows that a context is there. */
static void prepare(const struct sw_rec *rec)
{
	const bool makes =
		rec->kind == SW_REC_ALLOC || rec->kind == SW_REC_STREAM_CREATE || rec->kind == SW_REC_EVENT_CREATE;
	if (!is_work(rec) && (!makes || rec->status))
		return;
	if (atomic_exchange(&prepared, true))
		return;
	sw_staging_prepare();
}

static void note_streams(const struct sw_rec *rec, CUstream stream)
{
	const uint64_t handle = ((const struct sw_rec_stream *)(const void *)rec)->stream;
	if (rec->kind == SW_REC_STREAM_CREATE && !rec->status) {
		sw_savings_stream_made(rec);
	} else if (rec->kind == SW_REC_STREAM_DESTROY) {
		sw_savings_stream_gone(handle);
		sw_fences_stream_gone((CUstream)(uintptr_t)handle);
	} else if (is_work(rec) || rec->kind == SW_REC_MEM_OP || rec->kind == SW_REC_OTHER ||
		   rec->kind == SW_REC_UNCLASSIFIED) {
		sw_fences_work(stream);
	}
}

/* Nothing of ours in a context that ends can be used any more. */
static void context_op(const struct sw_rec *rec)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)rec;
	if (o->op != SW_CONTEXT_DESTROY && o->op != SW_CONTEXT_RESET)
		return;
	sw_fences_break();
	sw_kept_forget();
}

void sw_savings_record(const struct sw_rec *rec, CUstream stream, bool capturing)
{
	if (!atomic_exchange(&installed, true))
		sw_savings_install();
	sw_savings_capturing(capturing);
	if (!capturing) {
		prepare(rec);
		note_streams(rec, stream);
	}
	if (rec->kind == SW_REC_CONTEXT_OP)
		context_op(rec);
	if (rec->kind == SW_REC_HOST_FUNC || rec->kind == SW_REC_MEM_OP || rec->kind == SW_REC_OTHER ||
	    rec->kind == SW_REC_UNCLASSIFIED)
		sw_staging_in_order();
	time_call(rec);
	if (sw_confirm_plan.changes.outputs && !capturing)
		sw_explore_before(rec, stream);
}

void sw_savings_left(int status)
{
	if (sw_confirm_plan.changes.outputs)
		sw_staging_finish();
	else if (waits)
		sw_staging_bring();
	if (sw_confirm_plan.changes.outputs && waits)
		sw_staging_compare();
	waits = false;
	sw_marks_left(waits_for_all && !status);
	waits_for_all = false;
	if (counts)
		atomic_store(&last_ns, sw_sys_monotonic());
	counts = false;
	if (sw_confirm_plan.changes.outputs)
		sw_explore_left(status);
}

void sw_savings_end(void)
{
	const uint64_t first = atomic_load(&first_ns), last = atomic_load(&last_ns);
	if (sw_confirm_plan.changes.outputs)
		sw_explore_end();
	sw_savings_tell_sites();
	sw_marks_end(last);
	sw_pinned_end();
	sw_host_uses_end();
	sw_result("span %llu %llu", (unsigned long long)(first && last > first ? last - first : 0),
		  (unsigned long long)atomic_load(&before_us));
}
