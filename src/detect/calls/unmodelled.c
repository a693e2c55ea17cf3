/* SPDX-License-Identifier: Apache-2.0 */
/* What is not known: calls that are not modelled. */
#include "detect/model/handlers.h"

#include "detect/hazards/uploads.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/contexts.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

void sw_on_unclassified(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	struct sw_finding seen = {.id = SW_FINDING_UNCLASSIFIED_CALL,
				  .severity = SW_WARNING,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = &w->what};
	m->j->coverage.unclassified_calls++;
	if (!m->context[r->rec->ctx].unclassified)
		m->context[r->rec->ctx].unclassified = r->seq;
	sw_wide_poison(m);
	sw_uploads_forget(m);
	sw_collect_add(&m->collect, &seen, NULL);
}
