/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one template, which a name without its types does not distinguish. */
#ifndef SW_REPORT_SYMBOLS_TEMPLATE_NAMES_H
#define SW_REPORT_SYMBOLS_TEMPLATE_NAMES_H

#include "report/symbols/names.h"

/*
 * The short name of a kernel; where the findings have other kernels of that name, with what is particular to this one:
 * "scale<float>", "at::native::vectorized_elementwise_kernel<...FillFunctor...>".  Lives as long as the names.
 */
const char *sw_name_kernel_particular(struct sw_names *names, uint32_t function);

void sw_template_names_free(struct sw_template_names *templates);

#endif
