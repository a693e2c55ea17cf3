/* SPDX-License-Identifier: Apache-2.0 */
/* Private tables of the driver: a library that asks for them cannot be simulated: one line says so. */
#include "simcuda/sim.h"

#include <dlfcn.h>
#include <string.h>

/* The libraries bring a CUDA runtime of their own; the simulated one asks for no table. */
CUresult cuGetExportTable(const void **out, const CUuuid *id)
{
	static const char *const libraries[] = {"libcublas",   "libcufft",    "libcurand",
						"libcusparse", "libcusolver", "libcudnn"};
	Dl_info info = {0};
	(void)id;
	if (out)
		*out = NULL;
	if (!dladdr(__builtin_return_address(0), &info) || !info.dli_fname)
		return sw_sim_unsupported("cuGetExportTable");
	const char *slash = strrchr(info.dli_fname, '/'), *name = slash ? slash + 1 : info.dli_fname;
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (!strncmp(name, libraries[i], strlen(libraries[i])))
			return sw_sim_unsupported("cuBLAS, cuFFT, cuRAND and libraries like them: they need private "
						  "tables of the driver");
	return sw_sim_unsupported("a CUDA runtime that is linked statically: relink with -cudart shared");
}
