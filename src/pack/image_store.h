/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store of code images in the user's cache: what programs loaded from memory.  A program that `run` starts does not
 * copy an image again that is there: its trace names the file.  When it has ended, `run` puts the code of the kernels
 * that were launched into the trace, so that the trace does not need the store, and what is new into the store.
 */
#ifndef SW_PACK_IMAGE_STORE_H
#define SW_PACK_IMAGE_STORE_H

#include "base/error.h"

struct sw_reader;

/* Puts the code of launched kernels that the store has into the trace, and what is new in the trace into the store.
   For a trace that was read to its end and that nobody writes any more.  0, or <0 with error filled: the trace lacks
   code.  The store itself is left as it is where it cannot be written. */
int sw_image_store_settle(struct sw_reader *reader, const char *trace, const char *folder, struct sw_error *error);

#endif
