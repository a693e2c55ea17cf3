/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an access and the evidence for them, in words.  Strings live as long as the names; none is NULL. */
#ifndef SW_REPORT_WORDS_EVIDENCE_TEXT_H
#define SW_REPORT_WORDS_EVIDENCE_TEXT_H

#include "report/symbols/names.h"

/* "bytes 0 to 4095 of allocation 1, 4 of every 16"; "somewhere from byte 0 of allocation 1 on: the index is loaded from
   memory".  Of accesses that are ranged. */
const char *sw_evidence_extent(struct sw_names *names, const struct sw_access *access);

/* The bytes that both sides of a hazard touch: "bytes 65536-65539 of allocation 3 (one float)"; "" not known. */
const char *sw_evidence_overlap(struct sw_names *names, const struct sw_finding *finding);

/* "PTX sm_90 (st.global via parameter 3)", "const pointer in signature (parameter 0)", "assumed read+write (no code
   image, parameter 0)".  Of accesses that are ranged. */
const char *sw_evidence_source(struct sw_names *names, const struct sw_access *access);
/* "its ld.global via parameter 1 (line 34 of its PTX)" */
const char *sw_evidence_instruction(struct sw_names *names, const struct sw_access *access);

/* "380 PTX, 20 signature, 12 assumed; every extent is known of 350"; "" without launches. */
const char *sw_evidence_coverage(struct sw_names *names, const struct sw_coverage *coverage);

/* The vocabulary of JSON. */
const char *sw_name_source(enum sw_evidence_source_kind source); /* "ptx", "sass", "other_code", "signature", "assumed",
								    "nothing", "annotation" */
const char *sw_name_via(enum sw_via via); /* "parameter", "variable", "texture", "surface", "tensor map", "memory" */
const char *sw_name_extent(enum sw_extent extent); /* "box", "hull", "open" */

/* A stream as the program's author writes it in a call. */

/*
 * "0", "cudaStreamPerThread", "stream2"; in PyTorch "torch.cuda.default_stream()", in CuPy "cupy.cuda.Stream.null", or
 * the variable that the program's source gives the stream, where it can be used at `place` (NULL: nowhere).
 */
const char *sw_stream_text(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place);

/* Does the program use PyTorch? */
bool sw_names_torch(const struct sw_names *names);

/* Was the call made by CuPy?  Its streams are no streams of PyTorch. */
bool sw_call_of_cupy(const struct sw_names *names, const struct sw_access *access);

#endif
