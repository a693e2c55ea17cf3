/* SPDX-License-Identifier: Apache-2.0 */
/* Code images whose content was recorded: pieces are put together, equal contents are held once. */
#ifndef SW_READER_IMAGES_H
#define SW_READER_IMAGES_H

#include "reader/reader.h"

struct sw_image_entry {
	struct sw_trace_image image;
	unsigned char *data; /* owned; NULL: none, or shared with an earlier image */
	uint64_t have, room; /* bytes of data */
	bool recorded;	     /* its content follows, so it is known only then */
};

struct sw_dictionary;

/* The content of the image, or its file, is known: so is the code that was packed for it. */
void sw_image_found(struct sw_dictionary *d, struct sw_image_entry *entry);

#endif
