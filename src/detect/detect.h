/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: turns a trace into findings.  Facts only; the words are made in src/report.
 *
 *     reader -> model (what each record does: order and accesses) -> hazards, waits, lints -> findings
 *
 * Not thread-safe.  All pointers in a judgement live until sw_judgement_free().
 */
#ifndef SW_DETECT_DETECT_H
#define SW_DETECT_DETECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "detect/behaviour/behaviour.h"
#include "detect/gate.h"
#include "footprint/library.h"
#include "hb/hb.h"
#include "reader/reader.h"
#include "schedule/schedule.h"

/* Additions with which a trace is judged: edges that a fix would add, work and waits that a change would move.
 */

#define SW_MAX_NEEDS 8u

/* An edge that the run had and its trace does not show: an event after one call, a wait before others. */
enum sw_edge_end { SW_EDGE_AFTER, SW_EDGE_BEFORE, SW_EDGE_BEFORE_ON_HOST };
struct sw_added_edge {
	uint64_t seq; /* the record of the call */
	enum sw_edge_end end;
	uint32_t event; /* one of several: a wait is for the event of that number */
};

/* Does a rule order the work of these two calls, and do they touch the same bytes?  By their records. */
struct sw_asked_order {
	uint64_t earlier, later;
	/* Results: */
	bool known; /* both put work on streams */
	enum sw_order order;
	bool meet;	       /* both touch some byte, and one of them writes it */
	bool unclear;	       /* not all that they touch is known; else, without `meet`, they touch none */
	struct sw_point point; /* of the earlier one */
};

/* Work of a call site that is judged as if it were on a stream of its own: src/detect/judge.c. */
struct sw_moved_site {
	uint16_t api;
	uint32_t stack; /* as the reader numbers them */
};

/* A wait of a call site that is judged as if it were these edges: src/detect/judge.c. */
struct sw_narrowed_site {
	uint16_t api;
	uint32_t stack, n;
	struct {
		uint64_t from, to; /* handles of streams */
		bool on_host;	   /* the host waits for `from` */
	} edge[SW_MAX_NEEDS];
};

/* Calls of cuBLAS, cuFFT and others, as findings name them. */

enum sw_cuda_library {
	SW_CUDA_NONE,
	SW_CUDA_CUBLAS,
	SW_CUDA_CUBLASLT,
	SW_CUDA_CUFFT,
	SW_CUDA_CUSPARSE,
	SW_CUDA_CUSOLVER,
	SW_CUDA_CUDNN,
	SW_CUDA_LIBRARIES
};

/* A call of one of these libraries, one for all that are alike. */
struct sw_library_call {
	const char *function; /* as exported: "cublasSgemm_v2" */
	enum sw_cuda_library library;
	uint32_t number; /* of its handle among those of the library; 0: it has none */
	uint64_t handle;
	uint64_t workspace, workspace_bytes; /* the memory that the program gave it to work in; bytes 0: none */
};

/* Small: there may be a million findings. */
enum __attribute__((packed)) sw_severity { SW_NOTE, SW_WARNING, SW_ERROR };
enum __attribute__((packed)) sw_confidence { SW_POSSIBLE, SW_LIKELY, SW_CERTAIN };
enum __attribute__((packed)) sw_basis { SW_BASIS_DOCUMENTED, SW_BASIS_MAY, SW_BASIS_MEASURED };

/* src/detect/findings.def */
enum sw_finding_id {
#define SW_FINDING(name, number, ...) SW_FINDING_##name = number,
#include "detect/findings.def"
};
enum sw_finding_family {
	SW_FAMILY_HAZARD,   /* two sides that nothing orders */
	SW_FAMILY_MISUSE,   /* calls that order nothing, or are refused */
	SW_FAMILY_WAIT,	    /* calls that wait, or delay other work, as a side effect */
	SW_FAMILY_NEEDLESS, /* waits that ask for more than is needed */
	SW_FAMILY_GATE,	    /* calls that the user forbade (gate.h) */
	SW_FAMILY_RECORDING /* what the recording lacks */
};
/* How the severity of a finding is decided at the end of the trace. */
enum sw_finding_severity {
	SW_SEVERITY_AS_FOUND, /* of the strongest occurrence, never folded */
	SW_SEVERITY_BY_WAIT,  /* a warning by the host time of the calls that waited for other work */
	SW_SEVERITY_BY_TOTAL, /* by the host time of all calls: each of them is lost */
	/* Both without the longest call: what a program or a library does once, at its start, is harmless. */
	SW_SEVERITY_BY_REPEATED_WAIT,
	SW_SEVERITY_BY_REPEATED_TOTAL,
	SW_SEVERITY_NEVER_WARNS /* a note, folded by its total */
};
/* The member of struct sw_finding's union with the facts of a finding. */
enum sw_finding_facts {
	SW_FACTS_NONE,
	SW_FACTS_MISSED,
	SW_FACTS_REFUSED,
	SW_FACTS_BLOCKER,
	SW_FACTS_QUEUED,
	SW_FACTS_COVERED,
	SW_FACTS_POLLS,
	SW_FACTS_RULE,
	SW_FACTS_LOST
};
struct sw_finding_info {
	int number; /* 101 for SW101 */
	enum sw_finding_family family;
	enum sw_finding_severity severity;
	enum sw_finding_facts facts;
	const char *kind; /* "race-read-after-write" */
	const char *title;
	const char *text; /* for `syncwatch explain` */
};
const struct sw_finding_info *sw_finding_info(int number);	/* NULL unknown */
const struct sw_finding_info *sw_finding_info_at(size_t index); /* NULL ends */
bool sw_finding_is(int number, enum sw_finding_family family);
/* Is it a finding of family WAIT or NEEDLESS, which cost host time? */
bool sw_finding_is_wait(int number);

/* Calls that blocked a host thread, by purpose. */
enum sw_host_wait_kind {
#define SW_HOST_WAIT(name, kind, several) SW_HOST_WAIT_##name,
#include "detect/host_waits.def"
	SW_HOST_WAITS
};
struct sw_host_wait {
	uint64_t calls, ns; /* loops of queries: all their calls, from the first to the last */
};

/* How the bytes of an operation are known ("Evidence" in doc/findings.md), weakest first. */
enum __attribute__((packed)) sw_evidence {
	SW_EV_ASSUMED,
	SW_EV_SIGNATURE,
	SW_EV_DIRECTION,
	SW_EV_FOOTPRINT,
	SW_EV_EXACT
};
enum __attribute__((packed)) sw_role {
	SW_READ,
	SW_WRITE,
	SW_READ_WRITE,
	SW_FREE,
	SW_ALLOC,
	SW_RECORD,
	SW_WAIT,
	SW_CALL,
	SW_ATOMIC
};

/* A stream as a user knows it. Index 0 is "no stream" (the host). */
struct sw_stream_info {
	uint64_t handle;
	enum sw_lane_kind kind;
	uint32_t number; /* 1, 2, ... in order of creation; default streams: 0 */
	uint8_t ctx;
	int device;
	uint32_t thread;       /* per-thread streams */
	uint32_t create_stack; /* 0: unknown */
	uint64_t create_seq;
	const char *name; /* NVTX or annotation; NULL */
	bool many;	  /* one of so many streams that they are described together, by where they were created */
};

struct sw_allocation {
	uint64_t address, bytes;
	enum sw_memory memory;
	int device;
	uint32_t number;     /* 1, 2, ... in order of allocation */
	uint16_t api, flags; /* of the allocating call; flags: SW_RF_* */
	uint32_t stack, thread;
	uint64_t seq;
	const char *name; /* symbol or annotation; NULL */
	bool pool_block;  /* a block of a caching allocator, with numbers of its own: a tensor ... */
	bool one_stream;  /* ... or an array, of an allocator that knows of its own stream only */
};

/* A range of NVTX, one for all that are alike. */
struct sw_nvtx {
	const char *name, *domain; /* "" the default one */
	uint32_t within;	   /* the range around it: index + 1, 0: none */
};

/* How a kernel gets the address of the memory that it touches. */
enum sw_via {
	SW_VIA_PARAMETER, /* a pointer in its parameters (sw_access.param) */
	SW_VIA_SYMBOL,	  /* a module variable: `symbol` */
	SW_VIA_TEXTURE,	  /* a texture or surface whose handle is in its parameters, or tensor maps there, */
	SW_VIA_SURFACE,	  /* by value or by address */
	SW_VIA_TENSOR_MAP,
	SW_VIA_MEMORY,	  /* a pointer in memory that is reached through sw_access.param */
	SW_VIA_WORKSPACE, /* known from the library, not from code: its workspace, */
	SW_VIA_OPERAND	  /* or its operand */
};

/* Where an access of a kernel is in its code; source 0: not known from code, `unread` has the reason. */
struct sw_evidence_detail {
	uint32_t source; /* enum sw_code_source, 0: none */
	uint32_t arch;	 /* of the code that was analysed: 90 for sm_90 */
	bool other_code; /* not the code that ran */
	enum sw_via via;
	enum sw_extent extent;
	enum sw_why why;      /* why the extent is unknown, or not exact */
	bool polls;	      /* volatile, acquire, release, system scope */
	uint32_t place;	      /* line of the PTX, byte offset in the machine code */
	const char *mnemonic; /* "st.global", "" none */
	const char *symbol;   /* mangled, NULL: none */
	const char *unread;   /* "no code image", "unreadable: ..."; NULL: it was read */
};

/* An array's texels are addressed by (x in bytes, y, z, level of a mipmapped array); rows, slices and levels are laid
   out far enough apart that none runs into the next: widths stay under 4 MiB, heights under 2^18 (CUDA programming
   guide, "Maximum ... for an array"). */
#define SW_ARRAY_PITCH (1ull << 22)
#define SW_ARRAY_SLICE (1ull << 40)
#define SW_ARRAY_LEVEL (1ull << 55)
#define SW_ARRAY_MAX_Z 16384u
#define SW_ARRAY_ROOM  (1ull << 60)

/* One side of a finding.  Without holes, so that two are equal if their bytes are: findings share theirs. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
struct sw_access {
	enum sw_role role;
	uint8_t kind;	   /* record kind */
	bool ranged;	   /* address, bytes and what is below them are meant */
	bool extent_known; /* false: to the end of the allocation or the next known start */
	bool signals;	   /* its kernel polls or signals through memory: such an order is not followed */
	enum sw_evidence evidence;
	uint16_t api;
	uint16_t flags;	     /* SW_RF_* of the record: RUNTIME: the user called the runtime API */
	uint16_t launch_api; /* of a node: the call that launched its graph, and its stack; 0: none */
	uint32_t launch_stack;
	uint32_t forward;  /* stack of the call in the forward pass, of a call in PyTorch's backward pass; 0 unknown */
	uint32_t nvtx;	   /* innermost range of NVTX that the call was in: index into judgement.nvtx + 1, 0: none */
	uint32_t library;  /* call of a library that it was part of: index into judgement.library_calls + 1, 0: none */
	uint32_t operands; /* operands of that call: number of the set (libraries/library_calls.h), 0 not known */
	uint32_t library_call; /* number of that call: two calls may be alike */
	uint32_t thread, stack;
	uint32_t stream; /* index into judgement.streams, 0 = host */
	int device;
	uint32_t function;   /* FUNCTION id, 0: none */
	int32_t param;	     /* parameter that holds the pointer, -1 none */
	uint32_t allocation; /* index into judgement.allocations + 1, 0: none */
	uint64_t seq, t_ns, dur_ns;
	uint64_t node; /* a node of a graph: record of the call that made it, whose call site this is; 0: none */
	struct sw_point point;
	uint64_t address, bytes; /* hull of what is touched */
	uint64_t place;		 /* arrays: where it begins in the array (SW_ARRAY_*), `address` is the handle */
	uint64_t used_at;	 /* the address of the same memory that the call used, 0: it is `address` */
	uint64_t width, pitch;	 /* of it, rows of so many bytes so many bytes apart; 0: all of it */
	const struct sw_evidence_detail *evidence_detail; /* kernels: lives as long as the judgement; NULL: none */
};
#pragma GCC diagnostic pop

/* A call that is no side of the finding but is named in its sentences.  Stack and api 0: it was too long ago. */
struct sw_named_call {
	uint64_t seq;
	uint32_t stack;
	uint16_t api, flags; /* as in struct sw_access */
};

/* A cheap fix, as facts: the rows SW_FIX of src/detect/findings.def. */
enum __attribute__((packed)) sw_fix {
	SW_FIX_NONE,
#define SW_FIX(name, text, torch) SW_FIX_##name,
#include "detect/findings.def"
};

/* Parts of the host time of calls. Estimated, except lock_ns. */
struct sw_cost_parts {
	uint64_t work_ns;     /* waiting for other work */
	uint64_t transfer_ns; /* the call's own copying or setting */
	uint64_t driver_ns;   /* the rest of the call */
	uint64_t lock_ns;     /* waiting for another thread's call */
};

/* Percentiles are not reported for fewer calls. */
#define SW_LEAST_FOR_PERCENTILES 100u

/* The cost of a wait. */
struct sw_cost {
	uint64_t calls, waited_calls; /* calls in all; those that took longer than the call itself needs */
	uint64_t total_ns, worst_ns;  /* host time in the calls */
	uint64_t p50_ns, p99_ns;      /* of one call, each at most a sixteenth off; p99 of few calls: the longest */
	uint32_t share_ppm;	      /* of the run: millionths of its span */
	struct sw_cost_parts parts;   /* of total_ns */
	uint64_t core_low_ns, core_high_ns;		  /* SW403: processor time spent on queries; else 0 */
	uint64_t transfer_ns;				  /* of it: estimated to be the calls' own work */
	uint64_t recoverable_low_ns, recoverable_high_ns; /* what the run would gain from the fix, when `replayed` */
	uint64_t recoverable_sure_ns; /* high, if the host needs all that it may need of what the calls wait for */
	bool replayed;		      /* by a replay of the run's schedule */
	bool timed;		      /* with times of the device: else its durations are estimated from waits */
	bool reliable;		      /* a replay without a change reproduces the run */
	bool vague;		      /* most of the interval comes from unknown times of work */
	bool nothing;		      /* no replay gained anything: the interval is the error of a replay */
};

/* SW304: work that the legacy stream held back, by times of the device. */
struct sw_held {
	uint64_t timed, untimed; /* pieces of work with a known delay, and without */
	uint64_t ns;		 /* all delays together, an upper bound */
};

/* SW401: what the host, or another stream, needs of a stream that was waited for. */
struct sw_need {
	uint32_t stream;
	uint32_t to;		   /* the stream that needs it, 0: the host does */
	struct sw_named_call work; /* on the stream, the last that is needed by the host; seq 0: not known */
	bool whole;		   /* the host needs all of it, else up to `work` */
};

extern const struct sw_cost sw_no_cost;
extern const struct sw_access sw_no_access;

/* Hazards: further buffers that the same call sites raced for, one of each place that allocates (struct sw_access has
   what `allocation` means); more are left out. */
#define SW_MAX_OTHER_BUFFERS 7u
struct sw_other_buffers {
	uint32_t n, allocation[SW_MAX_OTHER_BUFFERS];
};

/* Members that few findings need: there may be a million hazards. */
struct sw_finding_details {
	struct sw_access waited_for; /* waits: the work that the longest call waited for, as far as known; seq 0: not */
	struct sw_access maker;	     /* SW306, SW307: the call that made what the last one released, seq 0: none */
	struct sw_held held;
	uint64_t pinned, last_ns; /* SW307: bytes of all calls; when the last one began (the first: access[0]) */
	uint64_t unpinned;	  /* SW301, SW302: the most pageable bytes of one call, 0: none */
	bool to_host;		  /* the host may use what the calls wait for as soon as they return */
	uint32_t needs;		  /* SW401: all that may not be left out of what the wait covered */
	struct sw_need need[SW_MAX_NEEDS];
	/* SW107, and SW105, SW106 within one graph: the second is to depend on the first; the nodes, or what holds them
	   in the graph that both are in.  seq 0: not known. */
	struct sw_node_pair {
		struct sw_named_call first, second;
	} nodes;
	struct sw_other_buffers others;
};

struct sw_finding {
	int id; /* 101 ... */
	enum sw_severity severity;
	enum sw_confidence confidence;
	enum sw_basis basis;
	enum sw_fix fix;
	uint8_t accesses;
	bool joined; /* hazards: there was an order between the two lanes; the last one is of this kind, by last_call */
	enum sw_edge_kind last_kind;
	bool measured_order; /* ordered, but only by a wait that no document promises */
	bool host_order;     /* strict host: ordered if the host threads must run in the order in which they did */
	bool host_flag;	     /* a flag that the host can poll, or write, may order the two */
	bool workspace;	     /* hazards: of memory that the program gave a library to work in */
	bool on_host;	     /* hazards: the later side blocks its thread, so that a wait of the host orders it */
	bool not_waited;     /* documented to wait, but this call did not */
	bool suppressed;
	bool hidden;  /* possible, or a wait folded under the cost threshold: shown with --all */
	bool lowered; /* an error, if it were not for a call that is not modelled: that is why it is possible */
	uint32_t fix_stream;
	uint64_t count;
	uint64_t operations, last_operation; /* of the later side: one that meets several earlier ones counts once */
	/* [0] the earlier, [1] the later; waits: [0] the call; else sw_no_access.  Findings share them. */
	const struct sw_access *access[2];
	const struct sw_access *third; /* NULL: there is none; all of them: sw_finding_access() */
	struct sw_named_call last_call, fix_call;
	const struct sw_cost *cost;	 /* sw_no_cost where it waited for nothing */
	struct sw_finding_details *more; /* NULL: nothing; read by sw_finding_details() */
	/* Which one is meant depends on the id: FACTS of findings.def. */
	union {
		struct {
			int hazard;   /* the hazard that it should have prevented, 0: none */
			uint64_t seq; /* the work that was missed */
		} missed;
		uint32_t refused; /* CUresult */
		struct {
			uint32_t stream; /* whose work held the later stream back */
			uint64_t seq;	 /* that work */
		} blocker;
		uint64_t queued;  /* earlier calls of the stream, not known to be complete */
		uint64_t covered; /* lanes with work pending when the call began */
		uint64_t polls;	  /* queries in a row */
		uint64_t lost;	  /* records */
		uint32_t rule;	  /* that forbids the call: index into judgement.gate */
	};
	uint64_t fingerprint; /* stable over runs: id and symbol-free stacks are hashed by report with symbols */
};
static inline const struct sw_access *sw_finding_access(const struct sw_finding *finding, uint32_t i)
{
	return i < 2 ? finding->access[i] : finding->third;
}
/* Members that few findings need; all zero where the finding has none. */
const struct sw_finding_details *sw_finding_details(const struct sw_finding *finding);

/* The source of what is known of launches, each launch counted once. OTHER_CODE: code that is not what ran. NOTHING:
   no code and no parameter that could be a pointer. */
enum sw_evidence_source_kind {
	SW_BY_PTX,
	SW_BY_SASS,
	SW_BY_OTHER_CODE,
	SW_BY_SIGNATURE, /* a weaker source for some of its pointers counts for all */
	SW_BY_ASSUMED,
	SW_BY_NOTHING,
	SW_BY_ANNOTATION, /* declared by the program (syncwatch.h) */
	SW_BY_SOURCES
};

/* Counts of what was judged, and what could not be: src/detect/coverage.def. */
struct sw_coverage {
#define SW_COVERAGE(member, key, limit, words, meaning) uint64_t member;
#include "detect/coverage.def"
	uint64_t kernels_by_evidence[5]; /* launches, by the weakest evidence of a pointer that they touch */
	uint64_t kernels_by_source[SW_BY_SOURCES];
};

/* Time stamps of the devices (--gpu-timeline). */
struct sw_gpu_summary {
	bool recorded;				       /* time stamps were recorded; else all below is 0 */
	bool complete;				       /* the last ones were fetched when the program ended */
	uint64_t records, joined, unmatched;	       /* of work; to a call; of which no call is known */
	uint64_t untimed;			       /* without times, or while the clock jumped */
	uint64_t lost;				       /* by CUPTI, as it reports */
	uint64_t left_out;			       /* more than the table holds */
	uint64_t operations_timed, operations_untimed; /* calls that put work on a device */
	/* clock_error_ns is proven: by calls that came before their work and waits that came after */
	bool clock_bounded;
	uint64_t clock_error_ns; /* device times are wrong by so much at most; else the error that is known of */
	uint64_t clock_wrong_ns; /* work was seen so much before its call or after its wait */
	uint64_t clock_jumps;
};

/* Recoverable time with the fixes of several findings together. */
#define SW_JUDGED_IDS 16u
struct sw_together {
	int id;				    /* all of one id, 0: of all */
	uint64_t findings, low_ns, high_ns; /* of all: without what the host may need of the waits */
	bool vague;			    /* as in struct sw_cost */
};

/* A file with code of launched kernels that could not be used. */
struct sw_unusable_code {
	const char *path;
	bool changed;	  /* it is not what was loaded; else it is missing */
	uint64_t kernels; /* whose code is in it */
};

struct sw_shared_use; /* detect/shared_use.h */
struct sw_judgement {
	SW_VEC(struct sw_stream_info) streams;
	SW_VEC(struct sw_allocation) allocations; /* those that findings mention */
	SW_VEC(struct sw_finding)
	findings; /* by severity, hazards before waits, then by recoverable time, by cost, then by first occurrence */
	SW_VEC(struct sw_nvtx) nvtx;
	SW_VEC(struct sw_library_call) library_calls;
	struct sw_coverage coverage;
	uint64_t host_wait_ns; /* host time in calls that waited */
	/* By kind; also calls that order nothing and took longer than their own work while work was pending, and
	   SW403's loops: not the same sum. */
	struct sw_host_wait host_waits[SW_HOST_WAITS];
	uint64_t folded_waits, folded_wait_ns; /* waits under the threshold, per summary line */
	uint64_t span_ns;		       /* first to last record */
	struct sw_schedule_facts schedule;     /* how well the run can be replayed; nodes 0: it was not */
	struct sw_schedule_sums sums;
	struct sw_together together[SW_JUDGED_IDS + 1];
	uint32_t togethers;
	uint32_t errors, warnings, notes; /* neither hidden nor suppressed */
	bool simulated;
	bool strict_host; /* each host thread had a lane of its own */
	SW_VEC(struct sw_unusable_code) unusable_code;
	struct sw_footprint_library_totals analysed; /* code, by all threads */
	struct sw_gpu_summary gpu;
	SW_VEC(struct sw_shared_use) shared_uses; /* if asked for, in the order of their calls */
	uint64_t shared_uses_left_out;		  /* more than are listed */
	bool shares_memory;			  /* memory was exported to, or opened from, another process (IPC) */
	bool shares_pools;			  /* the same of a pool: by handles that say nothing of the memory */
	bool collectives;			  /* calls of NCCL were recorded: other ranks must match them */
	SW_VEC(struct sw_gate_result) gate;	  /* what became of each rule of the options' gate */
	struct sw_wait_rules wait_rules;	  /* tables of calibrate that were used */
};

/* When the work of a call ran on its device, in nanoseconds of the trace; false: not known. */
bool sw_judgement_times(const struct sw_judgement *judgement, uint64_t seq, uint64_t *start_ns, uint64_t *end_ns);

/* An operation for the timeline: one for each call, reported once it is known how the call ended. A call of two
   records is reported at its END (what.seq, what.t_ns: of the BEGIN), one that never ended at the end of the trace
   with dur_ns 0. */
struct sw_operation {
	struct sw_access what;		   /* role SW_CALL, or what the call is: RECORD, WAIT, ALLOC, FREE */
	bool enqueues;			   /* it put work on what.stream, at what.point */
	bool blocks;			   /* work was pending and the call took longer than its own work needs */
	uint64_t gpu_start_ns, gpu_end_ns; /* when its work ran on the device; both 0: not known */
	const struct sw_record *record;	   /* valid during the call-back; params only for calls of one record */
};

/* A range of NVTX, reported when it ends. */
struct sw_nvtx_span {
	const char *name, *domain;
	uint64_t domain_id, id; /* id 0: pushed, and lies within what else its thread pushed in the domain */
	uint32_t thread;	/* 0: of one that made no call */
	uint64_t start_ns, end_ns;
	bool open; /* it was open when the trace ended; end_ns is the last known time */
};

/* Call-backs for readers of the whole run (timeline, dot). Every member may be NULL. */
struct sw_observer {
	void *arg;
	void (*operation)(void *arg, const struct sw_operation *op);
	/* Enqueued work is known to be done: the earliest moment at which the host could know. */
	void (*completed)(void *arg, uint64_t seq, uint32_t stream, uint64_t t_ns);
	void (*edge)(void *arg, const struct sw_hb_edge *edge, uint32_t from_stream, uint32_t to_stream);
	void (*hazard)(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		       const struct sw_access *later);
	/* Called for each hazard, not only for the first 64 of a finding: later ones name no allocation. */
	bool every_hazard;
	/* Streams and allocations known so far, for look-ups by index. Called once at the start. */
	void (*begin)(void *arg, const struct sw_judgement *so_far);
	/* A piece of work with its time, recorded or estimated by the replay, after all of the above. */
	void (*work)(void *arg, const struct sw_stretch *stretch);
	/* A stretch of the critical path, first to last, after everything else. */
	void (*path)(void *arg, const struct sw_stretch *stretch);
	void (*nvtx)(void *arg, const struct sw_nvtx_span *span);
};

struct sw_judge_options {
	uint64_t fold_below_ns; /* waits under this total are folded: default 100 us */
	bool keep_possible;	/* keep `possible` findings (--all); else they are dropped when found */
	const struct sw_observer *observer;
	bool no_findings;	    /* gather none: only what the observer sees, without hazards, is wanted */
	bool no_schedule;	    /* do not replay the run: findings have no recoverable time */
	bool strict_host;	    /* a lane for each host thread; needs a trace with SW_FILE_HOST_SYNC */
	const struct sw_gate *gate; /* calls that the user forbids, must outlive the judgement; NULL: none */
	bool shared_uses;	    /* list uses of memory that other processes may use, too */
	bool no_footprints;	    /* do not read the code of kernels (--no-footprints) */
	uint32_t replayed; /* nodes of each of the four windows of the run that are replayed, 0: the schedule's default
			    */
	bool estimate_all; /* replay the run as if no device had recorded times: to compare estimates with them */
	bool evaluate_all; /* evaluate each launch at once: the same result, slower; for tests */
	const char *cache; /* folder for what is known of code from earlier runs, "" the default, NULL: none */
	uint32_t threads;  /* that analyse code, 0: as many as there are processors */
	/* Which calls wait: NULL as built in, "" as measured on this machine if it was (sw_behaviour_folder()), or a
	   table. */
	const char *behaviour;
	const struct sw_added_edge *added; /* by seq */
	size_t n_added;
	struct sw_asked_order *asked; /* NULL: not wanted */
	const struct sw_moved_site *moved;
	size_t n_moved;
	const struct sw_narrowed_site *narrowed;
	size_t n_narrowed;
	/* Called for every record: operations so far, and which part of the trace was read.  NULL: not wanted. */
	void (*progress)(void *arg, uint64_t operations, double part);
	void *progress_arg;
	/* Called after a record that added a finding, or made one stronger: index in so_far->findings, which is
	   complete but for its cost.  NULL: not wanted. */
	void (*found)(void *arg, const struct sw_judgement *so_far, size_t index);
	void *found_arg;
};

/* Reads the trace to its end.  0 or <0 with error filled; a damaged trace yields what could be judged. */
int sw_judge(struct sw_reader *reader, const struct sw_judge_options *options, struct sw_judgement **out,
	     struct sw_error *error);

/*
 * The same in pieces, for a program that runs (sw_reader_follow()).  sw_judging_step() judges one record: 1; 0 at the
 * end, SW_READER_WAIT when there is none yet, <0 with error filled.  Time stamps of devices are not used: they come
 * after the records that they belong to.  What sw_judging_so_far() returns is valid until the end, which turns it into
 * the judgement and frees the rest.  Options and reader must outlive it.
 */
struct sw_judging;
struct sw_judging *sw_judging_begin(struct sw_reader *reader, const struct sw_judge_options *options);
int sw_judging_step(struct sw_judging *judging, struct sw_error *error);
const struct sw_judgement *sw_judging_so_far(const struct sw_judging *judging);
struct sw_judgement *sw_judging_end(struct sw_judging *judging);
void sw_judgement_free(struct sw_judgement *judgement);

#endif
