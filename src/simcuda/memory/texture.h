/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects. */
#ifndef SW_SIMCUDA_MEMORY_TEXTURE_H
#define SW_SIMCUDA_MEMORY_TEXTURE_H

#include "simcuda/sim.h"

/* Ends the objects of a context. */
void sw_sim_texture_clear(struct sw_sim_ctx *ctx);

#endif
