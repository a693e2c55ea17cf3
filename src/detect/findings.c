/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/detect.h"

static const struct sw_finding_info infos[] = {
#define SW_FINDING(name, number, kind, title, text) {number, kind, title, text},
#include "detect/findings.def"
#undef SW_FINDING
};

const struct sw_finding_info *sw_finding_info_at(size_t index)
{
	return index < sizeof infos / sizeof *infos ? &infos[index] : NULL;
}

const struct sw_finding_info *sw_finding_info(int number)
{
	for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
		if (infos[i].number == number)
			return &infos[i];
	return NULL;
}
