/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of the errors that the simulation gives (errors.def); other codes are unknown, as to the driver. */
#include "simcuda/sim.h"

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
#define SW_SIM_ERROR(number, driver, runtime, text) {driver, #driver, text},
#define SW_SIM_RUNTIME_ERROR(number, runtime, text)
#include "simcuda/errors.def"
};

/* Name or text of an error. */
static CUresult look_up(CUresult code, const char **out, bool name)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			*out = name ? errors[i].name : errors[i].text;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult code, const char **out)
{
	return look_up(code, out, true);
}

CUresult cuGetErrorString(CUresult code, const char **out)
{
	return look_up(code, out, false);
}
