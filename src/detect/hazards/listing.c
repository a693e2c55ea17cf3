/* SPDX-License-Identifier: Apache-2.0 */
/* What the nodes of a graph touch is listed instead of judged. */
#include "detect/hazards/listing.h"

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/memory/shadow.h"
#include "detect/model/model.h"

void sw_listing_add(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how, struct sw_shadow_use *use)
{
	struct sw_listed *listed = sw_vec_push(&m->listing->at);
	*listed = (struct sw_listed){
		.node = m->listing->node,
		.what = *what,
		.range = *range,
		.array = how->array,
		.guess = how->guess,
		.handle = how->handle,
		.use = use,
	};
	listed->range.perhaps = m->listing->perhaps;
	if (use)
		use->range.perhaps = m->listing->perhaps;
}
