/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Footprints by (image, kernel): made at the first request, by several threads, and kept on disk for the next run.
 *
 * On disk: $XDG_CACHE_HOME/syncwatch (or ~/.cache/syncwatch), one file an image and architecture, its name made of the
 * image's hash and the version of the analysis; written to a temporary name and renamed, with a checksum, so that
 * concurrent writers and damage cost nothing but the time to analyse again.  Nothing outside that folder is touched; no
 * folder, no room or no permission: the library works without.
 */
#ifndef SW_FOOTPRINT_LIBRARY_H
#define SW_FOOTPRINT_LIBRARY_H

#include "footprint/footprint.h"

struct sw_footprint_library;

/* Opens a library.  cache: folder, "" for the default, NULL for none; threads: 0 for as many as there are
   processors. */
struct sw_footprint_library *sw_footprint_library_open(const char *cache, uint32_t threads);
/* Writes new footprints to disk and frees all that were returned. */
void sw_footprint_library_close(struct sw_footprint_library *library);

/* Where code comes from.  bytes(): the image's content, NULL with error filled when it can't be had; called once at
   most, perhaps on another thread, the content must stay until the library is closed. */
struct sw_footprint_image {
	uint64_t id;   /* distinguishes images within this run */
	uint64_t hash; /* of the content, across runs; 0: unknown, then nothing is kept on disk */
	const void *(*bytes)(void *arg, size_t *size, struct sw_error *error);
	/* A part of the content was read and is not wanted soon, though perhaps again: pages of a mapped file need
	   not stay resident. On any thread. NULL: not wanted. */
	void (*was_read)(void *arg, const void *at, size_t bytes);
	void *arg;
};

/* The footprint of a kernel. footprint NULL: `why` has the reason ("unreadable: unknown compression 0x10000", "no
   code image"). ran: the code that was analysed is the code that ran (or the PTX it was made from). */
struct sw_footprint_entry {
	const struct sw_footprint *footprint;
	const char *why;
	bool ran;
	uint32_t arch; /* of the code that was analysed */
};

/* The code is chosen so: PTX of the architecture that ran (it is what the machine code was made from); machine code
   that ran; PTX the driver compiled for want of machine code; PTX of another architecture. A wild outcome is
   replaced by the next choice. Entries live until the library is closed. One caller at a time. */
const struct sw_footprint_entry *sw_footprint_library_get(struct sw_footprint_library *library,
							  const struct sw_footprint_image *image, uint32_t arch,
							  const char *kernel);
/* Lets the threads analyse a kernel that will be requested. */
void sw_footprint_library_expect(struct sw_footprint_library *library, const struct sw_footprint_image *image,
				 uint32_t arch, const char *kernel);
/* Notes that a kernel was launched, for each launch, so that memory goes back to the system when no new kernels
   come. */
void sw_footprint_library_launched(struct sw_footprint_library *library);

struct sw_footprint_library_totals {
	uint64_t asked, cached, analysed, unreadable; /* kernels */
	uint64_t code_bytes, ns;		      /* of code analysed, and time that took (all threads) */
};
struct sw_footprint_library_totals sw_footprint_library_totals(const struct sw_footprint_library *library);

#endif
