/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/events.h"

#include <stdlib.h>

#include "detect/model/model.h"

struct sw_event_table {
	struct sw_map by_handle; /* -> struct sw_event_state */
};

struct sw_event_table *sw_event_table_new(void)
{
	return sw_calloc(1, sizeof(struct sw_event_table));
}

void sw_event_table_free(struct sw_event_table *events)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&events->by_handle, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&events->by_handle);
	free(events);
}

struct sw_event_state *sw_event_find(struct sw_model *m, uint64_t handle)
{
	return sw_map_ptr(&m->events->by_handle, handle);
}

struct sw_event_state *sw_event_of(struct sw_model *m, uint64_t handle)
{
	struct sw_event_state *event = sw_map_ptr(&m->events->by_handle, handle);
	if (!event) {
		event = sw_calloc(1, sizeof *event);
		sw_map_put_ptr(&m->events->by_handle, handle, event);
	}
	return event;
}

void sw_event_forget(struct sw_model *m, uint64_t handle)
{
	free(sw_map_ptr(&m->events->by_handle, handle));
	sw_map_delete(&m->events->by_handle, handle);
}
