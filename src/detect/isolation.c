/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SW204: a capture stands apart from all other work, and the driver says so by an error; most of them also spoil the
 * capture, so that the error that the author sees is that of cuStreamEndCapture.
 */
#include "detect/model.h"

/* CUDA driver API, CUresult, cudaStreamCapture errors: what each status says for certain. */
static const uint16_t statuses[] = {
	900 /* UNSUPPORTED: not permitted while the stream captures */,
	902 /* MERGE: two captures would become one */,
	903 /* UNMATCHED: ended on another stream than it began on */,
	904 /* UNJOINED: a stream that joined it was not joined back */,
	905 /* ISOLATION: captured work would depend on work outside */,
	906 /* IMPLICIT: the legacy stream would wait for it */,
	907 /* CAPTURED_EVENT: the event belongs to a capture, the call does not */,
};

void sw_isolation_failed(struct sw_model *m, const struct sw_record *r, const struct sw_access *call)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
		if (statuses[i] != r->rec->status)
			continue;
		sw_collect_add(&m->collect,
			       &(struct sw_finding){
				       .id = SW_FINDING_CAPTURE_ISOLATION,
				       .severity = SW_WARNING,
				       .confidence = SW_CERTAIN,
				       .basis = SW_BASIS_DOCUMENTED,
				       .accesses = 1,
				       .access[0] = *call,
				       .detail = r->rec->status,
			       },
			       NULL);
		return;
	}
}
