/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What watched processes send to `syncwatch run`, and where: the contract between the preload objects and the command.
 *
 * SYNCWATCH_RUN=1:NONCE:FOLDER names a private folder of `run` with two entries:
 *   sock    a listening unix socket of type SOCK_SEQPACKET: one connection carries one message.  The same server
 * listens on the abstract name that FOLDER's last component makes, for processes that can no longer reach the path
 *           (another user, root or mount namespace).
 *   board   a file that each watched image maps when it is loaded: what it counts needs no descriptor, so it reaches
 *           `run` when no message can.
 * The nonce proves that a sender has the environment of the run.  Both sides are built together.
 */
#ifndef SW_PRELOAD_SESSION_ANNOUNCE_WIRE_H
#define SW_PRELOAD_SESSION_ANNOUNCE_WIRE_H

#include <stdatomic.h>
#include <stdint.h>

#define SW_ANNOUNCE_VARIABLE "SYNCWATCH_RUN"
#define SW_ANNOUNCE_VERSION  '1'
#define SW_ANNOUNCE_NONCE    16u
#define SW_ANNOUNCE_SOCKET   "sock"
#define SW_ANNOUNCE_BOARD    "board"
#define SW_ANNOUNCE_ABSTRACT "syncwatch/" /* after a NUL, before the last component of FOLDER */
#define SW_ANNOUNCE_FOLDER   88u	  /* bytes of FOLDER at most: sun_path holds 108 */
#define SW_ANNOUNCE_MAGIC    "SWRUN\r\n\1"
#define SW_ANNOUNCE_TEXT     1408u
#define SW_ANNOUNCE_PRELOAD  3072u
#define SW_ANNOUNCE_ORDERS   16u

enum sw_announce_kind {
	SW_ANNOUNCE_HELLO = 1, /* an image was loaded with the recorder; text: its file */
	SW_ANNOUNCE_TRACE,  /* the first CUDA call of a process made a trace; text: its path; passes the descriptor, and
			       that of the memory that header and chunks are in (preload/recorder/memory.h) */
	SW_ANNOUNCE_FAILED, /* the process uses CUDA and runs unrecorded; text: why */
	SW_ANNOUNCE_EXEC,   /* is about to become another image; text: its file */
	SW_ANNOUNCE_EXEC_FAILED, /* did not */
	SW_ANNOUNCE_CLOSED, /* the trace of the process is complete, all of it in its file: the process is about to end.
			       One that does not come through is not missed */
	SW_ANNOUNCE_SPAWNED, /* started process `number` (0: unknown) with another image; text: its file */
};

enum {					   /* flags */
       SW_ANNOUNCE_RECORDER = 1u << 0,	   /* HELLO: libsyncwatch.so is there, too */
       SW_ANNOUNCE_LOST_PRELOAD = 1u << 1, /* EXEC, SPAWNED: the new environment does not preload the recorder */
       SW_ANNOUNCE_LOST_RUN = 1u << 2,	   /* EXEC, SPAWNED: it does not name this run */
       SW_ANNOUNCE_SEARCH = 1u << 3,	   /* EXEC, SPAWNED: a name without a slash is looked up in PATH */
       SW_ANNOUNCE_SHELL = 1u << 4,	   /* SPAWNED: by system() or popen() */
};

struct sw_announce_message {
	char magic[8];
	uint32_t kind, flags;
	uint8_t nonce[SW_ANNOUNCE_NONCE];
	int32_t pid; /* as the sender sees itself: of its own namespace */
	uint32_t text_bytes;
	uint64_t device, inode; /* TRACE */
	uint64_t number;
	char text[SW_ANNOUNCE_TEXT]; /* the message ends with its text; no NUL */
};

/* The word of the program (syncwatch.h) or of the command on when to record: it counts more than ranges and times. */
enum sw_window_order { SW_WINDOW_NO_ORDER, SW_WINDOW_OPEN, SW_WINDOW_CLOSE, SW_WINDOW_ASK };

struct sw_announce_board {
	char magic[8];
	_Atomic uint32_t cuda;		   /* processes that began to use CUDA: each sends one TRACE or FAILED */
	_Atomic uint32_t undelivered;	   /* messages that could not be sent */
	_Atomic uint32_t orders;	   /* of `syncwatch ctl`, so far: ORDERS for each, and the last one */
	char preload[SW_ANNOUNCE_PRELOAD]; /* objects that LD_PRELOAD must name, each with a newline; NUL-terminated */
};

#endif
