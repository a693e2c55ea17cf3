/* SPDX-License-Identifier: Apache-2.0 */
/* Are two judgements of one trace the same, but for launches_evaluated? */
#ifndef TESTS_DETECT_BOTH_MODES_H
#define TESTS_DETECT_BOTH_MODES_H

#include <stdio.h>

#include "detect/detect.h"

/* All that judging a trace found, as lines of text. */
void tell_judgement(const struct sw_judgement *judgement, FILE *out);
/* Prints where they differ first; `what` names the trace. */
bool same_judgements(const struct sw_judgement *a, const struct sw_judgement *b, const char *what);

#endif
