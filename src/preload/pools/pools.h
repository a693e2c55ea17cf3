/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of syncwatch_annotate() that are the recorder's own: blocks of caching allocators. */
#ifndef SW_PRELOAD_POOLS_POOLS_H
#define SW_PRELOAD_POOLS_POOLS_H

#include "syncwatch/format.h"

/* Recorded as SW_NOTE_TENSOR_BEGIN and _END with SW_NOTE_ONE_STREAM, under a name of their own. */
enum {
	SW_POOL_ARRAY_BEGIN = SW_NOTE_TENSOR_END + 1, /* CuPy's */
	SW_POOL_ARRAY_END,
	SW_POOL_BUFFER_BEGIN, /* RMM's */
	SW_POOL_BUFFER_END
};

#endif
