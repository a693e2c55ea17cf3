/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of chrome_events.h as a Perfetto trace: a file of TracePackets (protos/perfetto/trace in Perfetto's
 * sources), whole nanoseconds, one track a process or thread of the other format.  chrome_events.c calls these.
 */
#ifndef SW_REPORT_TIMELINE_PERFETTO_H
#define SW_REPORT_TIMELINE_PERFETTO_H

#include "report/timeline/chrome_events.h"

void sw_perfetto_begin(struct sw_events *events);
void sw_perfetto_name(struct sw_events *events, uint32_t pid, uint32_t tid, struct sw_label name);
void sw_perfetto_slice(struct sw_events *events, struct sw_place at, uint64_t end_ns, struct sw_label name,
		       const char *category);
void sw_perfetto_counter(struct sw_events *events, uint32_t pid, uint64_t ns, const char *name, uint64_t value);
void sw_perfetto_flow(struct sw_events *events, struct sw_place from, struct sw_place to, const char *name,
		      const char *category);
void sw_perfetto_number(struct sw_events *events, const char *key, uint64_t number);
void sw_perfetto_text(struct sw_events *events, const char *key, const char *plain);
void sw_perfetto_label(struct sw_events *events, const char *key, struct sw_label label);
void sw_perfetto_end(struct sw_events *events);
void sw_perfetto_free(struct sw_events *events);

#endif
