/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/both_modes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TELL(name, value) fprintf(out, " " name "=%" PRIu64, (uint64_t)(value))

static void tell_evidence(const struct sw_evidence_detail *d, FILE *out)
{
	if (!d)
		return;
	TELL("source", d->source);
	TELL("via", d->via);
	TELL("extent", d->extent);
	TELL("why", d->why);
	TELL("code_polls", d->polls);
	TELL("place", d->place);
	fprintf(out, " %s %s", d->mnemonic, d->unread ? d->unread : "");
}

static void tell_access(const struct sw_access *a, FILE *out)
{
	fprintf(out, "\n  ");
	TELL("role", a->role);
	TELL("kind", a->kind);
	TELL("seq", a->seq);
	TELL("stack", a->stack);
	TELL("stream", a->stream);
	TELL("function", a->function);
	TELL("param", a->param);
	TELL("lane", a->point.lane);
	TELL("tick", a->point.tick);
	TELL("address", a->address);
	TELL("bytes", a->bytes);
	TELL("width", a->width);
	TELL("pitch", a->pitch);
	TELL("extent_known", a->extent_known);
	TELL("allocation", a->allocation);
	TELL("evidence", a->evidence);
	tell_evidence(a->evidence_detail, out);
}

static void tell_finding(const struct sw_finding *f, FILE *out)
{
	fprintf(out, "SW%d", f->id);
	TELL("severity", f->severity);
	TELL("confidence", f->confidence);
	TELL("basis", f->basis);
	TELL("count", f->count);
	TELL("operations", f->operations);
	TELL("last", f->last_operation);
	TELL("measured", f->measured_order);
	TELL("host_order", f->host_order);
	TELL("fix", f->fix);
	TELL("fix_stream", f->fix_stream);
	TELL("fix_call.seq", f->fix_call.seq);
	TELL("calls", f->cost->calls);
	TELL("waited_calls", f->cost->waited_calls);
	TELL("total_ns", f->cost->total_ns);
	TELL("recoverable_high_ns", f->cost->recoverable_high_ns);
	TELL("needs", sw_finding_details(f)->needs);
	for (uint32_t i = 0; i < sw_finding_details(f)->needs; i++)
		fprintf(out, " %u:%u:%" PRIu64, sw_finding_details(f)->need[i].stream,
			sw_finding_details(f)->need[i].to,
			sw_finding_details(f)->need[i].whole ? 0 : sw_finding_details(f)->need[i].work.seq);
	TELL("fact", f->covered);
	TELL("fingerprint", f->fingerprint);
	TELL("hidden", f->hidden);
	for (uint32_t i = 0; i < f->accesses; i++)
		tell_access(sw_finding_access(f, i), out);
	fprintf(out, "\n");
}

static void tell_coverage(const struct sw_coverage *c, FILE *out)
{
#define SW_COVERAGE(member, key, limit, words, meaning)                                                                \
	if (strcmp(#member, "launches_evaluated") != 0)                                                                \
		TELL(#member, c->member);
#include "detect/coverage.def"
	for (unsigned i = 0; i < 5; i++)
		TELL("by_evidence", c->kernels_by_evidence[i]);
	for (unsigned i = 0; i < SW_BY_SOURCES; i++)
		TELL("by_source", c->kernels_by_source[i]);
	fprintf(out, "\n");
}

void tell_judgement(const struct sw_judgement *j, FILE *out)
{
	for (size_t i = 0; i < j->findings.n; i++)
		tell_finding(&j->findings.at[i], out);
	for (size_t i = 0; i < j->allocations.n; i++) {
		fprintf(out, "allocation");
		TELL("address", j->allocations.at[i].address);
		TELL("number", j->allocations.at[i].number);
		fprintf(out, "\n");
	}
	tell_coverage(&j->coverage, out);
}

static char *told(const struct sw_judgement *judgement)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		abort();
	tell_judgement(judgement, out);
	fclose(out);
	return text;
}

bool same_judgements(const struct sw_judgement *a, const struct sw_judgement *b, const char *what)
{
	char *x = told(a), *y = told(b), *p = x, *q = y;
	bool same = strcmp(x, y) == 0;
	for (unsigned left = 6; !same && left && (*p || *q);) {
		size_t m = strcspn(p, "\n"), n = strcspn(q, "\n");
		if (m != n || strncmp(p, q, m) != 0) {
			printf("%s:\n- %.*s\n+ %.*s\n", what, (int)m, p, (int)n, q);
			left--;
		}
		p += m + (p[m] != 0);
		q += n + (q[n] != 0);
	}
	free(x);
	free(y);
	return same;
}
