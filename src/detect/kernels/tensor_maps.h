/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from a tensor map (CUtensorMap) the memory that it was made over.
 *
 * NVIDIA documents no layout.  This one was read off 6,000 maps of sm_90 that cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col made from random arguments (driver 580.159.04, H200); it holds for all of them, and for the
 * maps of 64 bytes that cuBLAS 13 makes itself.
 */
#ifndef SW_DETECT_KERNELS_TENSOR_MAPS_H
#define SW_DETECT_KERNELS_TENSOR_MAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "syncwatch/format.h"

/* arch: of the device, 90 for sm_90.  Fills the address, element type, rank, sizes and strides (bytes) of *object as
   its creation would have recorded them; false: the bytes at `map`, of which `bytes` may be read, are no tensor map of
   this layout, or the layout of this device's maps is not known.  Thread-safe. */
bool sw_tensor_map_read(uint32_t arch, const void *map, size_t bytes, struct sw_rec_object *object);

#endif
