/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The containers of an image, listed when they are asked for.
 *
 * The code of a large library is one section of hundreds of containers, one for each translation unit.  An image begins
 * with the container that the program loaded; others that follow it are looked into when a kernel is not in those
 * before (of translation units that were linked together, each has a container).
 */
#ifndef SW_FOOTPRINT_KERNEL_STORE_CONTAINERS_H
#define SW_FOOTPRINT_KERNEL_STORE_CONTAINERS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "footprint/library.h"
#include "image/image.h"

/*
 * Memory that code is decompressed into, kept in pieces for what is decompressed next, whatever its size: its pages are
 * there already.  To have fresh ones from the system takes longer than to decompress into them (doc/performance.md,
 * "Judging").
 *
 * Not thread-safe: callers hold a lock.
 */

/* Bytes of a piece: a large page of x86-64, and of aarch64 with the usual page of 4 KB. */
#define SW_SPARE_PIECE ((size_t)2 << 20)
/* Most pieces that are kept. */
#define SW_MAX_SPARES 8u

struct sw_spare_memory {
	uint32_t n;
	void *piece[SW_MAX_SPARES];
	uint64_t used_again; /* pieces */
};

/* Memory for at least `wanted` bytes, *bytes in all; NULL: none can be had.  The caller has it until
   sw_spare_give(); its content is not defined. */
void *sw_spare_take(struct sw_spare_memory *memory, size_t wanted, size_t *bytes);
/* Takes the memory back: it is kept as far as there is room, else returned to the system. */
void sw_spare_give(struct sw_spare_memory *memory, void *at, size_t bytes);
/* Returns all memory that is kept to the system. */
void sw_spare_drop(struct sw_spare_memory *memory);

/* A copy of bytes most of which are zero: pages of zeros are never written, so they take no memory and no time. */

/* Copies bytes to fresh memory and leaves pages of zeros untouched.  Never NULL; at least one zero follows the
   bytes.  *mapped: for sw_sparse_free(); *filled: bytes of it that take memory.  Thread-safe; without memory it ends
   the process (sw_out_of_memory()). */
void *sw_sparse_copy(const void *bytes, size_t n, size_t *mapped, size_t *filled);
void sw_sparse_free(void *copy, size_t mapped);

/*
 * The pieces of code in a container of an image ("units": entries of a fatbin, or the image itself) and which kernel
 * lies in which.
 *
 * Libraries ship fatbins of hundreds of megabytes.  So a unit is decompressed when a kernel is looked for in it, its
 * kernels' names are noted then, and its content is held in a cache of bounded size.  Several threads may look at once:
 * each reads the names of another unit.
 */

/* One lock for all that is shared, held for look-ups only, never while bytes are read or analysed. */
struct sw_monitor {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* signalled when something that a thread may wait for has ended */
};

enum sw_load { SW_LOAD_NONE, SW_LOAD_GOING, SW_LOAD_DONE, SW_LOAD_FAILED };

/* The content of a unit, while it is held. */
struct sw_content {
	enum sw_load load;
	const void *bytes;
	size_t n;
	void *owned;		      /* bytes, if they were decompressed */
	size_t room;		      /* bytes of `owned` */
	size_t mapped, filled;	      /* of a sparse copy: bytes that `owned` maps, and those that hold something */
	struct sw_ptx_module *module; /* PTX, once it was asked for */
	size_t cost;		      /* what the cache counts for it */
	uint32_t users;
	struct sw_content *newer, *older; /* in the list of those without users */
};

struct sw_unit {
	uint32_t sort; /* index of its sort */
	struct sw_fatbin_entry entry;
	bool plain;				/* the image itself: nothing to decompress */
	const struct sw_footprint_image *image; /* that it is a part of */
	struct sw_content content;
	char *why; /* why it can't be read; NULL */
};

/* PTX and machine code for "sm_90a" run on 9.0 alone, for "sm_100f" within the family (CUDA C++ Programming Guide,
   "Family-Specific Features", "Architecture-Specific Features"). */
enum sw_variant { SW_VARIANT_NONE, SW_VARIANT_FAMILY, SW_VARIANT_EXACT };

/* All units of one kind and architecture. */
struct sw_sort {
	enum sw_image_kind kind;
	uint32_t arch;
	enum sw_variant variant;
	uint32_t next;	     /* first unit whose names no thread has begun to read */
	uint32_t reading;    /* threads that read names */
	struct sw_map names; /* hash of a kernel's name -> index of the unit + 1, code bytes above bit 32 */
	const char *why;     /* of the first unit that can't be read */
};

/* Contents of all images of a library. */
struct sw_contents {
	struct sw_monitor *monitor;
	size_t limit, held;		    /* bytes; those in use may exceed the limit */
	struct sw_content *newest, *oldest; /* without users */
	struct sw_spare_memory spare;
};

/* All units of one container. */
struct sw_units {
	struct sw_monitor *monitor;
	struct sw_contents *contents;
	SW_VEC(struct sw_unit) unit;
	SW_VEC(struct sw_sort) sort;
	char *why; /* what of it can't be used (LTO-IR, damage); NULL */
};

struct sw_found {
	struct sw_unit *unit;
	uint32_t code_bytes; /* of the kernel: machine code, or its share of the PTX */
};
/* Finds the first unit of this sort that holds the kernel; reads names as far as needed.  False: none does.
   Thread-safe. */
bool sw_units_find(struct sw_units *units, struct sw_sort *sort, const char *kernel, struct sw_found *found);

/* Gets the content of a unit, decompressed, to be returned by sw_contents_give(); with a module for PTX if `parsed`.
   NULL: unit->why has the reason.  Thread-safe. */
const struct sw_content *sw_contents_take(struct sw_contents *contents, struct sw_unit *unit, bool parsed);
/* Returns the content: it stays in the cache until its memory is needed for another one. */
void sw_contents_give(struct sw_contents *contents, struct sw_unit *unit);
/* Frees the content that a unit holds, when the unit ends. */
void sw_content_free(struct sw_content *content);
/* Frees the memory that is kept for the next content to be decompressed; also at the end.  Thread-safe. */
void sw_contents_drop_spare(struct sw_contents *contents);

struct sw_containers {
	struct sw_monitor *monitor;
	struct sw_contents *contents;
	const struct sw_footprint_image *image;
	enum sw_load load; /* of the bytes */
	const void *bytes;
	size_t n;
	size_t at;			     /* where the next container begins ... */
	bool listing, damaged, ended;	     /* ... which a thread reads now; there is none that can be read */
	SW_VEC(struct sw_units *) container; /* those that were asked for, and those before them */
	char *why;			     /* load FAILED: why there is no content */
};

/* Asks for the image's content; later calls, also of other threads, find that done.  false: there is none;
   containers->why has the reason.  Thread-safe. */
bool sw_containers_load(struct sw_containers *containers, const struct sw_footprint_image *image);
/* The units of one container, which live until the end; NULL: there are not so many.  An image that is no fatbin is one
   container.  The content must have been loaded.  Thread-safe. */
struct sw_units *sw_containers_get(struct sw_containers *containers, size_t index);
/* Frees all containers with their units. */
void sw_containers_free(struct sw_containers *containers);

#endif
