/* SPDX-License-Identifier: Apache-2.0 */
/* The footprints of a trace's kernels, evaluated at its launches. */
#ifndef SW_TRUTH_FOOTPRINTS_H
#define SW_TRUTH_FOOTPRINTS_H

#include "base/map.h"
#include "contents.h"
#include "footprint/launch_memo.h"
#include "footprint/library.h"
#include "reader/reader.h"

/* Which code footprints are made from: what the library chooses, as the judge does; or one kind, whatever else is
 * there. */
enum footprints_from { FROM_CHOICE, FROM_MACHINE_CODE, FROM_PTX };

struct footprints {
	const struct sw_reader *reader;
	enum footprints_from from;
	struct sw_footprint_library *library; /* FROM_CHOICE */
	struct sw_launch_memo *memo;	      /* the caller's; NULL: each launch is evaluated */
	struct contents contents;
	struct sw_arena arena;
	struct sw_map images;  /* image, or file saved -> struct footprints_image */
	struct sw_map entries; /* one kind only: function id -> struct sw_footprint_entry */
	struct sw_map symbols; /* hash of name -> address */
	void *params;	       /* of the current launch, as the code has them */
};

/* folder: of save_images, where the files that the trace names are not on this machine, or NULL.  0 or -errno. */
int footprints_open(struct footprints *f, const struct sw_reader *reader, enum footprints_from from,
		    const char *folder);
void footprints_close(struct footprints *f);

/* A module variable lies there. */
void footprints_symbol(struct footprints *f, const char *name, size_t bytes, uint64_t address);
/* Lives until footprints_close(). */
const struct sw_footprint_entry *footprints_of(struct footprints *f, const struct sw_trace_function *function);
/* "SASS sm_90", "PTX sm_80, not the code that ran, wild: ...", "not read: ..." */
void footprints_evidence(const struct sw_footprint_entry *entry, char *out, size_t room);
/* To find the reason of an escape: prints the first accesses of that role that cannot happen at this
   launch, as far as the footprint knows, with the fact that rules each of them out. */
void footprints_ruled_out(struct footprints *f, const struct sw_footprint *footprint, const struct sw_record *launch,
			  uint8_t role);
/* The parameter block as the analysed code has it, until the next call for a launch. */
const void *footprints_params(struct footprints *f, const struct sw_footprint *footprint,
			      const struct sw_record *launch, size_t *bytes);
/* Appends to *out. */
void footprints_at(struct footprints *f, const struct sw_footprint *footprint, const struct sw_record *launch,
		   struct sw_reaches *out);

#endif
