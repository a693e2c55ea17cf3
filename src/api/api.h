/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class of each driver entry point, from src/api/cuda.def.  Tables only: no CUDA header is needed to read them.
 */
#ifndef SW_API_API_H
#define SW_API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/names.h" /* sw_api_find() */

/* X(NAME, "what calls of this class do") */
#define SW_API_CLASSES(X)                                                                                              \
	X(PASS, "neither orders, moves, allocates, captures nor loads anything")                                       \
	X(LAUNCH, "enqueues a kernel")                                                                                 \
	X(COPY, "copies memory")                                                                                       \
	X(SET, "sets memory")                                                                                          \
	X(ALLOC, "allocates or registers memory")                                                                      \
	X(FREE, "frees or unregisters memory")                                                                         \
	X(STREAM, "creates or destroys a stream")                                                                      \
	X(EVENT, "creates, destroys, records or waits for an event on the device")                                     \
	X(SYNC, "makes the host wait")                                                                                 \
	X(QUERY, "tells whether work is done")                                                                         \
	X(HOST, "enqueues a host function")                                                                            \
	X(CONTEXT, "creates, destroys or selects a context")                                                           \
	X(CODE, "loads or unloads code, or may do so lazily")                                                          \
	X(CAPTURE, "captures work")                                                                                    \
	X(GRAPH, "builds, changes or launches graphs")                                                                 \
	X(MEMOP, "prefetches, advises, attaches; stream memory operations")                                            \
	X(CONFIG, "reconfigures the device")                                                                           \
	X(POOL, "memory pools")                                                                                        \
	X(EXTERNAL, "external memory, semaphores, interoperability")                                                   \
	X(OBJECT, "makes a texture, surface or tensor map")

enum sw_api_class {
#define SW_API_CLASS_ENUM(name, text) SW_API_##name,
	SW_API_CLASSES(SW_API_CLASS_ENUM)
#undef SW_API_CLASS_ENUM
};

struct sw_api_info {
	const char *symbol;  /* as exported by libcuda, e.g. "cuMemcpyHtoDAsync_v2_ptsz" */
	const char *name;    /* as in the documents, e.g. "cuMemcpyHtoDAsync" */
	const char *runtime; /* the runtime function that stands for it, e.g. "cudaMemcpyAsync"; "" where none does */
	enum sw_api_class cls;
	bool per_thread; /* _ptsz or _ptds */
};

/* Number of entries; index 0 is reserved for "none". */
size_t sw_api_count(void);
/* By index; never NULL (index out of range: entry 0). */
const struct sw_api_info *sw_api_at(size_t index);

#endif
