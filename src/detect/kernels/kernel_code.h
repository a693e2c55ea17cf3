/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the code of kernels is: content that the trace holds, or a file that is still what it was when it was loaded.
 *
 * Files are looked at when the footprints' library asks, perhaps on one of its threads; everything else here is for the
 * judge's thread alone.
 */
#ifndef SW_DETECT_KERNELS_KERNEL_CODE_H
#define SW_DETECT_KERNELS_KERNEL_CODE_H

#include "base/map.h"
#include "footprint/library.h"
#include "reader/reader.h"

struct sw_code;

struct sw_codes {
	struct sw_reader *reader;
	SW_VEC(struct sw_code *) all;
	struct sw_map by_id;   /* IMAGE record's id -> struct sw_code */
	struct sw_map by_hash; /* content -> struct sw_code: what was loaded twice is analysed once */
};

/* Frees (and unmaps) what sw_codes_find gave out: close the library first. */
void sw_codes_free(struct sw_codes *codes);

/* The image of a FUNCTION record for the library of footprints; lives until sw_codes_free. `t_ns`: trace time at
   which the image is known to be loaded: a file that was written later is not what was loaded. NULL: there is none
   (yet), *why says so. */
const struct sw_footprint_image *sw_codes_find(struct sw_codes *codes, uint32_t id, uint64_t t_ns, const char **why);

/* Notes that a kernel of the image could not be analysed: it counts against the file, if that is why. */
void sw_codes_lost_kernel(const struct sw_footprint_image *image);
struct sw_unusable_code;
/* Files whose code could not be used: index from 0; false: there are no more.  The path lives as long as `codes`. */
bool sw_codes_unusable(const struct sw_codes *codes, size_t index, struct sw_unusable_code *out);

/* The build id in an ELF file of `bytes` bytes (untrusted); NULL: none. */
const uint8_t *sw_code_build_id(const void *file, size_t bytes, uint32_t *id_bytes);

#endif
