/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened when: a judgement as it passes by, drawn as a Chrome trace (Perfetto, Chromium and HTA read it) or
 * as a graph for Graphviz.  Both watch sw_judge():
 *
 *     struct sw_chrome *chrome = sw_chrome_new(file, reader, &options);
 *     judge_options.observer = sw_chrome_observer(chrome);
 *     sw_judge(reader, &judge_options, &judgement, &error);
 *     sw_chrome_finish(chrome);      // while reader and judgement still live
 *     if (ferror(file)) ...
 *
 * The file is the caller's: opened under a temporary name, renamed when all is written.  Not thread-safe.
 */
#ifndef SW_REPORT_TIMELINE_TIMELINE_H
#define SW_REPORT_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "detect/detect.h"

/* One of several traces in a file: events only, JSON, separated by commas; what stands around them is the caller's. */
struct sw_chrome_part {
	const char *who;   /* before the names of processes */
	uint32_t pid_base; /* added to process numbers, which are below 1000 */
	uint64_t shift_ns; /* added to times */
	/* Carried on from one part to the next: are there events before, and how many arrows? */
	bool any;
	uint64_t flows;
};

struct sw_chrome_options {
	uint64_t from_ns, to_ns; /* only what touches this time since the start of the trace; to_ns 0: to the end */
	/* Only what lies within around_ns of an access of a hazard of this judgement, made in an earlier pass; NULL:
	   all. */
	const struct sw_judgement *around;
	uint64_t around_ns;
	const bool *meant;	     /* of each finding of it: is it meant, hazard or not?  NULL: all hazards are */
	bool perfetto;		     /* the same in Perfetto's own format, whose tracks have no limits of numbers */
	struct sw_chrome_part *part; /* NULL: the trace is the whole file */
	bool gzip;		     /* for a name that ends in .gz; plain when sw_chrome_can_gzip() is false */
};

struct sw_chrome *sw_chrome_new(FILE *out, struct sw_reader *reader, const struct sw_chrome_options *options);
const struct sw_observer *sw_chrome_observer(struct sw_chrome *chrome);
/* Writes the rest and frees; the judgement must still live. */
void sw_chrome_finish(struct sw_chrome *chrome);
bool sw_chrome_can_gzip(void);

/* ---- happens-before graph --------------------------------------------------------------------------------------- */

struct sw_dot_options {
	/* A finding to draw around, as judged in an earlier pass, or NULL for the whole run (its first max_nodes
	   operations). */
	const struct sw_finding *around;
	uint32_t max_nodes; /* 0: 400 */
};

struct sw_dot *sw_dot_new(FILE *out, struct sw_reader *reader, const struct sw_dot_options *options);
const struct sw_observer *sw_dot_observer(struct sw_dot *dot);
void sw_dot_finish(struct sw_dot *dot);

#endif
