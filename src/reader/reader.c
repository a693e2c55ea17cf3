/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reader/dictionary.h"
#include "reader/kinds.h"

/* CUresult values that are no failure of the call: the numbers are part of the driver's ABI. */
#define SUCCESS		0
#define ERROR_NOT_READY 600

/* A gap between sequence numbers. */
struct hole {
	uint64_t first, last;
};

/* A record whose call had not returned when it was handed out. */
struct taken {
	uint64_t offset;
	uint8_t kind;
	struct sw_unreturned call;
};

struct sw_reader {
	struct sw_source source;
	struct sw_damage damage;
	struct sw_merge merge;
	struct sw_dictionary dictionary;
	struct sw_writer_cursor *current; /* whose head was handed out last */
	struct sw_trace_totals totals;
	uint64_t seq;	/* last sequence number passed */
	uint64_t ticks; /* of its record */
	SW_VEC(struct hole) holes;
	SW_VEC(struct sw_rec_cut) cuts; /* without a number: each is handed out when its range is over */
	struct sw_rec_cut cut;		/* the one handed out last */
	struct sw_rec_loss loss;	/* made for a hole */
	struct sw_rec_launch launch;	/* made of a short record */
	SW_VEC(uint64_t)
	seen; /* operations by entry point: replaces COUNTS when the program did not end in order */

	/* While the program runs. */
	uint64_t now_ns, held_seq, held_ns; /* the record that is held back, and since when */
	SW_VEC(struct taken) taken;	    /* before their calls returned */
	struct sw_follow_facts follow;
};

#define HOLES_MAX 4096 /* remembered, so that LOSS records that follow do not count them twice */

int sw_reader_open(const char *path, struct sw_reader **out, struct sw_error *error)
{
	struct sw_reader *r = sw_calloc(1, sizeof *r);
	int rc = sw_source_open(&r->source, path, error);
	if (rc) {
		free(r);
		return rc;
	}
	r->damage.path = r->source.path;
	r->dictionary.pid = r->source.header.pid;
	if (!sw_trace_clock_start(&r->dictionary.clock, &r->source.header))
		sw_damage_add(&r->damage, offsetof(struct sw_file_header, ticks_per_second),
			      "the clock rate is missing: times are in ticks");
	if (r->source.header.flags & SW_FILE_BEHIND)
		sw_damage_gap(&r->damage, offsetof(struct sw_file_header, flags),
			      "the last moments may be missing: records were in memory when the program ended, or it "
			      "still runs");
	rc = sw_merge_open(&r->merge, &r->source, &r->damage, error);
	if (rc) {
		sw_damage_free(&r->damage);
		sw_source_close(&r->source);
		free(r);
		return rc;
	}
	*out = r;
	return 0;
}

/* Opens the trace of a program that runs, by descriptors of its file and of its memory (-1: none), which the reader
   owns from now on. */
int sw_reader_follow(const char *path, int file, int memory, struct sw_reader **out, struct sw_error *error)
{
	struct sw_reader *r = sw_calloc(1, sizeof *r);
	const int rc = sw_source_follow(&r->source, path, file, memory, error);
	if (rc) {
		free(r);
		return rc;
	}
	r->damage.path = r->source.path;
	r->dictionary.pid = r->source.header.pid;
	sw_trace_clock_start(&r->dictionary.clock, &r->source.header);
	sw_merge_follow(&r->merge, &r->source);
	*out = r;
	return 0;
}

/* Frees the reader and all that it returned. */
void sw_reader_close(struct sw_reader *r)
{
	if (!r)
		return;
	sw_merge_close(&r->merge);
	sw_dictionary_free(&r->dictionary);
	sw_damage_free(&r->damage);
	sw_source_close(&r->source);
	free(r->holes.at);
	free(r->cuts.at);
	free(r->seen.at);
	free(r->taken.at);
	free(r);
}

/* Hands out a LOSS record that the file does not have, so that the order engine knows that numbers are missing. */
static void report_lost(struct sw_reader *r, struct hole hole, const struct sw_writer_cursor *w, struct sw_record *out)
{
	if (r->holes.n < HOLES_MAX)
		*sw_vec_push(&r->holes) = hole;
	r->totals.lost += hole.last - hole.first + 1;
	r->seq = hole.last;
	r->loss = (struct sw_rec_loss){
		.h = {.kind = SW_REC_LOSS,
		      .words = sizeof r->loss / 8,
		      .seq_lo = (uint32_t)hole.last,
		      .seq_hi = (uint16_t)(hole.last >> 32),
		      .ticks = w->head->ticks},
		.first_seq = hole.first,
		.last_seq = hole.last,
		.records = hole.last - hole.first + 1,
		.why = SW_LOSS_OTHER,
	};
	*out = (struct sw_record){
		.rec = &r->loss.h,
		.seq = hole.last,
		.t_ns = sw_clock_ns(&r->dictionary.clock, w->head->ticks),
		.offset = sw_writer_offset(w),
	};
}

/* Are the numbers from r->seq + 1 to `last` those of calls that were left out on purpose (CUT records)? */
static bool left_out(const struct sw_reader *r, const struct sw_rec *rec, uint64_t last)
{
	const struct sw_rec_cut *cut = (const void *)rec;
	if (rec->kind == SW_REC_CUT && sw_rec_seq(rec) && rec->words * 8u >= sizeof *cut)
		return cut->first_seq <= r->seq + 1 && cut->last_seq >= last;
	for (size_t i = 0; i < r->cuts.n; i++)
		if (r->cuts.at[i].first_seq <= r->seq + 1 && r->cuts.at[i].last_seq >= last)
			return true;
	return false;
}

/* Counts calls that were left out, in pauses or dropped from a recording that keeps only the newest ones. */
static void count_cut(struct sw_reader *r, const struct sw_rec_cut *cut)
{
	const bool dropped = cut->why == SW_CUT_DROPPED;
	*(dropped ? &r->totals.dropped_calls : &r->totals.left_out) += cut->calls;
	r->totals.dropped += dropped;
	r->totals.pauses += cut->why != SW_CUT_DROPPED && !(cut->flags & SW_CUT_BEGINS);
	if (cut->why != SW_CUT_DROPPED)
		r->totals.paused = cut->flags & (SW_CUT_BEGINS | SW_CUT_AT_END);
}

/* Hands out a CUT record (records were left out on purpose) whose range ends before `seq`, the number of the next
   record: in *out; false: there is none. */
static bool cut_is_over(struct sw_reader *r, uint64_t seq, uint64_t ticks, struct sw_record *out)
{
	size_t first = r->cuts.n;
	for (size_t i = 0; i < r->cuts.n; i++)
		if (r->cuts.at[i].last_seq < seq &&
		    (first == r->cuts.n || r->cuts.at[i].last_seq < r->cuts.at[first].last_seq))
			first = i;
	if (first == r->cuts.n)
		return false;
	r->cut = r->cuts.at[first];
	r->cuts.at[first] = r->cuts.at[--r->cuts.n];
	if (r->cut.last_seq > r->seq)
		r->seq = r->cut.last_seq;
	r->cut.h.seq_lo = (uint32_t)r->seq;
	r->cut.h.seq_hi = (uint16_t)(r->seq >> 32);
	r->cut.h.ticks = ticks;
	count_cut(r, &r->cut);
	*out = (struct sw_record){
		.rec = &r->cut.h,
		.seq = r->seq,
		.t_ns = sw_clock_ns(&r->dictionary.clock, ticks),
	};
	return true;
}

/* Numbers are missing before `seq`: notes the damage and hands out a LOSS record for them. */
static void report_hole(struct sw_reader *r, uint64_t seq, const struct sw_writer_cursor *w, struct sw_record *out)
{
	sw_damage_gap(&r->damage, sw_writer_offset(w), "records %" PRIu64 " to %" PRIu64 " are missing before this one",
		      r->seq + 1, seq - 1);
	report_lost(r, (struct hole){r->seq + 1, seq - 1}, w, out);
}

/* How many records a LOSS counts that no hole in the numbers counted before. */
static uint64_t newly_lost(const struct sw_reader *r, const struct sw_rec_loss *loss)
{
	uint64_t reported = 0;
	for (size_t i = 0; i < r->holes.n; i++) {
		const struct hole *h = &r->holes.at[i];
		uint64_t first = h->first > loss->first_seq ? h->first : loss->first_seq;
		uint64_t last = h->last < loss->last_seq ? h->last : loss->last_seq;
		if (first <= last)
			reported += last - first + 1;
	}
	return loss->records > reported ? loss->records - reported : 0;
}

/* No process makes more calls: a damaged record may say any number. */
#define CALLS_MOST (1ull << 40)

/* How many calls the record stands for: 1 for most. */
static uint64_t calls_of(const struct sw_rec *rec)
{
	const struct sw_rec_calls *counted = sw_record_calls(rec);
	return !counted || !counted->calls ? 1 : counted->calls < CALLS_MOST ? counted->calls : CALLS_MOST;
}

/* Counts a record for the totals of the trace. */
static void count_record(struct sw_reader *r, const struct sw_rec *rec)
{
	if (sw_kind_is_packed(rec->kind))
		return; /* of the packing, not of the run */
	r->totals.records++;
	if (rec->kind == SW_REC_END)
		r->totals.closed = true;
	if (rec->kind == SW_REC_CUT)
		count_cut(r, (const void *)rec);
	if (rec->kind == SW_REC_LOSS) {
		const struct sw_rec_loss *loss = (const void *)rec;
		r->totals.lost += newly_lost(r, loss);
		if (loss->why == SW_LOSS_SIZE_LIMIT || loss->why == SW_LOSS_NO_SPACE || loss->why == SW_LOSS_NO_MEMORY)
			r->totals.full = loss->why;
	}
	if (!sw_kind_is_operation(rec->kind))
		return;
	r->totals.bytes += rec->words * 8u;
	if (rec->flags & SW_RF_END)
		return;
	r->totals.operations++;
	while (r->seen.n <= rec->api)
		*sw_vec_push(&r->seen) = 0;
	r->seen.at[rec->api] += calls_of(rec);
}

/* Fills in how many calls the record stands for, and the time inside of them. */
static void fill_calls(struct sw_reader *r, struct sw_record *out)
{
	const struct sw_rec_calls *counted = sw_record_calls(out->rec);
	out->calls = calls_of(out->rec);
	if (counted)
		out->inside_ns = sw_clock_duration_ns(&r->dictionary.clock, counted->inside);
}

/* Did the call fail?  "Not ready" is the answer of a query, not a failure. */
static bool has_failed(const struct sw_rec *rec)
{
	return rec->status != SUCCESS && !(rec->kind == SW_REC_QUERY && rec->status == ERROR_NOT_READY);
}

/* Fills in *out for the head of w: its time, stack and parameters, the fields of a short record included. */
static void fill_record(struct sw_reader *r, const struct sw_writer_cursor *w, struct sw_record *out)
{
	const struct sw_rec *rec = sw_launch_is_short(w->head) ? &r->launch.h : w->head;
	const struct sw_trace_clock *clock = &r->dictionary.clock;
	*out = (struct sw_record){
		.rec = rec,
		.seq = sw_rec_seq(rec),
		.t_ns = sw_clock_ns(clock, rec->ticks),
		.offset = sw_writer_offset(w),
		.thread = w->thread,
		.stack = rec->stack ? sw_writer_stack(w, rec->stack) : 0,
	};
	if (!(rec->flags & SW_RF_PENDING)) {
		uint64_t units = rec->flags & SW_RF_DUR_1024 ? 1024 : 1;
		out->dur_ns = out->inside_ns = sw_clock_duration_ns(clock, rec->dur * units);
		out->failed = has_failed(rec);
	}
	fill_calls(r, out);
	if (rec->kind == SW_REC_LAUNCH && !(rec->flags & SW_RF_END)) {
		uint32_t id = ((const struct sw_rec_launch *)(const void *)rec)->params;
		const struct sw_param_block *block = id ? sw_writer_params(w, id) : NULL;
		if (block) {
			out->params = block->data;
			out->param_bytes = block->bytes;
		}
	}
}

/* Notes a call that is judged before it returned, to see later whether it failed. */
static void remember_unreturned(struct sw_reader *r, const struct sw_record *record)
{
	const struct sw_rec *rec = record->rec;
	r->follow.in_flight += !r->merge.ended;
	*sw_vec_push(&r->taken) = (struct taken){
		record->offset,
		rec->kind,
		{rec->api, rec->flags, record->thread, record->stack, record->seq, record->t_ns},
	};
}

/* Lets the head of w take effect.  1: *out is filled; 0: it was skipped. */
static int take_record(struct sw_reader *r, struct sw_writer_cursor *w, struct sw_record *out)
{
	const struct sw_rec *rec = w->head;
	const uint64_t seq = sw_rec_seq(rec);
	const size_t least = sw_kind_bytes(rec);
	if (seq && seq <= r->seq && r->merge.follows) {
		r->follow.overtaken++;
		return 0;
	}
	if (seq && seq <= r->seq) {
		sw_damage_add(&r->damage, sw_writer_offset(w),
			      "record %" PRIu64 " comes after record %" PRIu64 ": the rest of the chunk is skipped",
			      seq, r->seq);
		r->current = NULL;
		sw_merge_skip_chunk(&r->merge);
		return 0;
	}
	if (seq && r->cuts.n && cut_is_over(r, seq, rec->ticks, out)) {
		r->current = NULL; /* the head stays for the next call */
		return 1;
	}
	if (seq > r->seq + 1 && !left_out(r, rec, seq - 1)) {
		report_hole(r, seq, w, out);
		r->current = NULL;
		return 1;
	}
	if (seq) {
		r->seq = seq;
		r->ticks = rec->ticks;
	}
	if (!least)
		return 0; /* of a newer minor version */
	const char *wrong = rec->words * 8u < least ? "the record is shorter than its kind"
						    : sw_dictionary_take(&r->dictionary, w, rec);
	if (wrong) {
		sw_damage_add(&r->damage, sw_writer_offset(w), "%s record %" PRIu64 ": %s",
			      sw_record_kind_name(rec->kind), seq, wrong);
		return 0;
	}
	if (sw_launch_is_short(rec) && !sw_launch_expand(w, rec, &r->launch)) {
		sw_damage_add(&r->damage, sw_writer_offset(w),
			      "LAUNCH record %" PRIu64 ": the launch that it refers to is missing", seq);
		report_lost(r, (struct hole){seq, seq}, w, out);
		return 1;
	}
	if (rec->kind == SW_REC_CUT && !seq) {
		*sw_vec_push(&r->cuts) = *(const struct sw_rec_cut *)(const void *)rec;
		return 0;
	}
	count_record(r, rec);
	fill_record(r, w, out);
	if (r->merge.follows && rec->flags & SW_RF_PENDING && sw_kind_is_operation(rec->kind))
		remember_unreturned(r, out);
	return 1;
}

/* ---- a program that runs ------------------------------------------------------------------------------------------
 */

/* Was the record held back for `most_ns` already?  The first question about it begins the time. */
static bool was_held(struct sw_reader *r, uint64_t seq, uint64_t most_ns)
{
	if (r->held_seq != seq) {
		r->held_seq = seq;
		r->held_ns = r->now_ns;
	}
	const uint64_t held = r->now_ns - r->held_ns;
	if (held > r->follow.held_ns)
		r->follow.held_ns = held;
	return held >= most_ns;
}

/* For a program that runs: must the record wait, since an earlier one or its own return may still come?  1: yes; 0: no;
   <0: reading failed. */
static int hold_back(struct sw_reader *r, struct sw_writer_cursor *w, struct sw_error *error)
{
	const uint64_t seq = sw_rec_seq(w->head);
	if (!r->merge.follows || !seq)
		return 0;
	/* The record's call may have returned since the window was read. */
	if (r->merge.ended)
		return w->head->flags & SW_RF_PENDING ? sw_merge_reread(&r->source, w, error) : 0;
	if (!sw_merge_is_sure(&r->merge, w))
		return 1;
	if (seq > r->seq + 1 && !left_out(r, w->head, seq - 1))
		return !was_held(r, seq, SW_FOLLOW_HOLE_NS); /* the hole comes first, then it is asked for again */
	if (!(w->head->flags & SW_RF_PENDING))
		return 0;
	const int rc = sw_merge_reread(&r->source, w, error);
	if (rc || !(w->head->flags & SW_RF_PENDING))
		return rc;
	return !was_held(r, seq, SW_FOLLOW_CALL_NS);
}

/* Reads again the records of calls that were judged before they returned, and counts those that failed since. */
static void settle_taken(struct sw_reader *r)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->taken.n; i++) {
		const struct taken *taken = &r->taken.at[i];
		struct sw_rec now;
		size_t got;
		if (sw_source_read(&r->source, taken->offset, &now, sizeof now, &got, NULL) || got < sizeof now ||
		    now.kind != taken->kind || now.flags & SW_RF_PENDING) {
			r->taken.at[kept++] = *taken;
			continue;
		}
		r->follow.failed += has_failed(&now);
		r->follow.returned += !has_failed(&now) && !(now.flags & SW_RF_BEGIN);
	}
	r->taken.n = kept;
}

int sw_reader_refresh(struct sw_reader *r, uint64_t now_ns, bool ended, struct sw_error *error)
{
	const int rc = sw_source_refresh(&r->source, error);
	r->now_ns = now_ns;
	sw_merge_look(&r->merge, &r->source, ended, &r->damage);
	settle_taken(r);
	return rc;
}

/* Calls that had not returned when their records were handed out, by index; false: there are no more. */
bool sw_reader_unreturned(const struct sw_reader *r, size_t index, struct sw_unreturned *out)
{
	if (index < r->taken.n)
		*out = r->taken.at[index].call;
	return index < r->taken.n;
}

bool sw_reader_follows(const struct sw_reader *r)
{
	return r->merge.follows;
}

/* How following the program went: calls in flight, the longest time a record was held back. */
struct sw_follow_facts sw_reader_follow_facts(const struct sw_reader *r)
{
	return r->follow;
}

int sw_reader_next(struct sw_reader *r, struct sw_record *out, struct sw_error *error)
{
	for (;;) {
		int rc = sw_merge_next(&r->merge, &r->source, &r->damage, &r->current, error);
		if (rc < 0)
			return rc;
		if (!rc && r->merge.follows && !r->merge.ended)
			return SW_READER_WAIT;
		if (!rc)
			return cut_is_over(r, UINT64_MAX, r->ticks, out);
		rc = hold_back(r, r->current, error);
		if (rc)
			r->current = NULL; /* the head stays for the next call */
		if (rc)
			return rc < 0 ? rc : SW_READER_WAIT;
		if (take_record(r, r->current, out))
			return 1;
	}
}

const struct sw_file_header *sw_reader_header(const struct sw_reader *r)
{
	return &r->source.header;
}

uint64_t sw_reader_passed(const struct sw_reader *r)
{
	return r->seq;
}

const struct sw_source *sw_reader_source(const struct sw_reader *r)
{
	return &r->source;
}

/* The path as it was given. */
const char *sw_reader_path(const struct sw_reader *r)
{
	return r->source.path;
}

uint64_t sw_reader_bytes(const struct sw_reader *r)
{
	return r->source.bytes;
}

const char *sw_reader_damage(const struct sw_reader *r, size_t index)
{
	return index < r->damage.lines.n ? r->damage.lines.at[index] : NULL;
}

/* Counts of the whole trace; final once sw_reader_next() has returned 0. */
struct sw_trace_totals sw_reader_totals(const struct sw_reader *r)
{
	struct sw_trace_totals totals = r->totals;
	if (totals.lost < r->source.header.records_lost)
		totals.lost = r->source.header.records_lost;
	totals.cut_stacks = r->dictionary.cut_stacks;
	/* A trace without room for its END record, or one that was cut, is of a program that ended in order. */
	totals.closed |= r->source.header.flags & SW_FILE_CLOSED;
	totals.damaged = r->damage.unusable;
	totals.windowed = r->source.header.windows;
	totals.windows = totals.windowed ? r->source.header.windows / 2 - 1 : 0;
	return totals;
}

uint64_t sw_reader_calls(const struct sw_reader *r, uint16_t api)
{
	const struct sw_dictionary *d = &r->dictionary;
	if (d->calls.n)
		return api < d->calls.n ? d->calls.at[api] : 0;
	return api < r->seen.n ? r->seen.at[api] : 0;
}

/* ---- the dictionary ---- */

const struct sw_trace_thread *sw_reader_thread(const struct sw_reader *r, uint32_t thread)
{
	return sw_map_ptr(&r->dictionary.threads, thread);
}

/* The names of an entry point; NULL: unknown. */
const struct sw_trace_api *sw_reader_api(const struct sw_reader *r, uint16_t api)
{
	return api < r->dictionary.apis.n ? r->dictionary.apis.at[api] : NULL;
}

/* A call stack by its index; NULL: none or unknown. */
const struct sw_trace_stack *sw_reader_stack(const struct sw_reader *r, uint32_t stack)
{
	return stack && stack <= r->dictionary.stacks.n ? r->dictionary.stacks.at[stack - 1] : NULL;
}

bool sw_reader_has_python(const struct sw_reader *r)
{
	return r->dictionary.codes.n != 0;
}

/* A kernel by its number; NULL: unknown. */
const struct sw_trace_function *sw_reader_function(const struct sw_reader *r, uint32_t id)
{
	return sw_map_ptr(&r->dictionary.functions, id);
}

const struct sw_trace_function *sw_reader_next_function(const struct sw_reader *r, size_t *at)
{
	struct sw_map_slot slot;
	*at = sw_map_next(&r->dictionary.functions, *at, &slot);
	return *at ? (const void *)(uintptr_t)slot.value : NULL;
}

/* A context by its number; NULL: not described. */
const struct sw_trace_context *sw_reader_context(const struct sw_reader *r, uint8_t ctx)
{
	return r->dictionary.contexts[ctx];
}

/* An image (code that was loaded) by its number; NULL: not described. */
const struct sw_trace_image *sw_reader_image(const struct sw_reader *r, uint32_t id)
{
	const struct sw_image_entry *e = sw_map_ptr(&r->dictionary.images, id);
	return e ? &e->image : NULL;
}

/* Iterates over all images, from *at 0 on; NULL after the last. */
const struct sw_trace_image *sw_reader_next_image(const struct sw_reader *r, size_t *at)
{
	struct sw_map_slot slot;
	*at = sw_map_next(&r->dictionary.images, *at, &slot);
	return *at ? &((const struct sw_image_entry *)(uintptr_t)slot.value)->image : NULL;
}

const void *sw_reader_image_content(const struct sw_reader *r, uint32_t id)
{
	struct sw_image_entry *e = sw_map_ptr(&r->dictionary.images, id);
	return e ? sw_image_content(e, &r->source) : NULL;
}

/* Machine and environment of the process; NULL: the trace does not have it. */
const struct sw_trace_environment *sw_reader_environment(const struct sw_reader *r)
{
	return r->dictionary.environment;
}

/* Program and arguments; NULL: the trace does not have them. */
const struct sw_trace_process *sw_reader_process(const struct sw_reader *r)
{
	return r->dictionary.process;
}

const struct sw_trace_module *sw_reader_module(const struct sw_reader *r, uint64_t ip, uint64_t seq)
{
	for (size_t i = r->dictionary.modules.n; i-- > 0;) {
		const struct sw_trace_module *m = r->dictionary.modules.at[i];
		if (ip >= m->start && ip < m->end && m->mapped_seq <= seq && seq < m->gone_seq)
			return m;
	}
	return NULL;
}

const struct sw_trace_names *sw_reader_names(const struct sw_reader *r, const struct sw_trace_module *module)
{
	return sw_packed_names(&r->dictionary.packed, module);
}

/* The table of measured waits for this GPU that was packed; NULL: none. */
const struct sw_trace_table *sw_reader_table(const struct sw_reader *r, const char *gpu)
{
	return sw_packed_table(&r->dictionary.packed, gpu);
}

const char *sw_reader_packer(const struct sw_reader *r)
{
	return r->dictionary.packed.version;
}

const struct sw_trace_device *sw_reader_device(const struct sw_reader *r, size_t index)
{
	return index < r->dictionary.devices.n ? r->dictionary.devices.at[index] : NULL;
}

/* Iterates over the shared objects, index from 0; NULL ends. */
const struct sw_trace_module *sw_reader_module_at(const struct sw_reader *r, size_t index)
{
	return index < r->dictionary.modules.n ? r->dictionary.modules.at[index] : NULL;
}

/* Iterates over the recorder's messages, index from 0; NULL ends. */
const char *sw_reader_notice(const struct sw_reader *r, size_t index)
{
	return index < r->dictionary.notices.n ? r->dictionary.notices.at[index] : NULL;
}
