/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/asked_order.h"

#include "detect/model/call.h"
#include "detect/model/model.h"

void sw_asked_order_take(struct sw_model *m, const struct sw_wait *w)
{
	struct sw_asked_order *asked = m->options->asked;
	if (!asked || !w->enqueues)
		return;
	if (w->what.seq == asked->earlier) {
		asked->point = w->what.point;
	} else if (w->what.seq == asked->later && asked->point.tick) {
		asked->known = true;
		asked->order = sw_hb_ordered(m->hb, asked->point, w->what.point.lane);
	}
}
