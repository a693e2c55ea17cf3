/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that processes share by CUDA's IPC handles: which process exported it, which opened it, and until when.  Both
 * sides know it by the hash of the handle.
 */
#ifndef SW_MERGE_SHARED_MEMORY_H
#define SW_MERGE_SHARED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/memory.h"
#include "reader/reader.h"

struct sw_merged;
struct sw_merged_rank;
struct sw_report;

/* Uses of memory that processes share which nothing orders. */

/* As struct sw_shared_use; times are of CLOCK_MONOTONIC, 0 where it never happened. */
struct sw_merged_use {
	struct sw_merged_rank *process;
	uint64_t handle, lo, hi;
	uint64_t call_ns, learnt_ns, known_ns, signalled_ns, signalled_more_ns, waited_ns;
	uint32_t signalled_event, waited_event;
	bool reads, writes, atomic, learning;
	uint64_t site; /* the same for all calls of one line, 0 unknown */
	char *what;    /* "kernel scale (demo.cu:28)" */
};
typedef SW_VEC(struct sw_merged_use) sw_merged_uses;
struct sw_shared_export {
	struct sw_merged_rank *process;
	uint64_t hash, bytes;
	uint64_t freed_ns; /* when its free had returned, CLOCK_MONOTONIC; 0: it was not freed */
	uint64_t freed_site;
	char *freed_at; /* as struct sw_merged_use's `what`; NULL unknown */
};
struct sw_shared_import {
	struct sw_merged_rank *process;
	uint64_t hash;
	uint64_t opened_ns, closed_ns; /* 0: it was not closed */
	uint64_t last_ns;	       /* last call of CUDA of the process */
	uint32_t opens;		       /* while its trace is read: each open needs a close */
};
struct sw_shared_memory {
	SW_VEC(struct sw_shared_export) exports;
	SW_VEC(struct sw_shared_import) imports;
	sw_merged_uses uses;
};

/* The state while the records of one trace are read. */
struct sw_shared_pass {
	struct sw_shared_memory *shared;
	struct sw_merged_rank *process;
	struct sw_report *report;
	size_t first_export, first_import; /* its own */
	struct sw_map sizes;		   /* address of each allocation -> bytes */
	struct sw_map exported;		   /* address of each exported one -> index + 1 */
	struct sw_map opened;		   /* address of each that is open -> index + 1 */
	struct sw_map freeing;		   /* seq of a BEGIN of FREE -> index + 1 of the export */
};
void sw_shared_begin(struct sw_shared_pass *pass, struct sw_shared_memory *shared, struct sw_merged_rank *process,
		     struct sw_report *report);
void sw_shared_take(struct sw_shared_pass *pass, const struct sw_reader *reader, const struct sw_record *r,
		    uint64_t now);
void sw_shared_end(struct sw_shared_pass *pass, uint64_t last_ns);

/* Takes what `from` owns. */
void sw_shared_join(struct sw_shared_memory *to, struct sw_shared_memory *from);
void sw_shared_rename(struct sw_shared_memory *shared, const struct sw_merged_rank *old, struct sw_merged_rank *new);
void sw_shared_free(struct sw_shared_memory *shared);

/* Processes that exported memory of which no process here opened any. */
size_t sw_shared_unopened(const struct sw_shared_memory *shared);

/* Findings: freed by the exporter while another process has it open; used by two without order. */
void sw_between_shared(struct sw_merged *merged);

#endif
