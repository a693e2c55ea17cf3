/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of code images: content that programs loaded from memory, by its hash, which earlier runs put into the
 * user's cache.  The command writes it, the recorder asks what is there.
 */
#ifndef SW_BASE_STORED_IMAGES_H
#define SW_BASE_STORED_IMAGES_H

#include <inttypes.h>
#include <stdint.h>

#define SW_STORED_NAME	"%016" PRIx64 ".image" /* of a file, by sw_hash_content() */
#define SW_STORED_INDEX "index"		       /* struct sw_stored_image of each, sorted by hash; replaced as a whole */
#define SW_STORED_LEAST 16384u		       /* smaller images are copied into each trace */

struct sw_stored_image {
	uint64_t hash, bytes;
};

#endif
