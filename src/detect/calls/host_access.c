/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host touched in its own code, as far as the guard saw it (--guard-host).
 *
 * The guard releases pages later than it could have, never earlier than it may: what it records is an access, not yet
 * a hazard.  Whether the host could know the work to be done is judged here, like all order.
 */
#include "detect/model/handlers.h"

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/model/call.h"
#include "detect/model/model.h"

void sw_on_host_access(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_access *a = (const struct sw_rec_host_access *)(const void *)r->rec;
	enum sw_role role = a->flags & SW_HOST_WRITES ? SW_WRITE : SW_READ;
	struct sw_range range = sw_range_bytes(a->address, a->bytes, role, SW_EV_EXACT);
	if (a->flags & SW_HOST_UNGUARDED) {
		m->j->coverage.unguarded_uses += a->bytes;
		return;
	}
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	m->j->coverage.host_accesses++;
	sw_model_touch(m, &w->what, &range, &(struct sw_touch){.host = true});
}
