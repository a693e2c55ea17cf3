/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in the table of findings. */
#include "detect/detect.h"

static const struct sw_finding_info infos[] = {
#define SW_FINDING(name, number, family, severity, facts, kind, title, text)                                           \
	{number, SW_FAMILY_##family, SW_SEVERITY_##severity, SW_FACTS_##facts, kind, title, text},
#include "detect/findings.def"
};

/* The rows of the table in order; NULL ends. */
const struct sw_finding_info *sw_finding_info_at(size_t index)
{
	return index < sizeof infos / sizeof *infos ? &infos[index] : NULL;
}

/* The table's row of a finding by its number (102 for SW102); NULL: unknown. */
const struct sw_finding_info *sw_finding_info(int number)
{
	for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
		if (infos[i].number == number)
			return &infos[i];
	return NULL;
}

const struct sw_cost sw_no_cost;
const struct sw_access sw_no_access;

const struct sw_finding_details *sw_finding_details(const struct sw_finding *finding)
{
	static const struct sw_finding_details nothing;
	return finding->more ? finding->more : &nothing;
}

bool sw_finding_is(int number, enum sw_finding_family family)
{
	const struct sw_finding_info *info = sw_finding_info(number);
	return info && info->family == family;
}

bool sw_finding_is_wait(int number)
{
	return sw_finding_is(number, SW_FAMILY_WAIT) || sw_finding_is(number, SW_FAMILY_NEEDLESS);
}
