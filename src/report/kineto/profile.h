/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of torch.profiler (Kineto's Chrome trace, as torch.profiler.profile.export_chrome_trace() writes it): the
 * calls of CUDA in it and what they put on the devices.
 *
 * An event of category cuda_runtime or cuda_driver is a call: pid and tid are the system's, ts and dur are microseconds
 * with decimals.  One of category kernel, gpu_memcpy or gpu_memset with the same args.correlation is its work.
 */
#ifndef SW_REPORT_KINETO_PROFILE_H
#define SW_REPORT_KINETO_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"

struct sw_json_scan;

/* Times are nanoseconds of the profile. */
struct sw_profile_call {
	uint32_t thread, name; /* indices into threads and names */
	bool driver;	       /* it called the driver itself */
	int64_t start, end;
	uint64_t correlation;
	size_t match; /* the call of our trace: its index + 1, 0: none */
};
struct sw_profile_work {
	int64_t start, end;
	uint64_t stream; /* as CUPTI numbers it */
};

struct sw_profile {
	char *path;
	SW_VEC(struct sw_profile_call) calls; /* by thread, then in the order of time */
	SW_VEC(struct sw_profile_work) work;
	struct sw_map work_of;	  /* correlation -> index + 1 */
	SW_VEC(uint64_t) threads; /* the system's ids */
	SW_VEC(char *) names;
	struct sw_map name_of;	 /* hash of a name -> index + 1 */
	struct sw_map thread_of; /* the system's id -> index + 1 */
	uint64_t pid;		 /* of the process that was profiled */
	bool several;		 /* calls of several processes */
	uint64_t highest_pid;
	int64_t base_ns;	/* time of day of ts 0; 0: ts is the time of day itself */
	uint64_t end_of_events; /* offset of the bracket that ends the array of events */
	bool any_events;
};

/* Reads a profile of torch.profiler.  0; SW_E_FORMAT: it is no such trace, or holds no calls of CUDA; -errno. */
int sw_profile_read(const char *path, struct sw_profile *profile, struct sw_error *error);
void sw_profile_free(struct sw_profile *profile);

/* Index + 1 of a function's name; 0: no call has this name. */
uint32_t sw_profile_name(const struct sw_profile *profile, const char *name);
/* The work that a call put on a stream; NULL: the profile has none. */
const struct sw_profile_work *sw_profile_work_of(const struct sw_profile *profile, const struct sw_profile_call *call);

/*
 * Reads JSON from a file piece by piece, in memory that does not grow with it; gzip where the build has zlib.
 *
 * Not a validator of everything: what is skipped need only be balanced.  The first error is kept with its offset, and
 * from then on every function fails.
 */

/* Opens a file of JSON to be read piece by piece.  0, or -errno with error filled; plain files alone. */
int sw_json_scan_open(const char *path, struct sw_json_scan **out, struct sw_error *error);
void sw_json_scan_close(struct sw_json_scan *scan);

/* Offset (of the expanded text) of the next byte. */
uint64_t sw_json_scan_offset(const struct sw_json_scan *scan);
/* The first error: 0, or SW_E_FORMAT with error filled. */
int sw_json_scan_error(const struct sw_json_scan *scan, struct sw_error *error);

/* The next character that is no blank, not taken; -1: the end, or an error. */
int sw_json_scan_peek(struct sw_json_scan *scan);

/* Bytes as they are, for copying; how many there were. */
size_t sw_json_scan_bytes(struct sw_json_scan *scan, void *bytes, size_t most);

#endif
