/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers findings: one per pair of call sites, with counts, the worst case kept.
 *
 * A call site is the API entry point, the call stack and the kernel of a side; streams and addresses differ from
 * iteration to iteration and do not make another finding.  Not thread-safe.
 */
#ifndef SW_DETECT_MODEL_COLLECT_H
#define SW_DETECT_MODEL_COLLECT_H

#include <stdint.h>

#include "base/map.h"
#include "detect/detect.h"

/*
 * The calls of the last records, so that a finding can name a call that is not one of its sides: the wait that orders
 * its streams, the record that its fix moves.  A table of fixed size: of older calls only the sequence number is known.
 * Not thread-safe.
 */

#define SW_RECENT_CALLS 65536u /* records; 1 MiB */

struct sw_recent_calls {
	struct sw_named_call *at;
};

/* Remembers a call for a while, so that findings can name it by `seq`: that of the record, or of the END record of its
   call. */
void sw_recent_calls_add(struct sw_recent_calls *recent, const struct sw_record *record, uint64_t seq);
/* The call with this number; its stack and api are 0 when it is not in the table any more; seq 0: no call. */
struct sw_named_call sw_recent_call(const struct sw_recent_calls *recent, uint64_t seq);

/*
 * A histogram of durations with eight buckets an octave, of constant size.
 *
 * A quantile is reported as the middle of its bucket: at most a sixteenth off.  Not thread-safe.
 */

#define SW_HISTOGRAM_OCTAVES 38u /* up to 2^40 ns, 18 minutes: what is longer counts as that */

struct sw_histogram {
	uint64_t n;
	uint32_t bucket[8 * SW_HISTOGRAM_OCTAVES];
};

/* Adds so many durations of that length. */
void sw_histogram_add(struct sw_histogram *spread, uint64_t times, uint64_t ns);
/* The duration that `percent` of them do not exceed, in ns; 0 when there are none. */
uint64_t sw_histogram_quantile(const struct sw_histogram *spread, unsigned percent);

struct sw_collect {
	struct sw_judgement *judgement;
	uint32_t *index; /* open addressing by hash of the call sites, a finding's fingerprint: finding + 1, 0: free */
	size_t index_room; /* a power of two */
	/* Accesses of findings: a call that meets many others is stored once, if it is still among these. */
	const struct sw_access **kept;
	struct sw_access *room; /* for the next ones */
	uint32_t rooms;
	struct sw_recent_calls recent; /* so that a finding can name them */
	bool none;		       /* no finding is wanted */
	bool keep_possible;
	bool tells;		/* findings that are new, or became stronger, are noted */
	SW_VEC(uint32_t) news;	/* their indexes, until they are told */
	struct sw_arena *arena; /* the judgement's */
};

void sw_collect_init(struct sw_collect *collect, struct sw_judgement *judgement, struct sw_arena *arena,
		     bool keep_possible);
void sw_collect_free(struct sw_collect *collect);

/* Will sw_collect_add() of it describe the finding by it?  Then `seen` should name its allocations. */
bool sw_collect_describes(const struct sw_collect *collect, const struct sw_finding *seen);
/* Is it known, but not for memory that this call stack allocated?  Then, too. */
bool sw_collect_wants_buffer(const struct sw_collect *collect, const struct sw_finding *seen, uint32_t stack);

/*
 * Adds one occurrence.  `seen` is complete but for count, cost and the calls that are named by their numbers only; what
 * it points to is copied.  A stronger occurrence (severity, then confidence)
 * replaces what is reported for a weaker one.  Returns the finding (valid until the next call), NULL when it is not
 * wanted. *described (may be NULL): the finding now describes this occurrence (the first one, or a stronger one).
 */
struct sw_finding *sw_collect_add(struct sw_collect *collect, const struct sw_finding *seen, bool *described);

/* One call of a wait: its host time, how much of that is its own work, did it wait. */
struct sw_wait_cost {
	uint64_t ns, own_ns;
	bool waited;
	struct sw_cost_parts parts;
};
void sw_collect_cost(struct sw_collect *collect, struct sw_finding *finding, const struct sw_wait_cost *cost);
/* The finding's cost, to be changed. */
struct sw_cost *sw_collect_own_cost(struct sw_collect *collect, struct sw_finding *finding);

/* The members that few findings need, to be filled in. */
struct sw_finding_details *sw_collect_more(struct sw_collect *collect, struct sw_finding *finding);
/* Keeps the nodes between which a dependency is missing.  finding NULL: it was not wanted. */
void sw_collect_nodes(struct sw_collect *collect, struct sw_finding *finding, const struct sw_node_pair *nodes);

/* Identifies the call site of one side. */
uint64_t sw_collect_site(const struct sw_access *access);
/* The finding with this id whose only call site is that of the access; NULL: none. */
struct sw_finding *sw_collect_find(const struct sw_collect *collect, int id, const struct sw_access *access);
/* Drops the finding; it stays in place until sw_collect_finish(). */
void sw_collect_drop(struct sw_collect *collect, struct sw_finding *finding);

/* At the end of the trace: severities of waits by their cost, folding, order, sums of the judgement. */
void sw_collect_finish(struct sw_collect *collect, uint64_t fold_below_ns);

#endif
