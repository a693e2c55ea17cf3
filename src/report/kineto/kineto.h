/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts what we know of a run into a trace of torch.profiler: our streams with their work, hazards and waits, as a
 * process of its own next to PyTorch's operators.  What is drawn has the times of the profile: of each call, and of the
 * work with its correlation id.  A call that the profile does not hold is not drawn but counted.
 *
 *     sw_kineto_open("torch.json", &kineto, &error);
 *     judge_options.observer = sw_kineto_observer(kineto, reader);
 *     sw_judge(reader, &judge_options, &judgement, &error);
 *     sw_kineto_join(kineto, &error);                 // a profile of another run is refused
 *     sw_kineto_write(kineto, report, file, gzip, &error);
 *     sw_kineto_free(kineto);                         // while the reader still lives
 */
#ifndef SW_REPORT_KINETO_KINETO_H
#define SW_REPORT_KINETO_KINETO_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

struct sw_kineto;

/* 0, -errno, or SW_E_FORMAT with one line: no trace of torch.profiler with calls of CUDA. */
int sw_kineto_open(const char *path, struct sw_kineto **out, struct sw_error *error);
void sw_kineto_free(struct sw_kineto *kineto);

const struct sw_observer *sw_kineto_observer(struct sw_kineto *kineto, const struct sw_reader *reader);

/* 0, or SW_E_FORMAT with one line: the profile and the trace are not of one run. */
int sw_kineto_join(struct sw_kineto *kineto, struct sw_error *error);

/* Copies the profile as it is, with our events at the end of its own.  0, or <0: the file changed meanwhile.  Errors of
   the stream are left for the caller to find (ferror). */
int sw_kineto_write(struct sw_kineto *kineto, struct sw_report *report, FILE *out, bool gzip, struct sw_error *error);

/* "1240 of 1242 calls ...": what was done, once it was written.  Lives as long as the struct. */
const char *sw_kineto_said(const struct sw_kineto *kineto);

#endif
