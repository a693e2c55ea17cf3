/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: records that describe what others refer to (programs, threads, call sites, code), and those of packed
 * traces. */
#ifndef SYNCWATCH_FORMAT_DESCRIPTIONS_H
#define SYNCWATCH_FORMAT_DESCRIPTIONS_H

#include "format_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Strings in records are UTF-8, not NUL-terminated, their length given; several follow each other without padding. */

struct sw_rec_process {
	struct sw_rec h;
	uint32_t exe_bytes, cwd_bytes, args, args_bytes; /* then exe, cwd, args: each argument followed by a NUL */
};

/* After PROCESS.  boot: /proc/sys/kernel/random/boot_id: processes that have it in common share CLOCK_MONOTONIC. */
struct sw_rec_environment {
	struct sw_rec h;
	uint32_t boot_bytes, host_bytes;
	uint32_t variables, variables_bytes; /* then boot, name of the host, "NAME=value" and a NUL of each variable */
};

struct sw_rec_thread {
	struct sw_rec h;
	uint32_t thread; /* 1-based, in order of appearance; 1 is not always the main thread */
	uint32_t tid;	 /* kernel's thread id */
	uint32_t main;	 /* 1: tid == pid */
	uint32_t name_bytes;
};

struct sw_rec_api {
	struct sw_rec h;
	uint16_t id;
	uint8_t driver_bytes, runtime_bytes; /* then both names; runtime name empty where none stands for it */
	uint32_t reserved;
};

struct sw_rec_stack {
	struct sw_rec h;
	uint32_t id;
	uint32_t depth;	  /* frames that follow, innermost first: return addresses, u64 each */
	uint32_t skipped; /* frames below the last that were cut off by the limit; 0xffffffff unknown many */
	uint32_t flags;	  /* SW_STACK_* */
};

enum {
	SW_STACK_CUT = 1u << 0, /* it ended too early for lack of an unwinder: libunwind was not loaded (yet) */
};

struct sw_rec_python_code {
	struct sw_rec h;
	uint32_t id;
	uint32_t first_line;
	uint32_t file_bytes, function_bytes; /* then file as Python names it, function: qualified from Python 3.11 on */
};

struct sw_python_frame {
	uint32_t code; /* PYTHON_CODE record's id within the writer */
	uint32_t line; /* SW_PYTHON_ENTRY | line, 0 unknown */
};
/* The outermost frame that its call of _PyEval_EvalFrameDefault runs: such a native frame stands for the Python frames
   up to the next one with this bit. */
#define SW_PYTHON_ENTRY 0x80000000u
enum {
	SW_PYTHON_CUT = 1,    /* outer Python frames were cut off by the limit */
	SW_PYTHON_WAITING = 2 /* frames of the process's first thread, which waits in PyTorch's backward() meanwhile */
};
struct sw_rec_python_stack {
	struct sw_rec h;
	uint32_t id;	 /* one of those that STACK records have */
	uint32_t native; /* STACK record's id: the native frames of the same stack; 0: none */
	uint32_t depth;	 /* frames that follow, innermost first: struct sw_python_frame each */
	uint32_t flags;	 /* SW_PYTHON_* */
};

struct sw_rec_module {
	struct sw_rec h;
	uint64_t base, end; /* addresses: load bias and end of the last segment */
	uint64_t start;	    /* lowest mapped address */
	uint8_t build_id_bytes, reserved[3];
	uint32_t path_bytes; /* then build id (padded to 8), path */
};
/* MODULE_GONE: struct sw_rec_module with base only. */

enum sw_cudart_link { SW_CUDART_SHARED = 1, SW_CUDART_STATIC = 2, SW_CUDART_OTHER = 3 };
struct sw_rec_cudart {
	struct sw_rec h;
	uint64_t module_base; /* of the module that asked cuGetProcAddress */
	uint32_t link;	      /* enum sw_cudart_link: OTHER is a library or program that asks the driver itself */
	uint32_t version;     /* CUDA version asked for, 0 unknown */
	uint32_t requests;
	uint32_t path_bytes; /* then path */
};

struct sw_rec_device {
	struct sw_rec h;
	int32_t ordinal;
	uint32_t major, minor; /* compute capability */
	uint32_t multiprocessors;
	uint64_t memory_bytes;
	uint8_t uuid[16];
	uint32_t name_bytes; /* then name */
	uint32_t reserved;
};

enum { SW_CTX_PRIMARY = 1, SW_CTX_GREEN = 2 };
struct sw_rec_context {
	/* h.ctx is the id described; a new one for each generation of a handle. Once all ids are used, those of ended
	   contexts are used again: such a description has a sequence number. */
	struct sw_rec h;
	uint64_t handle;
	int32_t device;
	uint32_t flags;
};

struct sw_param {
	uint16_t offset, bytes;
};
enum {
	SW_FUNCTION_KERNEL = 1,	  /* handle is a CUkernel, else a CUfunction */
	SW_FUNCTION_NO_LAYOUT = 2 /* the driver did not give the parameter layout */
};
struct sw_rec_function {
	struct sw_rec h;
	uint32_t id; /* unique in the process, never reused */
	uint32_t image;
	uint64_t handle;
	uint32_t flags;
	uint16_t params, name_bytes; /* then params x struct sw_param, then the (mangled) name */
};

enum sw_image_kind { SW_IMAGE_UNKNOWN, SW_IMAGE_FATBIN, SW_IMAGE_ELF, SW_IMAGE_PTX, SW_IMAGE_LTOIR, SW_IMAGE_TILEIR };
struct sw_rec_image {
	struct sw_rec h;
	uint32_t id;
	uint32_t kind;	 /* enum sw_image_kind, by magic; a wrapper is followed to its fatbin */
	uint64_t handle; /* CUmodule or CUlibrary */
	uint64_t bytes;	 /* 0 unknown */
	uint64_t hash; /* sw_hash_content() of it; before 1.14 sw_hash_words(), in the first traces FNV-1a 64; 0 unknown
			*/
	uint64_t address;     /* where it lay in the program's memory */
	uint64_t file_offset; /* in `path`, when file-backed */
	uint32_t data; /* 1: IMAGE_DATA records with the content follow; 2: the same content as an earlier image; 0:
			  neither */
	uint32_t path_bytes; /* then path: empty for anonymous images; with a hash: a copy that an earlier run kept */
};
struct sw_rec_image_data {
	struct sw_rec h;
	uint32_t id;
	uint32_t bytes;
	uint64_t offset; /* then bytes */
};

enum sw_name_of { SW_NAME_STREAM = 1, SW_NAME_EVENT = 2, SW_NAME_BUFFER = 3, SW_NAME_THREAD = 4, SW_NAME_SYMBOL = 5 };
struct sw_rec_name {
	struct sw_rec h;
	uint32_t of; /* enum sw_name_of */
	uint32_t name_bytes;
	/* Then name.  SYMBOL: mangled, handle is the address and an ALLOC record precedes; THREAD: number of the
	   thread, or 0 and `bytes` is the kernel's id of a thread, which may be recorded later. */
	uint64_t handle, bytes;
};

enum sw_loss_why {
	SW_LOSS_SIZE_LIMIT = 1,
	SW_LOSS_NO_SPACE,
	SW_LOSS_NO_MEMORY,
	SW_LOSS_REENTERED,
	SW_LOSS_FORK,
	SW_LOSS_OTHER
};
struct sw_rec_loss {
	struct sw_rec h;
	uint64_t first_seq, last_seq; /* may be wider than what was lost, never narrower */
	uint64_t records;
	uint32_t why; /* enum sw_loss_why */
	uint32_t reserved;
};

enum sw_cut_why {
	SW_CUT_PAUSED = 1, /* recording was paused: a window of the recorder */
	SW_CUT_DROPPED	   /* what was recorded was dropped again */
};
enum {
	SW_CUT_BEGINS = 1, /* a pause begins here: calls from here to the next CUT are left out */
	SW_CUT_AT_END = 2  /* the program ended in the pause */
};
/*
 * Numbers from first_seq to last_seq that no record has are not lost: hot calls were left out (launch, copy, set, event
 * record and wait, query, synchronise, graph launch, host function, memory operation).  All other records of the range
 * are there.  With a number of its own it stands where recording goes on (or ends: BEGINS), behind at least one number
 * that is not used, which readers before minor 15 take for a loss.  With number 0 it stands before the records of the
 * range, and recording goes on behind last_seq.
 */
struct sw_rec_cut {
	struct sw_rec h;
	uint64_t first_seq, last_seq;
	uint64_t calls; /* that were left out; BEGINS: 0, not known yet */
	uint32_t why;	/* enum sw_cut_why */
	uint32_t flags; /* SW_CUT_* */
};
static_assert(sizeof(struct sw_rec_cut) == 64, "packed");

struct sw_rec_clock {
	struct sw_rec h; /* h.ticks */
	uint64_t monotonic_ns;
};

struct sw_rec_notice {
	struct sw_rec h;
	uint32_t text_bytes;
	uint32_t reserved; /* then text, one sentence */
};

struct sw_count {
	uint16_t api;
	uint16_t reserved;
	uint32_t failed;
	uint64_t calls;
};
struct sw_rec_counts {
	struct sw_rec h;
	uint32_t entries; /* then struct sw_count each */
	uint32_t reserved;
};

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/*
 * What `syncwatch pack` adds so that a trace can be judged where the files that it refers to are missing.  These
 * records are a writer of their own, have no sequence number and come first; only PACK_LEFT_OUT takes the place of
 * the IMAGE_DATA that it was.
 */
struct sw_rec_pack {
	struct sw_rec h;
	uint32_t flags;		/* SW_PACK_* */
	uint32_t version_bytes; /* then version of the syncwatch that packed */
};
enum { SW_PACK_NO_NAMES = 1 /* that syncwatch could not read symbols */ };

/* The state of a file when the trace was packed. */
enum sw_pack_state { SW_PACKED_WHOLE, SW_PACKED_MISSING, SW_PACKED_CHANGED /* not what the program had loaded */ };

struct sw_rec_pack_code {
	struct sw_rec h;
	uint32_t image;	      /* IMAGE record's id */
	uint32_t state;	      /* enum sw_pack_state */
	uint64_t bytes, hash; /* of the code: sw_hash_words(); 0 where there is none */
	uint32_t data; /* 1: PACK_DATA records follow; 2: the code of an earlier PACK_CODE with this hash; 0: none */
	uint32_t why_bytes; /* then why there is none */
};
/* PACK_DATA, PACK_LEFT_OUT: struct sw_rec_image_data; the bytes of PACK_LEFT_OUT are zero. */

struct sw_rec_pack_module {
	struct sw_rec h;
	uint32_t module;		     /* for PACK_FRAME: numbered from 1 */
	uint32_t state;			     /* enum sw_pack_state */
	uint32_t build_id_bytes, path_bytes; /* then build id (padded to 8), path: as in MODULE */
};
/* Several for one address where functions are inlined, innermost first. */
struct sw_rec_pack_frame {
	struct sw_rec h;
	uint64_t offset; /* of a return address from the module's base */
	uint32_t module;
	uint32_t line;			   /* 0 unknown */
	uint32_t symbol_bytes, file_bytes; /* then symbol (mangled), file; 0 unknown */
	uint32_t flags;			   /* SW_PACK_INLINED */
	uint32_t reserved;
};
enum { SW_PACK_INLINED = 1 /* into the function of the next record */ };

/* A table of `syncwatch calibrate`: reports of the trace use it, or none, but not that of another machine. */
struct sw_rec_pack_table {
	struct sw_rec h;
	uint32_t gpu_bytes, path_bytes, text_bytes; /* then name of the GPU, where the table was, the table */
	uint32_t reserved;
};

#ifdef __cplusplus
}
#endif

#endif
