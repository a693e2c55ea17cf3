/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace: merges the writers by sequence number, keeps the dictionaries (threads, stacks, functions, contexts,
 * images, modules, names) as they stand at the record last returned, converts ticks to nanoseconds.
 *
 * Input is untrusted: every length is bounded, a damaged chunk is skipped and reported (sw_reader_damage), a truncated
 * file yields what is whole.  Not thread-safe.  Pointers handed out live as long as the reader unless said otherwise.
 */
#ifndef SW_READER_READER_H
#define SW_READER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "reader/source.h"
#include "syncwatch/format.h"

struct sw_map;
struct sw_reader;

/* One record in the order of the process.  Valid until the next call of sw_reader_next. */
struct sw_record {
	const struct sw_rec *rec;
	uint64_t seq;
	uint64_t t_ns;	    /* since the start of the trace, at entry of the call (END: when the wait was over) */
	uint64_t dur_ns;    /* time in the call; 0 while pending */
	uint64_t calls;	    /* that it stands for (struct sw_rec_calls), nearly always 1 ... */
	uint64_t inside_ns; /* ... and the time in them */
	uint64_t offset;    /* in the file, for messages */
	uint32_t thread;    /* index for sw_reader_thread, 0 unknown */
	uint32_t stack;	    /* index for sw_reader_stack, 0: none: unique over all writers by content */
	bool failed;	    /* status is an error (for QUERY: an error other than not ready) */
	const void *params; /* LAUNCH: the parameter block, NULL: none */
	uint32_t param_bytes;
};

/* Opens a trace.  0, or <0 with error filled: -errno, SW_E_FORMAT (with file and offset), SW_E_VERSION. */
int sw_reader_open(const char *path, struct sw_reader **out, struct sw_error *error);
void sw_reader_close(struct sw_reader *reader);

/*
 * 1: *out filled; 0: end; <0 error.  Descriptions are returned too, after they took effect.
 * Sequence numbers only go up.  Where some are missing, a LOSS record that the file does not hold (why: OTHER) stands
 * for them, so that code that keeps the order need handle LOSS records only.  A CUT record is handed out where
 * recording goes on (or pauses), wherever it stands in the file, and then always has a number.
 */
int sw_reader_next(struct sw_reader *reader, struct sw_record *out, struct sw_error *error);

/*
 * Reads the trace of a program that runs, from two descriptors that the reader owns from now on, also on failure: its
 * file, and the memory that holds what the file lacks (-1: none).  `path` is for messages.
 *
 * sw_reader_next() then also returns SW_READER_WAIT: there is no further record whose place is certain.  A record is
 * held back while numbers before it are missing, as another thread has taken one and not committed its record, and
 * while its call has not returned, as it may fail.  Neither is waited for without end: see struct sw_follow_facts.
 */
#define SW_READER_WAIT 2
int sw_reader_follow(const char *path, int file, int memory, struct sw_reader **out, struct sw_error *error);

/* Looks for what was committed since; now_ns is any clock that only advances.  `ended`: the program has ended, so that
   what is there now is all, and is read as from a file.  0, or <0 with error filled. */
int sw_reader_refresh(struct sw_reader *reader, uint64_t now_ns, bool ended, struct sw_error *error);

/* How long a record is held back. */
#define SW_FOLLOW_CALL_NS 200000000u  /* for its call to return */
#define SW_FOLLOW_HOLE_NS 1000000000u /* for the numbers before it */

/* Where reading while the program ran may differ from reading its trace afterwards. */
struct sw_follow_facts {
	uint64_t in_flight; /* calls taken before they returned, as if they would succeed ... */
	uint64_t returned;  /* ... of which so many did: without the time that the call took */
	uint64_t failed;    /* ... and so many failed: the trace must be judged again */
	uint64_t overtaken; /* records that came after their number was given up: the same */
	uint64_t held_ns;   /* the longest that a record was held back */
};
struct sw_follow_facts sw_reader_follow_facts(const struct sw_reader *reader);

/* Calls that have not returned, as far as was looked, in their order.  False: there are no more. */
struct sw_unreturned {
	uint16_t api, flags;
	uint32_t thread, stack;
	uint64_t seq, t_ns;
};
bool sw_reader_unreturned(const struct sw_reader *reader, size_t index, struct sw_unreturned *out);
/* Was it opened by sw_reader_follow()? */
bool sw_reader_follows(const struct sw_reader *reader);

/* The number of the last record that was handed out, or that is known to be missing. */
uint64_t sw_reader_passed(const struct sw_reader *reader);
/* The header; lives as long as the reader. */
const struct sw_file_header *sw_reader_header(const struct sw_reader *reader);
/* The path as it was given. */
const char *sw_reader_path(const struct sw_reader *reader);
/* Bytes of the file, expanded; its records take a little less. */
uint64_t sw_reader_bytes(const struct sw_reader *reader);

struct sw_trace_thread {
	uint32_t thread, tid;
	bool main;
	const char *name; /* "" unknown */
};
struct sw_trace_api {
	const char *driver, *runtime; /* "" none */
};
struct sw_trace_python_frame {
	const char *file, *function;
	uint32_t line;	/* 0 unknown */
	uint32_t entry; /* 1: the outermost that its call of _PyEval_EvalFrameDefault runs */
};
struct sw_trace_stack {
	uint32_t depth, skipped;
	const uint64_t *ips;			    /* return addresses, innermost first */
	uint64_t seq;				    /* when it was first seen: which modules were mapped */
	const struct sw_trace_python_frame *python; /* innermost first */
	uint32_t python_depth;
	bool python_cut;     /* outer ones were not recorded */
	bool python_waiting; /* of the process's first thread, which waits in PyTorch's backward() */
};
struct sw_trace_function {
	uint32_t id, image;
	uint64_t handle;
	uint32_t flags;
	uint32_t params;
	const struct sw_param *param;
	const char *name; /* mangled; "" unknown */
};
struct sw_trace_context {
	uint8_t id;
	int32_t device;
	uint32_t flags;
	uint64_t handle;
};
struct sw_trace_device {
	int32_t ordinal;
	uint32_t major, minor, multiprocessors;
	uint64_t memory_bytes;
	const char *name;
};
struct sw_trace_module {
	uint64_t base, start, end;
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	uint64_t mapped_seq, gone_seq; /* gone_seq UINT64_MAX: still there */
	uint32_t cudart;	       /* enum sw_cudart_link, 0: not a cudart */
};
struct sw_trace_image {
	uint32_t id, kind;
	uint64_t bytes, hash, file_offset, handle;
	const char *path; /* "" anonymous; with a hash: a file of the store of images (base/stored_images.h) */
	/* In a packed trace the code of the kernels that were launched, in place of path and data. NULL: none; then
	   code_why says what was wrong with the file where the trace was packed ("" or NULL: nothing is known). */
	const void *code;
	uint64_t code_bytes, code_hash;
	uint32_t code_state; /* enum sw_pack_state */
	const char *code_why;
};
/* Facts of a packed trace about a shared object. */
struct sw_trace_frame {
	const char *symbol, *file; /* NULL unknown */
	uint32_t line;		   /* 0 unknown */
	bool inlined;		   /* into the next one */
	struct sw_trace_frame *next;
};
struct sw_trace_names {
	uint32_t state; /* enum sw_pack_state */
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	struct sw_map *places; /* offset -> frames */
};
struct sw_trace_process {
	const char *exe, *cwd;
	uint32_t args;
	const char *const *arg;
	uint32_t pid;
};

struct sw_trace_environment {
	const char *boot, *host; /* "" unknown */
	uint32_t variables;
	const char *const *variable; /* "NAME=value" */
};

/* A thread by its number; NULL: the trace says nothing of it. */
const struct sw_trace_thread *sw_reader_thread(const struct sw_reader *r, uint32_t thread);
/* The function with this number of the trace's own table; NULL unknown. */
const struct sw_trace_api *sw_reader_api(const struct sw_reader *r, uint16_t api);
/* A call stack by its index; NULL for 0 and when unknown. */
const struct sw_trace_stack *sw_reader_stack(const struct sw_reader *r, uint32_t stack);
/* Were Python frames recorded? */
bool sw_reader_has_python(const struct sw_reader *r);
/* A kernel by its number; NULL unknown. */
const struct sw_trace_function *sw_reader_function(const struct sw_reader *r, uint32_t id);
/* A context by its number; NULL: the trace says nothing of it. */
const struct sw_trace_context *sw_reader_context(const struct sw_reader *r, uint8_t ctx);
/* An image (code that was loaded) by its number; NULL unknown. */
const struct sw_trace_image *sw_reader_image(const struct sw_reader *r, uint32_t id);
/* All kernels, in any order: from *at 0 on; NULL after the last. */
const struct sw_trace_function *sw_reader_next_function(const struct sw_reader *r, size_t *at);
/* All images, likewise. */
const struct sw_trace_image *sw_reader_next_image(const struct sw_reader *r, size_t *at);
/* The image's bytes; NULL: the trace does not have all of them, not yet, or their hash is wrong.  Read at the first
   call; the reader's. */
const void *sw_reader_image_content(const struct sw_reader *r, uint32_t id);
/* The program and its arguments; NULL: the trace does not say. */
const struct sw_trace_process *sw_reader_process(const struct sw_reader *r);
/* The variables that were recorded; NULL: the trace does not say. */
const struct sw_trace_environment *sw_reader_environment(const struct sw_reader *r);
/* The module that held address ip when record seq was made. */
const struct sw_trace_module *sw_reader_module(const struct sw_reader *r, uint64_t ip, uint64_t seq);

/* The names of this object that were packed with the trace; NULL: nothing. */
const struct sw_trace_names *sw_reader_names(const struct sw_reader *r, const struct sw_trace_module *module);
/* Frames at an offset of a return address, innermost first; NULL: none. */
const struct sw_trace_frame *sw_trace_names_at(const struct sw_trace_names *names, uint64_t offset);
/* A table of `syncwatch calibrate` that was packed, for devices of this name; NULL: none. */
struct sw_trace_table {
	const char *gpu, *path, *text;
	size_t bytes; /* of text */
};
const struct sw_trace_table *sw_reader_table(const struct sw_reader *r, const char *gpu);
/* Version of the syncwatch that packed the trace; NULL: it is not packed. */
const char *sw_reader_packer(const struct sw_reader *r);

/* The GPUs that the trace describes; index from 0, NULL ends. */
const struct sw_trace_device *sw_reader_device(const struct sw_reader *r, size_t index);
/* The files that were mapped; index from 0, NULL ends. */
const struct sw_trace_module *sw_reader_module_at(const struct sw_reader *r, size_t index);
/* Sentences of the recorder for the report; index from 0, NULL ends. */
const char *sw_reader_notice(const struct sw_reader *r, size_t index);
/* Faults of the file (one line each), and losses while recording; index from 0, NULL ends. */
const char *sw_reader_damage(const struct sw_reader *r, size_t index);

struct sw_trace_totals {
	uint64_t records, operations, bytes; /* seen so far; bytes of operations with their parameters */
	uint64_t lost;			     /* recorded losses */
	uint64_t left_out,
		dropped_calls;	  /* calls outside of windows, and of dropped records, as far as counted (CUT) */
	uint32_t pauses, dropped; /* CUT records: recording went on after a pause; records were dropped */
	bool windowed;		  /* hot calls were recorded in windows only, of which there were so many: */
	uint32_t windows;
	bool paused;	     /* recording is paused, or was when the trace ends */
	uint64_t cut_stacks; /* call stacks that ended too early, as libunwind was not there */
	bool closed;	     /* the program ended in order */
	bool damaged;	     /* the file is not what was recorded: cut, overwritten, in part missing */
	uint32_t full;	     /* enum sw_loss_why: there was no more room to record; 0: there was */
};
struct sw_trace_totals sw_reader_totals(const struct sw_reader *r);
/* Calls of an entry point: by COUNTS at the end of the trace, before it the calls read so far. */
uint64_t sw_reader_calls(const struct sw_reader *r, uint16_t api);

/* Name of a record kind, e.g. "LAUNCH"; "?" unknown. */
const char *sw_record_kind_name(uint8_t kind);

#endif
