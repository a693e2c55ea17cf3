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

/* Adds a kernel whose layout is known. */
void sw_sim_module_kernel(struct sw_sim_module *module, const char *name, size_t params, const struct sw_param *param,
			  size_t param_bytes);
struct sw_sim_variable *sw_sim_module_variable(struct sw_sim_module *module, const char *name); /* NULL: no such */
/* Fills functions and variables from a cubin, fatbin (wrapped or not) or PTX; false when it could not be read. */
bool sw_sim_image_read(struct sw_sim_module *module, const void *image);
/* The variables of a cubin or of PTX text; those already known stay as they are. */
void sw_sim_image_variables(struct sw_sim_module *module, const void *image, size_t size);
/* A file's bytes followed by a zero, malloc'ed; NULL. */
void *sw_sim_image_file(const char *path);

#endif
