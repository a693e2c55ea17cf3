/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of the program about the next launch on a stream. */
#include "detect/kernels/annotated_launches.h"

#include <stdlib.h>

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

/* Ranges that may be declared for one launch, and that no launch has come for. */
#define SW_MAX_SAID 4096u

/* Declarations about a stream's next launch. */
struct sw_annotated_range {
	uint32_t lane, serial;
	struct sw_range range;
};

struct sw_annotated {
	SW_VEC(struct sw_annotated_range) at;
};

/* The ranges that the program declared for the next launch of a stream, none yet. */
struct sw_annotated *sw_annotated_new(void)
{
	return sw_calloc(1, sizeof(struct sw_annotated));
}

void sw_annotated_free(struct sw_annotated *annotated)
{
	free(annotated->at.at);
	free(annotated);
}

void sw_note_range(struct sw_model *m, const struct sw_record *r, const struct sw_rec_annotation *a)
{
	struct sw_hb_at at = sw_model_at(m, r, a->stream);
	uint32_t lane;
	sw_model_lane(m, &at, &lane);
	if (m->annotated->at.n >= SW_MAX_SAID)
		m->annotated->at.n = 0;
	*sw_vec_push(&m->annotated->at) = (struct sw_annotated_range){
		.lane = lane,
		.serial = sw_hb_lane_serial(m->hb, lane),
		.range = sw_range_bytes(a->address, a->bytes, a->op == SW_NOTE_READS ? SW_READ : SW_WRITE, SW_EV_EXACT),
	};
}

bool sw_note_launch(struct sw_model *m, struct sw_wait *w)
{
	uint32_t lane = w->what.point.lane, serial = sw_hb_lane_serial(m->hb, lane);
	size_t kept = 0;
	bool any = false;
	for (size_t i = 0; i < m->annotated->at.n; i++) {
		const struct sw_annotated_range said = m->annotated->at.at[i];
		if (said.lane != lane || said.serial != serial) {
			m->annotated->at.at[kept++] = said;
			continue;
		}
		any = true;
		sw_model_touch(m, &w->what, &said.range, &(struct sw_touch){0});
	}
	m->annotated->at.n = kept;
	return any;
}
