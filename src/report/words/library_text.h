/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about calls of cuBLAS, cuFFT and others. */
#ifndef SW_REPORT_WORDS_LIBRARY_TEXT_H
#define SW_REPORT_WORDS_LIBRARY_TEXT_H

#include "report/symbols/names.h"

/* "cuBLAS" */
const char *sw_name_library(enum sw_cuda_library library);
/* "part of cublasSgemm_v2 (cuBLAS handle 2, stream 3)", "" none. */
const char *sw_name_library_call(struct sw_names *names, const struct sw_access *access);
/* Of a hazard in a workspace: "the workspace of cuBLAS handles 1 and 2". */
const char *sw_name_workspace(struct sw_names *names, const struct sw_finding *finding);
/* How the calls of the finding get a workspace each. */
const char *sw_name_workspace_fix(struct sw_names *names, const struct sw_finding *finding);

#endif
