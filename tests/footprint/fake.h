/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images made by hand, and readers with planned results: what the library chooses, keeps and waits for does not depend
 * on what kernels are like.  The fake readers take the place of ptx_*.c, sass_*.c and build.c in the test's program.
 */
#ifndef TESTS_FOOTPRINT_FAKE_H
#define TESTS_FOOTPRINT_FAKE_H

#include <stdatomic.h>

#include "footprint/library.h"

/* How the code of one kind and architecture behaves, and how often it was read. */
struct fake_code {
	bool broken;	  /* can't be read */
	unsigned unknown; /* accesses of unknown roots: then its outcome is wild */
	atomic_uint read;
};
#define FAKE_ARCHS 200
extern struct fake_code fake_ptx[FAKE_ARCHS], fake_sass[FAKE_ARCHS];
extern atomic_uint fake_modules; /* PTX modules opened, and not yet closed */
/* Called where a kernel is read, if set. */
extern void (*fake_reading)(const char *kernel);
void fake_reset(void);

struct fake_image {
	unsigned char *bytes;
	size_t n, room;
	atomic_uint asked;	 /* times that the content was asked for */
	const char *unavailable; /* why there is none; NULL */
};
enum fake_kind { FAKE_PTX = 1, FAKE_ELF = 2, FAKE_LTOIR = 8, FAKE_TILEIR = 128 };
/* A block of a fatbin begins; entries follow.  `kernels`: names, each ended by a blank. */
void fake_block(struct fake_image *image);
void fake_entry(struct fake_image *image, enum fake_kind kind, uint32_t arch, uint64_t flags, const char *kernels);
void fake_plain(struct fake_image *image, enum fake_kind kind, uint32_t arch, const char *kernels);
void fake_free(struct fake_image *image);
struct sw_footprint_image fake_named(struct fake_image *image, uint64_t id, uint64_t hash);

#endif
