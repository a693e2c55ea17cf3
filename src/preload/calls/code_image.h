/* SPDX-License-Identifier: Apache-2.0 */
/* Code images as the program passes them to the driver: kind, length and origin. */
#ifndef SW_PRELOAD_CALLS_CODE_IMAGE_H
#define SW_PRELOAD_CALLS_CODE_IMAGE_H

#include <stdint.h>

/*
 * Describes the image at `data` (IMAGE record, and IMAGE_DATA when it lies in no file and its content is new) as the
 * code of `handle`.  Returns its id, 0 when it could not be described.
 */
uint32_t sw_image_describe(const void *data, uint64_t handle);
/* Describes code that the driver read from a file itself, as sw_image_describe() does. */
uint32_t sw_image_describe_file(const char *path, uint64_t handle);

#endif
