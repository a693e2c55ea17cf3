/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that order host threads (strict host). */
#ifndef SW_DETECT_CALLS_DEVICE_H
#define SW_DETECT_CALLS_DEVICE_H

#include <stdint.h>

struct sw_model;
struct sw_record;

/* begin: the HOST_FUNC_RUN that ended with record `seq`. */
void sw_host_func_returned(struct sw_model *m, const struct sw_record *begin, uint64_t seq);

#endif
