/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the documentation of cuBLAS, cuFFT and others says that a call touches, for kernels whose code does not tell all
 * that they touch.
 */
#ifndef SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H
#define SW_DETECT_KERNELS_LIBRARY_CONTRACTS_H

struct sw_model;
struct sw_wait;

/* The launch in hand, whose code does not tell all, may write what its library was given to work in. */
void sw_library_contract(struct sw_model *m, const struct sw_wait *w);

#endif
