/* SPDX-License-Identifier: Apache-2.0 */
/* Uses that a judgement lists for comparing processes (sw_judge_options.shared_uses). */
#ifndef SW_DETECT_SHARED_USE_H
#define SW_DETECT_SHARED_USE_H

#include "detect/detect.h"

/* A use of memory that other processes may use, too: exported or opened by an IPC handle.  Times are of the trace. */
struct sw_shared_use {
	struct sw_access access;
	uint64_t handle; /* hash of the handle */
	uint64_t lo, hi; /* bytes of the allocation, all of which it touches */
	bool reads, writes, atomic;
	bool opened;		  /* the memory is another process's */
	bool learning;		  /* work that may wait for another process was unfinished when it was called ... */
	uint64_t learnt_ns;	  /* ... and when the last that was finished is known to have been, 0: none */
	uint64_t known_ns;	  /* when the host knew that it was done, 0 never */
	uint64_t signalled_ns;	  /* the first call that may have signalled others that it is done, 0: none */
	uint64_t signalled_by;	  /* the same event by its handle in this process, 0: none */
	uint32_t signalled_event; /* of that call: low bits of the handle of the event that it recorded, 0: none */
	uint64_t
		signalled_more_ns; /* the first call that may have signalled them by anything but this event, 0: none */
	uint32_t waited_event;	   /* the last wait for such an event before it, 0: none */
	uint64_t waited_ns;
};

#endif
