/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of bytes most of which are zero: pages of zeros are never written, so they take no memory and no time. */
#ifndef SW_FOOTPRINT_KERNEL_STORE_SPARSE_COPY_H
#define SW_FOOTPRINT_KERNEL_STORE_SPARSE_COPY_H

#include <stddef.h>

/* Never NULL; at least one zero follows the bytes.  *mapped: for sw_sparse_free(); *filled: bytes of it that take
   memory. Thread-safe; without memory it ends the process (sw_out_of_memory()). */
void *sw_sparse_copy(const void *bytes, size_t n, size_t *mapped, size_t *filled);
void sw_sparse_free(void *copy, size_t mapped);

#endif
