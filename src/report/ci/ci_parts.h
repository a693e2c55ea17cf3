/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the formats for builds share. */
#ifndef SW_REPORT_CI_CI_PARTS_H
#define SW_REPORT_CI_CI_PARTS_H

#include "base/map.h"
#include "report/ci/ci.h"
#include "report/groups.h"
#include "report/json/json_out.h"

enum { SW_CI_RULES = 64 }; /* more than there are findings */

struct sw_ci {
	FILE *out;
	enum sw_ci_format format;
	const char *version, *root;
	struct sw_json json;
	struct sw_json aside; /* SARIF: invocations, which come after the results */
	char *aside_text;
	size_t aside_bytes;
	const struct sw_finding_info *rule[SW_CI_RULES]; /* SARIF: of the results so far, each once */
	size_t rules;
	struct sw_map written;		  /* fingerprints: a result that several processes share is written once */
	uint64_t annotated[SW_ERROR + 1]; /* GitHub: causes of each severity */
};

/* One result: what is said of a group, whatever the format. */
struct sw_ci_result {
	const struct sw_group *group;
	const struct sw_shown_finding *leader;
	struct sw_wording words;     /* of the leader */
	const struct sw_frame *site; /* NULL unknown */
	const char *path;	     /* of its file, relative to the root where it lies there; "" unknown */
	int line;		     /* 0 unknown */
	const char *text;	     /* the sentence, the others of the group, the fix */
	struct sw_group_fix fix;
};

/* Is the group reported?  Fills *out then. */
bool sw_ci_result(struct sw_ci *ci, struct sw_report *report, size_t group, struct sw_ci_result *out);

/* Was no result with its fingerprint written before? */
bool sw_ci_first(struct sw_ci *ci, const struct sw_ci_result *result);

/* A path as it is reported: without "." and "..", relative to the root where it lies there. */
const char *sw_ci_path(struct sw_ci *ci, struct sw_report *report, const char *file);
/* The program's file name. */
const char *sw_ci_program(const struct sw_report *report);

/* How a format is written; formats.def has a row for each. */
struct sw_ci_writer {
	void (*begin)(struct sw_ci *ci); /* NULL: nothing comes before the first report */
	void (*add)(struct sw_ci *ci, struct sw_report *report);
	void (*extra)(struct sw_ci *ci, const struct sw_ci_extra *extra);
	void (*end)(struct sw_ci *ci);
};
#define SW_CI_FORMAT(name, option, golden) extern const struct sw_ci_writer sw_ci_##option;
#include "report/ci/formats.def"

/* A gap of the report of a trace, for formats that have no place of their own for it. */
struct sw_ci_extra sw_ci_gap(struct sw_report *report, size_t index);

#endif
