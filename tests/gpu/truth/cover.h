/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a footprint cover what was seen?
 *
 * A byte is covered by a box of a reach with the role in which it was touched.  Reaches without a place (pointers
 * loaded from memory, textures, unknown pointers) cover nothing themselves, but an access that nothing covers is no
 * escape then: the footprint said that there is more.  What it says of module variables whose address nobody asked for,
 * and of the driver's own memory, excuses only what lies in no allocation.
 */
#ifndef SW_TRUTH_COVER_H
#define SW_TRUTH_COVER_H

#include "accesses.h"
#include "footprint/footprint.h"

/* A reach with a known place: `slices` x `rows` rows of `width` bytes. */
struct cover_box {
	uint64_t address, width, pitch, rows, slice, slices;
	uint8_t role;
};
/*
 * Where things lie.  end_of: first byte after the allocation that holds the address, 0 when none does;
 * start_of: its first byte.  params: the parameter block of the launch, in which open reaches of several pointers are
 * looked up.
 */
struct cover_memory {
	uint64_t (*end_of)(void *arg, uint64_t address);
	uint64_t (*start_of)(void *arg, uint64_t address);
	void *arg;
	const unsigned char *params;
	size_t param_bytes;
};
struct cover {
	SW_VEC(struct cover_box) box;
	const struct cover_memory *memory;
	uint8_t elsewhere; /* roles of reaches without a place: anywhere, */
	uint8_t outside;   /* or outside of all allocations: module variables, the driver's own memory */
	bool wild;	   /* nothing may be concluded from what is missing */
	/*
	 * The footprint is of PTX, of which the machine code may do more: an atomic operation may become a load and a
	 * loop of compare-and-swap (atom.add of f16 on sm_90), and of asynchronous copies the patching API tells the
	 * size of the destination where the source may be shorter (PTX ISA 9.0, cp.async, src-size).
	 */
	bool ptx;
};
/* *memory must outlive *cover. */
void cover_make(struct cover *cover, const struct sw_reaches *reaches, bool wild, const struct cover_memory *memory);
void cover_free(struct cover *cover);

struct cover_result {
	uint64_t observed, escaped, elsewhere, wild; /* bytes, each role by itself */
	struct seen_rows first;			     /* that escaped: one row */
};
/* Lays the rows of a launch over the cover; adds to *result. */
void cover_check(const struct cover *cover, const struct seen_rows *rows, size_t n, struct cover_result *result);

/* Bytes that the boxes hold, each role by itself, each byte once (saturating; of boxes with more than a million rows in
   all, the sum). */
uint64_t cover_bytes(const struct cover *cover);

#endif
