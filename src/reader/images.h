/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code images whose content was recorded, in pieces.  Where the pieces lie in the trace is noted; they are read when
 * somebody asks for the content, which is of one image in ten: programs load libraries and launch a few of their
 * kernels. Equal contents are held once.
 */
#ifndef SW_READER_IMAGES_H
#define SW_READER_IMAGES_H

#include "base/memory.h"
#include "reader/reader.h"
#include "reader/source.h"

struct sw_image_entry {
	struct sw_trace_image image;
	SW_VEC(struct sw_image_piece {
		uint64_t offset; /* in the file */
		uint32_t bytes;
	})
	piece;
	uint64_t have;		     /* bytes of all pieces */
	struct sw_image_entry *twin; /* an earlier image that has the content; NULL */
	bool recorded;		     /* its content follows, so it is known only then */
	bool whole;		     /* the last piece came */
	bool read;		     /* `content` was asked for */
	void *content;		     /* NULL: not what was loaded, or not readable any more */
};

struct sw_dictionary;

/* The content of the image, or its file, is known: so is the code that was packed for it. */
void sw_image_found(struct sw_dictionary *d, struct sw_image_entry *entry);
/* Reads the content at the first call.  Lives as long as the entry. */
const void *sw_image_content(struct sw_image_entry *entry, const struct sw_source *source);

#endif
