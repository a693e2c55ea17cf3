/* SPDX-License-Identifier: Apache-2.0 */
/* Code images in plain files: PTX, cubins, fatbins, and programs and libraries that hold fatbins. */
#ifndef SW_TOOLS_CODE_FILES_H
#define SW_TOOLS_CODE_FILES_H

#include "base/error.h"
#include "base/memory.h"
#include "footprint/library.h"

struct sw_code_image {
	struct sw_footprint_image image; /* for the library of footprints */
	const void *bytes;
	size_t n, offset; /* in the file */
};

struct sw_code_file {
	void *map;
	size_t mapped;
	SW_VEC(struct sw_code_image) images;
};

/* Maps the file and finds its images; 0 or <0 with error naming the file.  The images point into *file, which must stay
   where it is. */
int sw_code_file_open(const char *path, struct sw_code_file *file, struct sw_error *error);
void sw_code_file_close(struct sw_code_file *file);

#endif
