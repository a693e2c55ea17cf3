/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/spread.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

#define LOOK_NS 5000000

/* A name that the processes of this start have in common, and no other start has. */
static char *job_name(void)
{
	const char *pmix = getenv("PMIX_NAMESPACE"), *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	char *name = pmix ? sw_strdup(pmix) : job && step ? sw_format("%s.%s", job, step) : NULL;
	for (char *c = name; c && *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '.')
			*c = '_';
	return name;
}

/* Finds which of the processes of a job this one is; the folder is the one through which they pass results on. */
int sw_spread_begin(struct sw_spread *spread, const char *folder)
{
	*spread = (struct sw_spread){.folder = folder};
	if (!sw_rank_own(&spread->own) || !spread->own.size)
		return sw_complain_usage(
			"'--spread' is for processes that mpirun or srun starts: no variable says which "
			"of how many this one is (--share I/N does)");
	spread->job = job_name();
	if (!spread->job && spread->own.size > 1)
		return sw_complain_usage("'--spread' needs PMIX_NAMESPACE, or SLURM_JOB_ID and SLURM_STEP_ID, so that "
					 "files of another start are not taken for those of this one");
	if (access(folder, W_OK | X_OK))
		return sw_complain(SW_EXIT_OUTPUT, "%s: %s", folder, strerror(errno));
	return SW_EXIT_OK;
}

/* The path of the result that a rank passes on. */
static char *part_name(const struct sw_spread *spread, uint32_t rank)
{
	return sw_format("%s/syncwatch-merge-%s-%u.json", spread->folder, spread->job, rank);
}

/* Waits until another process has written its part, and opens it.  One that dies ends the whole start: mpirun sees to
   that, srun with --kill-on-bad-exit; --max-time in any case. */
static FILE *wait_for(const char *path)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	FILE *file;
	while (!(file = fopen(path, "re")) && errno == ENOENT)
		nanosleep(&look, NULL);
	return file;
}

/* Waits for the result of a rank, merges it and removes its file. */
static int take_rank(const struct sw_spread *spread, struct sw_merged *merged, uint32_t rank)
{
	struct sw_error error;
	char *path = part_name(spread, rank);
	FILE *file = wait_for(path);
	int status = SW_EXIT_OK;
	if (!file || sw_merged_read(merged, file, path, &error))
		status = sw_complain(SW_EXIT_INPUT, "%s", file ? error.text : strerror(errno));
	if (file)
		fclose(file);
	unlink(path);
	free(path);
	return status;
}

/* Writes this process's result for the one that takes it. */
static int hand_on(const struct sw_spread *spread, struct sw_merged *merged)
{
	struct sw_output output;
	struct sw_error error;
	char *path = part_name(spread, spread->own.rank);
	int status = SW_EXIT_OK;
	sw_merged_finish(merged);
	if (sw_output_open(&output, path, &error))
		status = sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	else {
		sw_merged_json(merged, output.file);
		if (sw_output_close(&output, &error))
			status = sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	}
	free(path);
	return status;
}

/* Merges the results of all processes as a tree: at each step half of those left pass theirs on.  *report: this one has
   all. */
int sw_spread_gather(const struct sw_spread *spread, struct sw_merged *merged, bool *report)
{
	const uint64_t rank = spread->own.rank, size = spread->own.size;
	*report = rank == 0;
	for (uint64_t step = 1; step < size; step *= 2) {
		if (rank % (2 * step))
			return hand_on(spread, merged);
		const int status = rank + step < size ? take_rank(spread, merged, (uint32_t)(rank + step)) : SW_EXIT_OK;
		if (status)
			return status;
	}
	return SW_EXIT_OK;
}

/* Frees the name of the job. */
void sw_spread_end(struct sw_spread *spread)
{
	free(spread->job);
}
