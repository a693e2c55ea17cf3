/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merged reports of the processes of one job: each finding once, with its processes.
 *
 * Reports are added one after the other and may be freed at once, so memory grows with the findings that differ, not
 * with the traces.  What was merged can be written as JSON (doc/merge.md) and read again: merging is associative, and
 * the order of what is added makes no difference.
 *
 *     struct sw_merged *merged = sw_merged_new();
 *     sw_merged_add(merged, report, path);             // for each trace
 *     sw_merged_read(merged, file, path, &error);      // for each partial result
 *     sw_merged_finish(merged);
 *     sw_merged_text(merged, stdout, &style);
 *
 * Not thread-safe.
 */
#ifndef SW_MERGE_MERGED_H
#define SW_MERGE_MERGED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "merge/collectives.h"
#include "reader/reader.h"
#include "report/json/json_out.h"
#include "report/report.h"

struct sw_merged;
struct sw_merged_rank;
struct sw_report;

/*
 * Memory that processes share by CUDA's IPC handles: which process exported it, which opened it, and until when.  Both
 * sides know it by the hash of the handle.
 */

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

/* How many processes exported memory that no process here opened. */
size_t sw_shared_unopened(const struct sw_shared_memory *shared);

/* Findings: freed by the exporter while another process has it open; used by two without order. */
void sw_between_shared(struct sw_merged *merged);

/* One process. */
struct sw_merged_rank {
	char *program, *trace, *host, *boot, *job, *recorder; /* "" unknown */
	bool ranked;					      /* rank is known */
	uint32_t rank, size, restart;			      /* size 0: unknown */
	uint32_t pid, ppid;
	uint64_t start_real_ns, start_monotonic_ns, span_ns; /* CLOCK_REALTIME, CLOCK_MONOTONIC */
	uint64_t start_ticks, tick_rate; /* of the time stamp counter, ns a tick in 2^-32; 0: other ticks, or no rate */
	bool ended_in_order, simulated;
	uint32_t errors, warnings, notes;
	uint64_t host_wait_ns;
	uint64_t driver_calls; /* that were judged */
	uint64_t left_out;     /* calls outside of the windows that were recorded */
	SW_VEC(char *) gaps;   /* what is missing in its trace, so that its report proves nothing */
	size_t index;	       /* in the order of the report, once finished */
	bool again;	       /* while something is added: it was there before, and what it did not have is counted */
};

struct sw_merged_finding {
	uint64_t fingerprint;
	enum sw_severity severity;
	bool suppressed;
	char *text;			    /* NULL: a note, which the text leaves out */
	char *json;			    /* an object of report.schema.json */
	SW_VEC(struct sw_merged_rank *) in; /* the first is the one that text and json are of */
};

struct sw_merged_unusable {
	char *path, *why;
};

struct sw_merged {
	SW_VEC(struct sw_merged_rank *) ranks;
	SW_VEC(struct sw_merged_finding *) findings;
	SW_VEC(struct sw_merged_unusable) unusable;
	struct sw_collective_set collectives;
	struct sw_shared_memory shared;
	/* Made by sw_merged_finish(). */
	uint32_t errors, warnings, notes, suppressed;
	uint32_t expected; /* ranks that the job had, 0 unknown */
	uint32_t present;  /* of them, with a trace */
	SW_VEC(struct sw_between *) between;
	SW_VEC(struct sw_merged_clock) clocks; /* of each machine, the first rank's first */
	SW_VEC(char *) gaps; /* why the report may lack something; empty: all ranks were merged whole */
};

/* Empty; sw_merged_free() frees all that was added. */
struct sw_merged *sw_merged_new(void);
void sw_merged_free(struct sw_merged *merged);

/* Adds a process: its report's findings, and what was missing in its trace.  Of a process that was already added, which
   is returned, only those that are new. */
struct sw_merged_rank *sw_merged_add(struct sw_merged *merged, struct sw_report *report, const char *trace);
/* Adds a report without its findings, for comparing processes alone. */
struct sw_merged_rank *sw_merged_add_process(struct sw_merged *merged, struct sw_report *report, const char *trace);
/* Adds the collectives of a process, and the memory that it shares, from its trace and its report.  0, or <0 with error
 * filled: as far as it could be read. */
int sw_merged_collectives(struct sw_merged *merged, struct sw_merged_rank *process, struct sw_report *report,
			  const char *trace, struct sw_error *error);
/* A trace or a partial result that could not be read. */
void sw_merged_unusable(struct sw_merged *merged, const char *path, const char *why);

/* Adds what sw_merged_json() wrote.  0, or -errno or SW_E_FORMAT with error filled and nothing added. */
int sw_merged_read(struct sw_merged *merged, FILE *file, const char *path, struct sw_error *error);

/* Sorts, counts and compares the ranks; nothing is added after it. */
void sw_merged_finish(struct sw_merged *merged);
/* Only compares the processes, which need not be all ranks of a job: fills `between`, and `gaps` by what could not be
   compared. */
void sw_merged_compare_processes(struct sw_merged *merged);

/* After sw_merged_finish().  Errors of `out` are the caller's to check (ferror). */
void sw_merged_json(const struct sw_merged *merged, FILE *out);
void sw_merged_text(const struct sw_merged *merged, FILE *out, const struct sw_text_style *style);
/* The findings between processes alone; as JSON the member "between_ranks", whose processes are indices, or pids. */
void sw_merged_between_text(const struct sw_merged *merged, FILE *out);
void sw_merged_between_json(struct sw_json *json, const struct sw_merged *merged, bool pids);

/* ---- for the files of this module ------------------------------------------------------------------------------- */

static inline int sw_merged_by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int sw_merged_compare(const struct sw_merged_rank *a, const struct sw_merged_rank *b);
/* The machine that the process ran on, as a text: its boot, or the host's name where that is not known. */
const char *sw_merged_machine(const struct sw_merged_rank *rank);
/* The process of `merged` that compares equal, NULL: it is not there. */
struct sw_merged_rank *sw_merged_find_rank(const struct sw_merged *merged, const struct sw_merged_rank *rank);
void sw_merged_free_rank(struct sw_merged_rank *rank);
/* Takes the finding; puts it together with one that is the same. */
void sw_merged_take_finding(struct sw_merged *merged, struct sw_merged_finding *finding);
/* Adds what `other`, another trace of the same process, says of it; its counts are added by its findings. */
void sw_merged_join_rank(struct sw_merged_rank *rank, struct sw_merged_rank *other);
/* Faults of the ranks as a set: missing, twice, of several jobs or versions, with clocks that disagree. */
void sw_merged_check_ranks(struct sw_merged *merged);
/* "rank 3 (python3, process 123 on node7)" */
void sw_merged_name(FILE *out, const struct sw_merged_rank *rank);

#endif
