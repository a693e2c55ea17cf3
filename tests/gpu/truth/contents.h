/* SPDX-License-Identifier: Apache-2.0 */
/* The code images of a trace: from the trace itself, from the files that it names, or as save_images wrote them. */
#ifndef SW_TRUTH_CONTENTS_H
#define SW_TRUTH_CONTENTS_H

#include "base/error.h"
#include "base/memory.h"
#include "reader/reader.h"

struct content {
	void *bytes; /* owned */
	size_t size;
};
struct saved {
	const char *name, *path; /* of the kernel; of the file that holds it, PTX where there is some */
};
struct contents {
	struct sw_arena arena;
	const struct sw_reader *reader;
	SW_VEC(struct saved) saved;
	SW_VEC(struct content) read; /* from files */
};

/* The content of an image, NULL with error filled.  It lives as long as the reader and *contents. */
const void *contents_of(struct contents *contents, uint32_t image, size_t *size, struct sw_error *error);
/* A folder of save_images: its files are there instead of the images.  0 or -errno. */
int contents_saved(struct contents *contents, const char *folder, bool machine);
/* The saved file that holds a kernel: number from 1, 0: none.  Its content, as above. */
uint32_t contents_find(const struct contents *contents, const char *kernel);
const void *contents_file(struct contents *contents, const char *path, size_t *size, struct sw_error *error);
void contents_free(struct contents *contents);

#endif
