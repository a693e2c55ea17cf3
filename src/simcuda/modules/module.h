/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded code images: kernels, variables, libraries. */
#ifndef SW_SIMCUDA_MODULES_MODULE_H
#define SW_SIMCUDA_MODULES_MODULE_H

#include "simcuda/sim.h"

struct sw_sim_variable {
	char *name;
	size_t size;
	void *bytes;			      /* initial value, NULL zero */
	uint64_t managed;		      /* address of a managed variable, 0: not yet */
	uint64_t address[SW_SIM_MAX_DEVICES]; /* 0: not yet placed on that device */
};

struct sw_sim_module {
	struct sw_sim_object object;
	bool readable; /* functions and variables are complete */
	SW_VEC(struct sw_sim_function *) functions;
	SW_VEC(struct sw_sim_variable) variables;
};

#endif
