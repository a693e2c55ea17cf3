/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Footprints on disk.  One file holds what is known of an image for an architecture:
 *
 *     head                        magic, version of the analysis, image, architecture
 *     record, record, ...         lengths and a checksum of its own; then name, reason, packed footprint; a checksum of
 * those
 *
 * A record that is damaged is as if it were not there, and so are all after lengths that are damaged: the kernel is
 * analysed again.  Files are read whole and replaced whole (temporary name, rename); of two processes that write at
 * once the last one's records stay, and the first one's that it had seen.  Nothing here fails: what can't be read or
 * written is not kept.  Not thread-safe.
 */
#ifndef SW_FOOTPRINT_KERNEL_STORE_DISK_STORE_H
#define SW_FOOTPRINT_KERNEL_STORE_DISK_STORE_H

#include "base/map.h"
#include "footprint/library.h"

/* The folder of the cache: `cache`, or for "" that of the environment (XDG Base Directory Specification); it need not
   exist.  NULL: there is none.  malloc'ed. */
char *sw_store_folder(const char *cache);

struct sw_store {
	char *folder;
	uint64_t image;
	uint32_t arch;
	unsigned char *bytes; /* of the file, as it was when it was opened; NULL */
	size_t n;
	struct sw_map index; /* hash of a kernel's name -> offset of its record */
};

/* Reads the file of an image and architecture, if there is one. */
void sw_store_open(struct sw_store *store, const char *folder, uint64_t image, uint32_t arch);
/* Looks a kernel up in the file as it was opened; false: it is not there.  The entry's footprint and reason are the
   caller's. */
bool sw_store_get(const struct sw_store *store, const char *kernel, struct sw_footprint_entry *out);

struct sw_store_new {
	const char *kernel;
	const struct sw_footprint_entry *entry;
};
/* Writes the file anew: what is in it now, and these entries. */
void sw_store_write(const struct sw_store *store, const struct sw_store_new *entries, size_t n);
void sw_store_close(struct sw_store *store);

/* Most bytes of a file; of a folder, beyond which the files that were not used for longest go. */
#define SW_STORE_FILE_BYTES   ((size_t)128 << 20)
#define SW_STORE_FOLDER_BYTES ((uint64_t)512 << 20)
/* Removes files of the cache, the longest unused first, until they take `most` bytes or less, and what was left by
   writers that ended in the middle. */
void sw_store_tidy(const char *folder, uint64_t most);

#endif
