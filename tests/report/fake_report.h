/* SPDX-License-Identifier: Apache-2.0 */
/* A judgement made by hand and its report: what the tests of texts, groups and formats have in common. */
#ifndef SW_TESTS_FAKE_REPORT_H
#define SW_TESTS_FAKE_REPORT_H

#include "fake_trace.h"
#include "report/report.h"

extern struct sw_judgement judgement;
extern struct sw_report *report; /* of make() */

/* A judgement of a run of 12 ms without findings, allocations and streams. */
void setup_empty(void);
/* Streams 1 to n. */
void add_streams(enum sw_lane_kind kind, uint32_t n);
/* Five streams of all kinds, two allocations, 40 launches. */
void setup_report(void);
/* Frees judgement and report. */
void teardown_report(void);

/* Device memory of 16 KiB from 0x7f0000000000 on, allocated at race.cu:40. */
struct sw_allocation fake_allocation(void);
/* A kernel that touches 4 KiB of the first allocation, by its signature. */
struct sw_access launch(enum sw_role role, uint32_t function, uint32_t stream, uint32_t stack, uint64_t seq);
struct sw_access call(enum sw_role role, enum sw_rec_kind kind, uint16_t api, uint32_t stream, uint32_t stack);

/* A finding of one call.  The pointer is valid until the next is added, for all of these. */
struct sw_finding *add(int id, enum sw_severity severity, enum sw_confidence confidence);
/* Two accesses that an event would order. */
struct sw_finding *add_hazard(int id, enum sw_severity severity, struct sw_access earlier, struct sw_access later);
/* fill writes, `function` reads: an error or a warning. */
struct sw_finding *add_race(enum sw_severity severity, uint32_t function);
/* Four copies that waited for 12.3 ms. */
struct sw_finding *add_wait(struct sw_access first);

/* A side of a finding, to be changed; set by this if it has none. */
struct sw_access *side_of(struct sw_finding *finding, int side);

/* Makes `report`; NULL: no options. */
struct sw_report *make(const struct sw_report_options *options);
/* The text of `report`, malloc'ed. */
char *styled_text(const struct sw_text_style *style);
char *text_of(bool colour);
char *json_of(void);

#endif
