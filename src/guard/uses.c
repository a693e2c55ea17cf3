/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/uses.h"

static struct sw_guard_use box(const struct sw_rec_copy_nd *c, const struct sw_box *b, bool writes)
{
	uint64_t slice, rows, span;
	struct sw_guard_use use = {b->base, 0, writes};
	if (b->side == SW_SIDE_ARRAY || !c->width || __builtin_mul_overflow(b->pitch, b->slice_rows, &slice) ||
	    __builtin_mul_overflow(slice, c->depth ? c->depth - 1 : 0, &span) ||
	    __builtin_mul_overflow(b->pitch, c->height ? c->height - 1 : 0, &rows) ||
	    __builtin_add_overflow(span, rows, &span) || __builtin_add_overflow(span, c->width, &use.bytes))
		use.bytes = 0;
	return use;
}

static uint64_t set_span(const struct sw_rec_set *s)
{
	return s->width + (s->height > 1 ? (s->height - 1) * s->pitch : 0);
}

uint32_t sw_uses_of(const struct sw_rec *rec, struct sw_guard_use use[SW_USES])
{
	const void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
	case SW_REC_COPY: {
		const struct sw_rec_copy *c = r;
		uint32_t n = 0;
		if (c->src_side != SW_SIDE_ARRAY)
			use[n++] = (struct sw_guard_use){c->src, c->bytes, false};
		if (c->dst_side != SW_SIDE_ARRAY)
			use[n++] = (struct sw_guard_use){c->dst, c->bytes, true};
		return n;
	}
	case SW_REC_COPY_ND: {
		const struct sw_rec_copy_nd *c = r;
		use[0] = box(c, &c->src, false);
		use[1] = box(c, &c->dst, true);
		return 2;
	}
	case SW_REC_SET: {
		const struct sw_rec_set *s = r;
		use[0] = (struct sw_guard_use){s->dst, set_span(s), true};
		return 1;
	}
	default:
		return 0;
	}
}

uint64_t sw_use_stream(const struct sw_rec *rec)
{
	const void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
#define STREAM(kind, type)                                                                                             \
	case SW_REC_##kind:                                                                                            \
		return ((const struct type *)r)->stream;
		STREAM(LAUNCH, sw_rec_launch)
		STREAM(COPY, sw_rec_copy)
		STREAM(COPY_ND, sw_rec_copy_nd)
		STREAM(SET, sw_rec_set)
		STREAM(STREAM_CREATE, sw_rec_stream)
		STREAM(STREAM_DESTROY, sw_rec_stream)
		STREAM(EVENT_RECORD, sw_rec_event_record)
		STREAM(STREAM_WAIT, sw_rec_stream_wait)
		STREAM(HOST_FUNC, sw_rec_host_func)
		STREAM(GRAPH_LAUNCH, sw_rec_graph_launch)
		STREAM(MEM_OP, sw_rec_mem_op)
#undef STREAM
	default:
		return 0;
	}
}

uint64_t sw_use_handle(const struct sw_rec *rec)
{
	const void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
	case SW_REC_EVENT_RECORD:
		return ((const struct sw_rec_event_record *)r)->event;
	case SW_REC_STREAM_WAIT:
		return ((const struct sw_rec_stream_wait *)r)->event;
	case SW_REC_STREAM_CREATE:
		return ((const struct sw_rec_stream *)r)->flags;
	case SW_REC_CAPTURE:
		return ((const struct sw_rec_capture *)r)->op;
	default:
		return 0;
	}
}
