/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call while it is being judged: from its record, or its BEGIN, to its END. What its handler fills in is judged when
 * it ends (dispatch.c).
 */
#ifndef SW_DETECT_MODEL_CALL_H
#define SW_DETECT_MODEL_CALL_H

#include "detect/memory/access.h"

/* The work that the host waited for, as it stood when the wait began. */
struct sw_covered {
	uint32_t lane;
	uint64_t known, covered;
};
typedef SW_VEC(struct sw_covered) sw_covered_vec;

#define SW_WAIT_TOKENS 4u
#define SW_NOT_READY   600u /* CUDA_ERROR_NOT_READY */

enum sw_copy_way { SW_MOVES_OTHER, SW_MOVES_UP, SW_MOVES_DOWN, SW_MOVES_WITHIN };

struct sw_wait {
	struct sw_record record; /* of BEGIN; rec points to the copy below when the call spans two records */
	struct sw_rec *copy;
	struct sw_access what; /* the call */
	bool enqueues;
	int id; /* id of the finding that this call is an occurrence of, 0: none */
	enum sw_basis basis;
	enum sw_fix fix;
	bool promised;	  /* the documents promise that it waits */
	bool always;	  /* a finding even when it did not wait and nothing was pending */
	bool only_waited; /* a finding only when it did wait */
	bool hidden;	  /* work may be pending that the recorder left out */
	bool pending;	  /* work was pending that it could have waited for */
	uint64_t own_ns;
	uint64_t pinned; /* bytes that it pins or releases, 0: none */
	uint32_t tokens;
	sw_hb_token token[SW_WAIT_TOKENS];
	enum sw_order order[SW_WAIT_TOKENS];
	struct sw_access waited_for; /* the covered work that was enqueued last; seq 0: unknown */
	sw_covered_vec covered;	     /* work that the host did not know to be done, documented clock */
	enum sw_copy_way moves;	     /* copies: which way */
	struct sw_access read_back;  /* synchronisations: the copy of a value right before it, seq 0: none */
	bool staged;		     /* a copy from or to pageable memory */
	uint64_t bytes;		     /* copies */
	struct sw_access maker;	     /* releases: the call that made the memory, seq 0 unknown */
	struct sw_range host_range;  /* what the host itself touches inside the call; width 0 nothing */
	struct sw_wait *next;
};

#endif
