/* SPDX-License-Identifier: Apache-2.0 */
/* One more run of the program: with a hold, or with the edge of the advice. */
#include "confirm/confirm_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "run/launch.h"

#define OBJECT "libsyncwatch-confirm.so"
/* A refutation must hold against a hold that is so many times as long. */
#define LONGER	 3u
#define TRIES	 3u
#define GRACE_MS 3000

/* With the 8 hardware queues of the default and so many streams none shares one (measured: "8 streams, one held"). More
   queues make every start of the program slower. */
#define OWN_QUEUES 6u

/* The variables for runs with holds: code is loaded at once, and streams have queues of their own.  NULL: none is
   needed. */
const char *const *sw_experiment_environment(const struct sw_experiments *in, bool loads)
{
	static const char *const queues[] = {"CUDA_DEVICE_MAX_CONNECTIONS", "32", NULL};
	static const char *const code[] = {"CUDA_MODULE_LOADING", "EAGER", NULL};
	static const char *const both[] = {"CUDA_MODULE_LOADING", "EAGER", "CUDA_DEVICE_MAX_CONNECTIONS", "32", NULL};
	if (in->streams > OWN_QUEUES)
		return loads ? both : queues;
	return loads ? code : NULL;
}

/* Counts the streams that a run of the program made: trials need as many. */
void sw_experiment_count_streams(struct sw_experiments *in, const char *trace)
{
	struct sw_reader *reader;
	struct sw_record record;
	struct sw_error error;
	if (sw_reader_open(trace, &reader, &error))
		return;
	while (sw_reader_next(reader, &record, &error) > 0)
		in->streams += record.rec->kind == SW_REC_STREAM_CREATE;
	sw_reader_close(reader);
}

/* Makes the folder for the files of the runs, and the log. */
int sw_experiments_begin(struct sw_experiments *experiments, const struct sw_options *options)
{
	const char *base = getenv("TMPDIR");
	experiments->options = options;
	experiments->folder = sw_format("%s/syncwatch-confirm-XXXXXX", base && *base ? base : "/tmp");
	if (options->log && !(experiments->log = fopen(options->log, "we")))
		return sw_complain(SW_EXIT_OUTPUT, "cannot write '%s': %s", options->log, strerror(errno));
	if (!mkdtemp(experiments->folder))
		return sw_complain(SW_EXIT_OUTPUT, "cannot make the folder '%s': %s", experiments->folder,
				   strerror(errno));
	return SW_EXIT_OK;
}

/* Removes the folder, which is empty by now. */
void sw_experiments_end(struct sw_experiments *experiments)
{
	if (experiments->folder)
		rmdir(experiments->folder);
	free(experiments->folder);
	if (experiments->log)
		fclose(experiments->log);
}

/* The path of a file of the current run. */
static char *file_name(const struct sw_experiments *in, const char *what)
{
	return sw_format("%s/%u.%s", in->folder, in->runs, what);
}

#define MOST_VARIABLES 16u

/* Runs the program in this process's place, with the plan in its environment. */
static int launch_here(struct sw_confirm_run *run)
{
	const char *environment[MOST_VARIABLES + 3] = {SW_PLAN_VARIABLE, run->plan};
	for (size_t i = 0; run->environment && run->environment[i] && i < MOST_VARIABLES; i++)
		environment[i + 2] = run->environment[i];
	/* The recorded run has printed the program's output already. */
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const int output = run->output ? open(run->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : null;
	/* Times of the device are those of the run that was recorded: CUPTI takes some of its own. */
	struct sw_options options = *run->in->options;
	options.gpu_timeline = NULL;
	struct sw_launch one = {.options = &options,
				.trace = run->trace,
				.object = OBJECT,
				.environment = environment,
				.dies_with_us = true,
				.output = output > 0 ? output : 0,
				.errors = null > 0 ? null : 0};
	const int status = sw_launch_run(&one);
	run->status = one.program_status;
	return status;
}

/* Makes the process end after the longest time that a run may take.  The program dies with it, also if its parent was
   killed, or if it ignores SIGTERM.  Not by alarm(): that signal is passed on to the program. */
static void end_some_day(const struct sw_confirm_run *run)
{
	struct sigevent by = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	const struct itimerspec when = {.it_value.tv_sec =
						(time_t)(run->in->most_run_ns / 1000000000u) + 3 * GRACE_MS / 1000};
	timer_t timer;
	if (timer_create(CLOCK_MONOTONIC, &by, &timer) == 0)
		timer_settime(timer, 0, &when, NULL);
}

/* In the process that runs the program: runs it and writes its status and that of the launch to `pipe`. */
static void report_launch(struct sw_confirm_run *run, int pipe)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	end_some_day(run);
	int answer[2] = {launch_here(run), 0};
	answer[1] = run->status;
	_exit(write(pipe, answer, sizeof answer) == sizeof answer ? 0 : SW_EXIT_OUTPUT);
}

/* Waits for the answer of the process that runs the program; false: there was none.  A program whose work was reordered
   may never end: it has its time, then it is killed. */
static bool wait_for_answer(struct sw_confirm_run *run, int pipe, pid_t pid, int answer[2])
{
	const uint64_t ms = run->in->most_run_ns / 1000000;
	struct pollfd end = {.fd = pipe, .events = POLLIN};
	if (poll(&end, 1, ms < INT_MAX ? (int)ms : INT_MAX) == 0) {
		run->stopped = true;
		kill(pid, SIGTERM);
		if (poll(&end, 1, GRACE_MS) == 0)
			kill(pid, SIGKILL);
	}
	return read(pipe, answer, 2 * sizeof *answer) == 2 * sizeof *answer;
}

/* Runs the program in a process of its own, since a launch has ended when it has no children left, and we have one that
   looks symbols up.  Ctrl-C reaches the program, which decides; we wait for its end. */
static int launch_child(struct sw_confirm_run *run)
{
	int ends[2], answer[2] = {SW_EXIT_OUTPUT, 0};
	if (pipe2(ends, O_CLOEXEC))
		return sw_complain(SW_EXIT_OUTPUT, "cannot make a pipe: %s", strerror(errno));
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0)
		report_launch(run, ends[1]);
	close(ends[1]);
	const bool has_outcome = pid > 0 && wait_for_answer(run, ends[0], pid, answer);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	if (!has_outcome && run->stopped) {
		run->status = 128 + SIGKILL;
		return SW_EXIT_OK;
	}
	if (!has_outcome)
		return sw_complain(SW_EXIT_OUTPUT, "the program could not be run again");
	run->status = answer[1];
	return answer[0];
}

/* Runs the program with a plan, and waits for its end. */
int sw_confirm_run_begin(struct sw_confirm_run *run, struct sw_experiments *in, struct sw_hold_plan *plan)
{
	struct sw_error error;
	run->in = in;
	in->runs++;
	run->plan = file_name(in, "plan");
	run->result = file_name(in, "result");
	run->trace = file_name(in, "swt");
	if (strlen(run->result) >= sizeof plan->result)
		return sw_complain(SW_EXIT_OUTPUT, "the path '%s' is too long", run->result);
	strcpy(plan->result, run->result);
	if (sw_plan_write(run->plan, plan, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	const uint64_t began = sw_now_ns();
	int status = launch_child(run);
	run->ns = sw_now_ns() - began;
	if (!status)
		run->has_outcome = sw_outcome_read(run->result, &run->outcome);
	return status;
}

/* Does the line say which holds or edges were active, and when? */
static bool is_change(const char *line)
{
	return strncmp(line, "site ", 5) == 0 || strncmp(line, "need ", 5) == 0 || strncmp(line, "guard ", 6) == 0;
}

/* Writes the lines of a file that are wanted into the log. */
static void log_lines(const struct sw_confirm_run *run, const char *path, bool (*wanted)(const char *line))
{
	char line[512];
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (!wanted || wanted(line))
			fprintf(run->in->log, "  %s", line);
	if (file)
		fclose(file);
}

/* Writes the plan and the results of a run into the log. */
static void log_run(const struct sw_confirm_run *run)
{
	FILE *log = run->in->log;
	if (!log)
		return;
	fprintf(log, "run %u: status %d%s, %.3f s\n", run->in->runs, run->status, run->stopped ? ", ended by us" : "",
		(double)run->ns / 1e9);
	log_lines(run, run->plan, is_change);
	log_lines(run, run->result, NULL);
	fflush(log);
}

/* Removes the files of a run. */
void sw_confirm_run_end(struct sw_confirm_run *run, bool keep_trace)
{
	log_run(run);
	char *files[] = {run->plan, run->result, run->trace};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		if (files[i] && !(keep_trace && files[i] == run->trace))
			unlink(files[i]);
		free(files[i]);
	}
	sw_outcome_free(&run->outcome);
}

/* ---- holds ------------------------------------------------------------------------------------------------------- */

/* Runs the program with the earlier side of a hazard held back, and judges what came of it.  nodes: which sides are
   held as nodes of a graph. */
static int run_hold(struct sw_experiments *in, struct sw_trial *trial, uint64_t bound_ns, bool compares, uint32_t nodes)
{
	struct sw_hold_plan plan = {.mode = SW_PLAN_HOLD,
				    .bound_ns = bound_ns,
				    .total_ns = in->most_ns,
				    .earlier = nodes == SW_PLAN_NODE_EARLIER ? trial->node_call : trial->earlier_call,
				    .later = trial->later_call,
				    .later_host = trial->later_host,
				    .captured = trial->captured && !nodes,
				    .nodes = nodes,
				    .later_access = trial->later_access,
				    .offset = trial->offset,
				    .bytes = trial->bytes};
	struct sw_confirm_run run = {.environment = sw_experiment_environment(in, trial->first_use)};
	if (compares || trial->later_access)
		plan.buffer = trial->buffer_call;
	const int status = sw_confirm_run_begin(&run, in, &plan);
	trial->result.runs++;
	if (!status && run.has_outcome)
		sw_outcome_judge(&run.outcome, trial, &trial->result);
	else if (!status)
		trial->result.verdict = SW_VERDICT_NOT_REACHED;
	const bool other = run.stopped || run.status != in->status;
	if (!status && other && trial->result.verdict != SW_VERDICT_PROVEN &&
	    trial->result.verdict != SW_VERDICT_SAME_BYTES && trial->result.verdict != SW_VERDICT_UNORDERED) {
		trial->result.verdict = SW_VERDICT_INCONCLUSIVE;
		trial->result.doubt = run.stopped	? SW_DOUBT_NO_END
				      : trial->captured ? SW_DOUBT_GRAPH_NODES
							: SW_DOUBT_CRASHED;
	}
	sw_confirm_run_end(&run, false);
	return status;
}

/* May the trial fail only because the two came in another order, as threads do from run to run?  An access of the host
   that came first is not seen. */
static bool other_order(const struct sw_trial *trial)
{
	return trial->result.doubt == SW_DOUBT_SWAPPED ||
	       (trial->later_access && trial->result.doubt == SW_DOUBT_NOT_MADE);
}

/* How to try a hazard of a graph's nodes that could not be tried by holding a stream, as flags of the plan; 0: there is
   no other way.  A hold of the stream stops the whole graph, and its nodes in a capture change the program's graph: a
   graph of ours in its place does neither. */
static uint32_t other_way(const struct sw_trial *trial)
{
	if (trial->result.doubt == SW_DOUBT_GRAPH_NODES)
		return SW_PLAN_NODE_EARLIER | SW_PLAN_NODE_LATER;
	return trial->result.doubt == SW_DOUBT_GRAPH_PART && trial->node_call.api ? SW_PLAN_NODE_EARLIER : 0;
}

/* Tries a hazard: holds its earlier side back, in other ways where one does not reach it. */
int sw_experiment_hold(struct sw_experiments *in, struct sw_trial *trial)
{
	if (!trial->earlier_call.api || (!trial->later_call.api && !trial->later_access)) {
		trial->result.verdict = SW_VERDICT_INCONCLUSIVE;
		trial->result.doubt = SW_DOUBT_NO_CALL;
		return SW_EXIT_OK;
	}
	/* A node that the program adds itself: there is no stream to hold. */
	const bool adds = trial->earlier_call.kind == SW_REC_GRAPH || trial->later_call.kind == SW_REC_GRAPH;
	uint32_t nodes = trial->captured && adds ? SW_PLAN_NODE_EARLIER | SW_PLAN_NODE_LATER : 0;
	int status = SW_EXIT_OK;
	bool compares = trial->buffer_call.api && !trial->later_call.legacy && !trial->later_access;
	for (uint32_t i = 0; i < TRIES && !status && (!i || other_order(trial)); i++)
		status = run_hold(in, trial, in->hold_ns, compares, nodes);
	/* Our own copies may be what it, or the host, waits for: the first copy to the host on the legacy stream waits
	   for one on a held stream (measured). */
	const enum sw_doubt why = trial->result.doubt;
	if (!status && compares && (why == SW_DOUBT_BLOCKED_BEFORE || why == SW_DOUBT_NOT_MADE)) {
		compares = false;
		status = run_hold(in, trial, in->hold_ns, compares, nodes);
	}
	if (!status && !nodes && (nodes = other_way(trial)))
		status = run_hold(in, trial, in->hold_ns, false, nodes);
	const bool waited = trial->result.verdict == SW_VERDICT_REFUTED;
	if (!status && waited && in->hold_ns * LONGER <= in->most_ns)
		status = run_hold(in, trial, in->hold_ns * LONGER, compares, nodes);
	return status;
}

/* Runs the program with a plan, and passes each line of the results to o->line. */
int sw_experiment_observe(struct sw_experiments *in, struct sw_hold_plan *plan, struct sw_observation *o)
{
	struct sw_confirm_run run = {.environment = o->environment, .output = o->output};
	char text[512];
	const int status = sw_confirm_run_begin(&run, in, plan);
	FILE *results = status ? NULL : fopen(run.result, "re");
	while (results && fgets(text, sizeof text, results))
		o->line(o->arg, text);
	if (results)
		fclose(results);
	o->program_status = run.status;
	o->stopped = run.stopped;
	o->trace = status || !o->keep_trace ? NULL : sw_strdup(run.trace);
	sw_confirm_run_end(&run, o->trace != NULL);
	return status;
}
