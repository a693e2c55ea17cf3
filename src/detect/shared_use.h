/* SPDX-License-Identifier: Apache-2.0 */
/* What a judgement lists for comparing processes (sw_judge_options.shared_uses). */
#ifndef SW_DETECT_SHARED_USE_H
#define SW_DETECT_SHARED_USE_H

#include "detect/detect.h"

/* A use of memory that other processes may use, too: exported or opened by an IPC handle.  Times are of the trace. */
struct sw_shared_use {
	struct sw_access access;
	uint64_t handle; /* hash of the handle */
	uint64_t lo, hi; /* bytes of the allocation, all of which it touches */
	bool reads, writes, atomic;
	bool opened;	     /* the memory is another process's */
	bool learning;	     /* work that may wait for another process was unfinished when it was called ... */
	uint64_t learnt_ns;  /* ... and when the last that was finished is known to have been, 0 none */
	uint64_t known_ns;   /* when the host knew that it was done, 0 never */
	uint64_t told_ns;    /* the first call that may have told others when it was done, 0 none */
	uint64_t told_by;    /* its handle in this process, of an event that the call recorded; 0: it recorded none */
	uint32_t told_event; /* of that call: the event that it recorded, by its handle's low bits; 0: it recorded none
			      */
	uint64_t told_more_ns; /* the first call that may have told them by anything but this event, 0 none */
	uint32_t waited_event; /* the last wait for such an event before it, 0 none */
	uint64_t waited_ns;
};

#endif
