/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to its database: what `query` and `export --sqlite` share. */
#ifndef SW_TOOLS_QUERY_DATABASE_H
#define SW_TOOLS_QUERY_DATABASE_H

#include "command.h"

#define SW_QUERY_ABSENT                                                                                                \
	"this build has no SQLite: install its development files (libsqlite3-dev), configure and build again"

#ifdef HAVE_SQLITE
#include "query/query.h"

/* Judges the trace and loads what the query asks for. SW_EXIT_OK, or a status after one line; *loaded: there is
   something even so, as far as a damaged trace goes. */
int sw_query_fill(struct sw_query *query, const char *trace, const struct sw_options *options, bool *loaded);

/* The exit status for an error of src/query. */
int sw_query_status(const struct sw_error *error);
#endif

/* Writes --sqlite.  SW_EXIT_OK, or a status after one line. */
int sw_query_export(const char *trace, const struct sw_options *options);

#endif
