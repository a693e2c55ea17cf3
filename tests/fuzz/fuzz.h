/* SPDX-License-Identifier: Apache-2.0 */
/* The function that every fuzz target defines: the interface of libFuzzer, which replay.c calls as well. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
