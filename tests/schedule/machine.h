/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of which everything is known: it runs a program of one host thread on a device, and says when each call and
 * each piece of work began and ended.  The simulation study (study.c) runs a program as it is and with a change: the
 * difference is the gain that the schedule has to predict from the records of the first run.
 *
 * Shares nothing with src/schedule but the names of kinds.
 */
#ifndef TESTS_SCHEDULE_MACHINE_H
#define TESTS_SCHEDULE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/schedule.h"

enum { MACHINE_QUEUES = 4, MACHINE_EVENTS = 4, MACHINE_OPS = 4096, MACHINE_SITES = 24 };

enum op_kind {
	OP_LAUNCH,
	OP_UP, /* asynchronous copies, pinned memory */
	OP_DOWN,
	OP_UP_STAGED, /* the same with pageable memory: the call moves the bytes */
	OP_DOWN_STAGED,
	OP_SYNC_DOWN,  /* a synchronous copy to pinned memory */
	OP_LEGACY_SET, /* on the legacy default stream */
	OP_RECORD,
	OP_WAIT,
	OP_SYNC_QUEUE,
	OP_SYNC_DEVICE,
	OP_SYNC_EVENT,
	OP_FREE,   /* waits for the device, and takes its time */
	OP_CONFIG, /* the same, longer */
	OP_PIN,	   /* takes its time */
	OP_KINDS
};

struct op {
	enum op_kind kind;
	uint32_t site, queue, event;
	uint64_t gap_ns; /* the host's own work before it */
	uint64_t own_ns; /* what the call takes for itself */
	uint64_t dur_ns; /* kernels, sets: of the work */
	uint64_t bytes;
	uint32_t quarters; /* kernels: of the device */
	uint32_t like;
	bool needed; /* the host uses what the call waits for, right after it */
};

struct machine {
	uint64_t lead_ns, lag_ns, tail_ns; /* from call to start, work to work, end of work to return */
	uint64_t pinned_ns_per_kib, staged_ns_per_kib;
	uint64_t launch_ns;
	struct op op[MACHINE_OPS];
	size_t ops;
};

/* Queue 0 is the legacy default stream, 1 and 2 are blocking, the others are not. */
static inline enum sw_queue_kind machine_queue(uint32_t queue)
{
	return queue == 0 ? SW_QUEUE_LEGACY : queue < 3 ? SW_QUEUE_BLOCKING : SW_QUEUE_FREE;
}

/* Changes of the calls of one site, as src/schedule's. */
struct machine_change {
	bool made;
	enum sw_what_if_kind kind;
	uint32_t site;
	bool keeps[MACHINE_QUEUES]; /* SW_IF_LESS: queues that the host still waits for */
};

struct machine_times {
	uint64_t call, back; /* of each call */
	uint64_t start, end; /* of its work, 0: none */
};

/* Returns the length of the run. */
uint64_t machine_run(const struct machine *m, const struct machine_change *change, struct machine_times *times);

/* Kinds of operations. */
bool op_is_work(enum op_kind kind);
bool op_is_staged(enum op_kind kind);
bool op_waits(enum op_kind kind);

#endif
