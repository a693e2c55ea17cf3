/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectives of all ranks, by communicator: the calls of each rank in order, with their times.
 *
 * Ranks that call the same share one sequence.  Times are kept for some thousand collectives of a communicator, per
 * machine (its own clock): all of them while there are few, then every 2nd, 4th and so on.  The result does not depend
 * on the order in which ranks are added or merged.
 */
#ifndef SW_MERGE_COLLECTIVES_H
#define SW_MERGE_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "detect/detect.h"

struct sw_merged;
struct sw_merged_rank;

/* A call of a rank; op 0: unknown (its record was lost), which matches anything. */
struct sw_collective_call {
	uint32_t op, type, reduction;
	int32_t root;
	uint64_t count;
};

struct sw_collective_member {
	struct sw_merged_rank *process;
	uint32_t rank;
	uint32_t calls;	  /* the first so many of the sequence */
	uint64_t end_ns;  /* when its trace ends, by CLOCK_MONOTONIC */
	uint64_t last_ns; /* when its last recorded call of CUDA began */
};

struct sw_collective_sequence {
	SW_VEC(uint32_t) calls; /* indices into the communicator's kinds + 1; 0 unknown */
	SW_VEC(struct sw_collective_member) members;
};

/* One collective on one machine. */
struct sw_arrival {
	uint32_t number, n;	     /* of the collective, from 1; ranks that came */
	uint64_t first_ns, last_ns;  /* CLOCK_MONOTONIC */
	uint64_t second_ns;	     /* of the last but one; 0: there is none */
	uint64_t waited_ns;	     /* of all, until the last came */
	uint64_t done_ns;	     /* it is complete on one of them by then; UINT64_MAX unknown */
	struct sw_merged_rank *last; /* that came last, and what it did since its collective before: */
	uint64_t wait_ns, copy_ns, host_ns;
	uint64_t second_busy_ns; /* copy_ns + host_ns of the last but one */
};

struct sw_arrivals {
	char *boot;		      /* which machine */
	SW_VEC(struct sw_arrival) at; /* by number */
};

struct sw_communicator {
	uint64_t identity;
	uint32_t size;
	uint32_t stride; /* times are of numbers that it divides; a power of 2 */
	SW_VEC(struct sw_collective_call) kinds;
	SW_VEC(struct sw_collective_sequence *) sequences;
	SW_VEC(struct sw_arrivals *) machines;
};

struct sw_collective_set {
	SW_VEC(struct sw_communicator *) communicators;
};

void sw_collective_set_free(struct sw_collective_set *set);
struct sw_communicator *sw_communicator_of(struct sw_collective_set *set, uint64_t identity, uint32_t size);
/* Index + 1. */
uint32_t sw_communicator_kind(struct sw_communicator *c, const struct sw_collective_call *call);
/* Takes a sequence, of kinds of this communicator, with its members. */
void sw_communicator_take(struct sw_communicator *c, struct sw_collective_sequence *sequence);
void sw_communicator_arrive(struct sw_communicator *c, const char *boot, const struct sw_arrival *arrival);
/* Takes all of `from`, whose processes are those of `set` already. */
void sw_collective_set_join(struct sw_collective_set *set, struct sw_collective_set *from);
/* Another process stands for one of them. */
void sw_collective_set_rename(struct sw_collective_set *set, const struct sw_merged_rank *old,
			      struct sw_merged_rank *new);
/* Sorts, so that the JSON does not depend on the order in which ranks were added. */
void sw_collective_set_sort(struct sw_collective_set *set);

/* The place of the collective of this number in `at`, or where it belongs. */
size_t sw_arrivals_place(const struct sw_arrivals *arrivals, uint32_t number);
/* Two that came on one machine, or on two whose clocks were made one. */
struct sw_arrival sw_arrival_join(const struct sw_arrival *a, const struct sw_arrival *b);

/* Findings between the ranks: collectives that do not match, and late ranks. Made when all is merged. */

/* A row of merge/findings.def. */
struct sw_between_info {
	int number;
	const char *kind, *title, *text;
};
const struct sw_between_info *sw_between_info(int number);
const struct sw_between_info *sw_between_info_at(size_t index); /* NULL ends */

struct sw_between {
	int number;
	enum sw_severity severity;
	const char *confidence;
	uint64_t fingerprint;
	char *title, *text; /* one line; the rest */
	SW_VEC(struct sw_merged_rank *) ranks;
};

/* The clock of a machine: its CLOCK_MONOTONIC plus offset is that of the first rank's machine. */
struct sw_merged_clock {
	const char *boot, *host;
	int64_t offset_ns;
	uint64_t error_ns;    /* UINT64_MAX: not known */
	uint64_t collectives; /* that bound it */
};

void sw_between_find(struct sw_merged *merged);

struct sw_between *sw_between_add(struct sw_merged *merged, int number, enum sw_severity severity,
				  const char *confidence, uint64_t what);

#endif
