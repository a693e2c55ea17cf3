/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a run: one pointer for each noun (parts.def).  What a pointer points to is private to the file that is
 * named like it; what it offers is in that file's header.  Private to src/detect.  Not thread-safe.
 */
#ifndef SW_DETECT_MODEL_MODEL_H
#define SW_DETECT_MODEL_MODEL_H

#include "detect/memory/address_space.h"
#include "detect/model/collect.h"

struct sw_model {
#define SW_PART(type, member, make, release) type member;
#define SW_VALUE(type, member, release)	     type member;
#include "detect/model/parts.def"
#undef SW_PART
#undef SW_VALUE
	struct sw_reader *reader;
	const struct sw_judge_options *options;
	const struct sw_times *times;	    /* of the devices; set before the first step */
	const struct sw_observer *observer; /* never NULL */
	struct sw_judgement *j;
	struct sw_arena *arena; /* lives as long as the judgement */

	const struct sw_record *record; /* the one in hand */
	struct sw_wait *wait;		/* its call */
	struct sw_listing *listing;	/* what is touched is listed here instead of judged; NULL: it is judged */
	uint32_t serial;		/* of uses entered */
	uint64_t step;			/* number of the current record */
	struct sw_hb_view *view;	/* of the launch in hand, for accesses before its wait; NULL: as all others */
	struct sw_touch_scope *scope;	/* where it is known to touch memory, and when it came; NULL: as it comes */

	struct sw_footprint_library *library; /* NULL: code is not read */
	struct sw_plans *plans;
	const struct sw_exec *played; /* of which a node touches memory now: its number + 1; NULL, 0: none */
	uint32_t played_node;
	bool (*played_allocates)(const struct sw_exec *exec,
				 uint64_t address); /* by one of its nodes; set while played is */
	bool (*branches_apart)(void *arg, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);

	bool paused;		      /* outside of all windows: no access, no wait is judged */
	uint64_t cut_seq;	      /* CUT record at which recording went on last, 0: none */
	uint64_t open_since, open_ns; /* when a window opened, the run's time in windows before that */
	uint64_t cut_edges;	      /* of the order engine, made for cuts and pauses */

	bool shares;		     /* memory or events with other processes */
	bool shared_events_recorded; /* some context has `shared_event` */
	bool host_flags;	     /* a lane has `flag` or `listens` */
	uint64_t first_ns, last_ns;  /* of the calls so far, if there was any */
	bool any;
	bool moved;		/* the stream of judge.c was made */
	struct sw_map narrowed; /* calls of judge.c that have not ended, by seq */
};

/* Adds the time since the last call of this to the time that was recorded (open_ns): from the first CUDA call on,
   without the pauses of the recorder.  At the edges of pauses, and at the end. */
void sw_model_pass_time(struct sw_model *m, uint64_t t_ns);
/* A small number for a thread, from 0: those of a damaged trace are as large as 32 bits allow. */
uint32_t sw_model_thread(struct sw_model *m, uint32_t thread);
/* A copy that lives as long as the judgement, one for all that are alike. */
const char *sw_model_name(struct sw_model *m, const char *name, size_t bytes);
struct sw_name_store *sw_name_store_new(void);
void sw_name_store_free(struct sw_name_store *names);

#endif
