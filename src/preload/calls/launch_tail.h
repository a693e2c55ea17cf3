/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows the header of a LAUNCH record.  A launch that differs only in its parameters from an earlier one of the
 * same chunk is written as struct sw_rec_launch_again, half as long: with the number of that one, and of its parameter
 * block, or what makes that block differ from the last new one of its kernel.
 */
#ifndef SW_PRELOAD_CALLS_LAUNCH_TAIL_H
#define SW_PRELOAD_CALLS_LAUNCH_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/recorder/recorder.h"
#include "syncwatch/format.h"

struct sw_launch_tail {
	uint32_t bytes; /* after the header */
	uint32_t block; /* bytes that follow those: the parameter block, or what changed in it */
	uint32_t base;	/* not 0: these are the changes since the block with this number */
	uint64_t hash;	/* of the parameters where sw_launch_again() took it, else 0 */
	bool unsought;	/* sw_launch_again() did not look for the parameters among earlier ones */
	bool fresh;	/* sw_launch_again() gave the launch a number that the trace does not have yet */
	union {
		struct sw_rec_launch launch;
		struct {
			struct sw_rec_launch_again again;
			uint32_t changes[SW_LAUNCH_CHANGES_BYTES / 4];
		};
		uint64_t words[sizeof(struct sw_rec_launch) / 8];
	};
	uint64_t changed[SW_LAUNCH_BLOCK_MAX / 512]; /* a bit for each eight bytes of the block that changed */
};

/* A kernel's parameters, where the program has them. */
struct sw_launch_values {
	const struct sw_param *layout;
	uint32_t params, bytes; /* entries of the layout; of the block */
	void *const *at;	/* one that is NULL counts as zeros */
	bool gaps;		/* bytes of the block belong to no parameter */
};

/* Puts the block together. */
void sw_launch_gather(const struct sw_launch_values *values, char *block);

/*
 * Writes the LAUNCH record of an ordinary launch; parameters that were seen before are not copied for that.  False: it
 * is not ordinary, sw_launch_tail() comes next.
 */
bool sw_launch_again(struct sw_call *call, struct sw_launch_tail *tail, const struct sw_launch_values *values);

/*
 * `tail->launch` holds the launch, but for its header, params, param_bytes and reserved, which are 0, as are `hash`,
 * `unsought` and `fresh` at first.  `whole`: others look at the record, it is not shortened.  The header is left for
 * sw_call_record().
 */
void sw_launch_tail(struct sw_launch_tail *tail, const void *block, size_t bytes, bool whole);

/* Writes it after the header. NULL: the record was lost, and with it what it would have defined. */
void sw_launch_tail_write(struct sw_rec *rec, const struct sw_launch_tail *tail, const void *block, size_t bytes);

#endif
