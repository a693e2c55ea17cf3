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

#include "footprint/kernel/store/code_units.h"

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
void sw_containers_free(struct sw_containers *containers);

#endif
