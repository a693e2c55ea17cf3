/* SPDX-License-Identifier: Apache-2.0 */
/* The code images of a trace: from the trace itself, or from the files that it names. */
#ifndef SW_TRUTH_CONTENTS_H
#define SW_TRUTH_CONTENTS_H

#include "base/error.h"
#include "base/memory.h"
#include "reader/reader.h"

struct content {
	void *bytes; /* owned */
	size_t size;
};
struct contents {
	const struct sw_reader *reader;
	SW_VEC(struct content) read; /* from files */
};

/* The content of an image, NULL with error filled.  It lives as long as the reader and *contents. */
const void *contents_of(struct contents *contents, uint32_t image, size_t *size, struct sw_error *error);
void contents_free(struct contents *contents);

#endif
