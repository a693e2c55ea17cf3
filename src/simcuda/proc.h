/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's entry points by name (driver.def). */
#ifndef SW_SIMCUDA_PROC_H
#define SW_SIMCUDA_PROC_H

#include <stdbool.h>

enum sw_sim_proc { SW_SIM_PROC_FOUND, SW_SIM_PROC_UNKNOWN, SW_SIM_PROC_NEWER };

/* The newest version of `name` up to `version` (as 12040); *out is set when found. */
enum sw_sim_proc sw_sim_proc_find(const char *name, int version, bool per_thread, void **out);

#endif
