/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_BASE_PROCESS_H
#define SW_BASE_PROCESS_H

#include <stdint.h>

/* Bytes of private, writable memory of this process, as RLIMIT_DATA counts them; 0: not known. */
uint64_t sw_process_data_bytes(void);

#endif
