/* SPDX-License-Identifier: Apache-2.0 */
/* A limit of the device that is set once, to the largest value that the program asks for, before its first work. */
#include "preload/savings/savings.h"

static _Atomic bool set;

void sw_limits_prepare(void)
{
	__typeof__(&cuCtxSetLimit) now = SW_SAVINGS_REAL(cuCtxSetLimit);
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites && !sw_confirm_plan.changes.dry; i++) {
		const struct sw_plan_site *site = &sw_confirm_plan.changes.site[i];
		if (site->change != SW_CHANGE_LIMIT || !now)
			continue;
		const CUresult status = now(CU_LIMIT_STACK_SIZE, site->value);
		atomic_store(&set, status == CUDA_SUCCESS);
		if (status != CUDA_SUCCESS)
			sw_result("failed limit %d", (int)status);
	}
}

bool sw_limits_hold(const struct sw_plan_site *site, CUlimit limit, size_t value)
{
	return site->change == SW_CHANGE_LIMIT && atomic_load(&set) && limit == CU_LIMIT_STACK_SIZE &&
	       value <= site->value;
}
