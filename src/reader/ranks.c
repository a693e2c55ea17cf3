/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/ranks.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RANK 100000000u

static const struct launcher {
	const char *rank, *size, *job;
} launchers[] = {
#define SW_RANK_ROW(rank, size, job) {rank, size, job},
#define SW_RANK_OTHER(name)
#include "base/ranks.def"
#undef SW_RANK_ROW
#undef SW_RANK_OTHER
};

/* Value of a variable of the program's environment, as recorded; NULL: it was not set. */
static const char *recorded_variable(const struct sw_trace_environment *environment, const char *name)
{
	const size_t n = strlen(name);
	for (uint32_t i = 0; n && i < environment->variables; i++)
		if (strncmp(environment->variable[i], name, n) == 0 && environment->variable[i][n] == '=')
			return environment->variable[i] + n + 1;
	return NULL;
}

/* Value of an environment variable in the trace, or (environment NULL) of this process; NULL: not set. */
static const char *value_of(const struct sw_trace_environment *environment, const char *name)
{
	return environment ? recorded_variable(environment, name) : *name ? getenv(name) : NULL;
}

/* Reads a whole number that a rank can be.  False: a program that runs with "RANK=high" uses the variable for something
   else. */
static bool read_number(const char *text, uint32_t *out)
{
	uint32_t value = 0;
	if (!text || !*text)
		return false;
	for (; *text >= '0' && *text <= '9' && value < MAX_RANK; text++)
		value = value * 10 + (uint32_t)(*text - '0');
	if (*text)
		return false;
	*out = value;
	return true;
}

/* Finds the rank by the variables of a known launcher (mpirun, torchrun ...), those of the trace or (environment NULL)
   our own.  False: none of them is set. */
static bool find_launcher(const struct sw_trace_environment *environment, struct sw_rank *out)
{
	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
		const struct launcher *l = &launchers[i];
		struct sw_rank rank = {.source = l->rank, .job = value_of(environment, l->job)};
		if (!read_number(value_of(environment, l->rank), &rank.rank))
			continue;
		if (!read_number(value_of(environment, l->size), &rank.size) || rank.rank >= rank.size)
			rank.size = 0;
		read_number(value_of(environment, "TORCHELASTIC_RESTART_COUNT"), &rank.restart);
		if (!rank.job)
			rank.job = "";
		*out = rank;
		return true;
	}
	return false;
}

bool sw_rank_of(const struct sw_trace_environment *environment, struct sw_rank *out)
{
	return environment && find_launcher(environment, out);
}

bool sw_rank_own(struct sw_rank *out)
{
	return find_launcher(NULL, out);
}
