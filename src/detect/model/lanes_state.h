/* SPDX-License-Identifier: Apache-2.0 */
/* Private to lanes.c and captures.c. */
#ifndef SW_DETECT_MODEL_LANES_STATE_H
#define SW_DETECT_MODEL_LANES_STATE_H

#include "base/map.h"
#include "detect/model/lanes.h"

struct sw_lanes {
	SW_VEC(struct sw_lane_state) at;
	size_t capturing;	      /* lanes that are part of a capture */
	struct sw_map shared_streams; /* descriptions that several lanes share -> index in judgement.streams */
	uint32_t streams_made;
};

#endif
