/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code images: what a CUDA program hands to the driver.  Pure functions over bytes, no CUDA.
 *
 * Input is untrusted: every read is bounded, decompressed sizes are capped (SW_IMAGE_MAX_BYTES), unknown compression,
 * kinds and architectures are "unreadable: why", never a guess.  Thread-safe: no global state.
 */
#ifndef SW_IMAGE_IMAGE_H
#define SW_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "syncwatch/format.h"

#define SW_IMAGE_MAX_BYTES (1ull << 30)

/* The kind of an image by its first bytes alone: a fatbin (not its wrapper), a cubin, PTX text, LTO-IR, Tile IR;
   UNKNOWN for anything else. */
enum sw_image_kind sw_image_kind_of(const void *bytes, size_t size);

/* The address that a fatbin wrapper, as cuLibraryLoadData is given, points to; 0 if this is none.  Reads 24 bytes. */
uint64_t sw_fatbin_wrapper_target(const void *wrapper);

/* Bytes that the fatbin (headers and entries, several in a row) occupies, as its headers say; 0 if this is none.
   `size` bounds what may be read. */
size_t sw_fatbin_bytes(const void *fatbin, size_t size);

/* One entry of a fatbin. */
struct sw_fatbin_entry {
	enum sw_image_kind kind; /* ELF, PTX, LTOIR, TILEIR, UNKNOWN */
	uint32_t arch;		 /* 90 for sm_90 */
	uint64_t flags;
	bool compressed;
	const void *payload;	    /* as stored */
	size_t stored_bytes, bytes; /* stored, and after decompression */
	size_t offset;		    /* of the entry in the fatbin, for messages */
	const char *name;	    /* not NUL-terminated; NULL: none */
	size_t name_bytes;
};
/* Walks all entries: each() returns non-zero to stop, which is returned.  <0: damaged, error filled with the offset;
   entries before the damage were delivered. */
int sw_fatbin_walk(const void *fatbin, size_t size, int (*each)(void *arg, const struct sw_fatbin_entry *entry),
		   void *arg, struct sw_error *error);

/* The entry's content, decompressed if needed; *out is malloc'ed (also when stored raw), PTX is NUL-terminated. */
int sw_fatbin_extract(const struct sw_fatbin_entry *entry, void **out, size_t *bytes, struct sw_error *error);
/* Is the entry's content of a size that is accepted (SW_IMAGE_MAX_BYTES)?  Else <0. */
int sw_fatbin_check(const struct sw_fatbin_entry *entry, struct sw_error *error);
/* As sw_fatbin_extract(), into memory with room for entry->bytes + 1, of an entry that was checked. */
int sw_fatbin_extract_into(const struct sw_fatbin_entry *entry, void *out, size_t *bytes, struct sw_error *error);

/* One kernel of a cubin. */
struct sw_cubin_kernel {
	const char *name; /* mangled; of a cubin it points into the cubin, of PTX it is valid during the call-back */
	uint32_t params;
	const struct sw_param *param; /* by index; valid during the call-back */
	uint32_t param_bytes;	      /* size of the whole block, 0 unknown */
	const void *code;	      /* .text.<name> */
	size_t code_bytes;
};
/* Calls back for each kernel of a cubin (ELF, machine EM_CUDA): each .text.<name> section of a global entry
   function.  *arch may be NULL.  Return values as for sw_fatbin_walk. */
int sw_cubin_walk(const void *cubin, size_t size, uint32_t *arch,
		  int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg, struct sw_error *error);
/* sw_cubin_walk() for the kernel of this name alone. */
int sw_cubin_walk_named(const void *cubin, size_t size, const char *name, uint32_t *arch,
			int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg,
			struct sw_error *error);

/* Calls back for each kernel of PTX text, with its parameters' sizes and offsets; code is NULL. */
int sw_ptx_walk(const char *ptx, size_t size, int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg,
		struct sw_error *error);

/*
 * All kernels of an image of any kind, each name once: for fatbins the best cubin for `arch` (same major, highest minor
 * not above it; arch 0: any), else the PTX with the highest architecture.  Used by the simulated driver for layouts.
 */
int sw_image_kernels(const void *image, size_t size, uint32_t arch,
		     int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg, struct sw_error *error);

/*
 * What the mangled name of a kernel says of its parameters: pointer to const is read, other pointers are taken as
 * written, anything else is unknown.  Returns the number of parameters, 0 when the name has no types (extern "C",
 * templates whose parameter types can't be derived, damaged names).
 */
enum sw_signature { SW_SIG_VALUE, SW_SIG_POINTER, SW_SIG_POINTER_CONST, SW_SIG_UNKNOWN };
size_t sw_signature_of(const char *mangled, enum sw_signature *out, size_t room);

#endif
