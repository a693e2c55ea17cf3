/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch run: runs a program with the recorder preloaded and judges what it did. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis.h"
#include "child.h"
#include "draw.h"
#include "elf_probe.h"
#include "install.h"
#include "terminal.h"
#include "traces.h"

struct run {
	const struct sw_options *options;
	char *preload;	  /* to preload: one object, or several with colons between them */
	char *nvtx;	  /* what NVTX loads, NULL: not installed */
	char *simulation; /* folder, NULL: the real CUDA */
	char *folder;	  /* where we were started: the program may go elsewhere */
};

/* ---- before ------------------------------------------------------------------------------------------------------ */

/* NAME=value, with what the variable held before behind it. */
static void prepend(const char *name, const char *value)
{
	const char *old = getenv(name);
	char *both = old && *old ? sw_format("%s:%s", value, old) : sw_strdup(value);
	setenv(name, both, 1);
	free(both);
}

/* The name of the program's file without anything that a shell would mind. */
static char *plain_name(const char *program)
{
	const char *slash = strrchr(program, '/');
	char *name = sw_strdup(slash ? slash + 1 : program);
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
			*p = '_';
	return name;
}

/* The path of the trace, absolute.  The default is like the recorder's own: syncwatch-PROGRAM-PID.swt. */
static char *trace_path(const struct run *run, pid_t pid)
{
	const char *path = run->options->trace;
	if (path && path[0] == '/')
		return sw_strdup(path);
	if (path)
		return sw_format("%s/%s", run->folder, path);
	char *name = plain_name(run->options->operands[0]);
	char *full = sw_format("%s/syncwatch-%s-%d.swt", run->folder, name, (int)pid);
	free(name);
	return full;
}

/* "a:b" -> "a\:b": colons separate the options of SYNCWATCH_OPTIONS. */
static char *escape(const char *path)
{
	char *out = sw_alloc(2 * strlen(path) + 1), *p = out;
	for (; *path; *p++ = *path++)
		if (*path == ':' || *path == '\\')
			*p++ = '\\';
	*p = 0;
	return out;
}

static void prepare(void *arg, pid_t pid)
{
	const struct run *run = arg;
	const char *old = getenv("SYNCWATCH_OPTIONS");
	char *path = trace_path(run, pid), *escaped = escape(path);
	/* Ours behind the user's: the last one counts. */
	const char *gpu = run->options->gpu_timeline;
	char *options = sw_format("%s%squiet=1:report=0:%s%s%strace=%s", old ? old : "", old && *old ? ":" : "",
				  gpu ? "gpu-timeline=" : "",
				  gpu && *gpu ? gpu
				  : gpu	      ? "1"
					      : "",
				  gpu ? ":" : "", escaped);
	setenv("SYNCWATCH_OPTIONS", options, 1);
	prepend("LD_PRELOAD", run->preload);
	/* Whoever has set it wants another tool to hear what the program says. */
	if (run->nvtx)
		setenv("NVTX_INJECTION64_PATH", run->nvtx, 0);
	if (run->simulation)
		prepend("LD_LIBRARY_PATH", run->simulation);
	free(options);
	free(escaped);
	free(path);
}

/* The trace's folder must be there before the program runs for hours. */
static int check_folder(const struct run *run)
{
	char *path = trace_path(run, 0);
	char *slash = strrchr(path, '/');
	slash[slash == path] = 0;
	int rc = access(path, W_OK | X_OK) ? errno : 0;
	if (rc)
		sw_complain(0, "cannot write a trace to '%s': %s", path, strerror(rc));
	free(path);
	return rc ? SW_EXIT_OUTPUT : SW_EXIT_OK;
}

static int find_simulation(struct run *run)
{
	struct sw_error error;
	char *program = sw_elf_find_program(run->options->operands[0]);
	bool fixed = program && sw_elf_static_cudart(program);
	free(program);
	if (fixed)
		return sw_complain(
			SW_EXIT_INPUT,
			"'%s' has the CUDA runtime inside (nvcc's default), which cannot be simulated: link it "
			"with 'nvcc -cudart shared'",
			run->options->operands[0]);
	run->simulation = sw_install_find("sim/libcuda.so.1", &error);
	if (!run->simulation)
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	*strrchr(run->simulation, '/') = 0;
	return SW_EXIT_OK;
}

/* An object that stands behind the recorder: LD_PRELOAD is a list. */
static int add_companion(struct run *run, const char *name)
{
	struct sw_error error;
	char *path = sw_install_find(name, &error);
	if (!path)
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	char *both = sw_format("%s:%s", run->preload, path);
	free(run->preload);
	free(path);
	run->preload = both;
	return SW_EXIT_OK;
}

static int set_up(struct run *run)
{
	struct sw_error error;
	if (run->options->n_operands == 0)
		return sw_complain_usage("which program?");
	const char *gpu = run->options->gpu_timeline;
	if (gpu && *gpu && strcmp(gpu, "nodes"))
		return sw_complain_usage("'--gpu-timeline' takes '=nodes' or nothing");
	run->folder = getcwd(NULL, 0);
	if (!run->folder)
		return sw_complain(SW_EXIT_OUTPUT, "cannot find the current directory: %s", strerror(errno));
	int status = sw_analysis_check(run->options);
	if (!status)
		status = check_folder(run);
	if (status)
		return status;
	run->preload = sw_install_find("libsyncwatch.so", &error);
	if (!run->preload)
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	run->nvtx = sw_install_find("libsyncwatch-nvtx.so", &error); /* without it, names and ranges are missing */
	status = run->options->guard_host ? add_companion(run, "libsyncwatch-guard.so") : SW_EXIT_OK;
	if (status)
		return status;
	status = run->options->strict_host ? add_companion(run, "libsyncwatch-host.so") : SW_EXIT_OK;
	if (status)
		return status;
	return run->options->sim ? find_simulation(run) : SW_EXIT_OK;
}

/* ---- after ------------------------------------------------------------------------------------------------------- */

/* Of the program itself; a program that execs another leaves several, the last is the one that did the work. */
static const struct sw_made_trace *main_trace(const struct sw_made_traces *traces, pid_t pid)
{
	const struct sw_made_trace *best = NULL;
	for (size_t i = 0; i < traces->at.n; i++)
		if (traces->at.at[i].pid == (uint32_t)pid)
			best = &traces->at.at[i];
	return best ? best : traces->at.n ? &traces->at.at[0] : NULL;
}

static void list_others(const struct sw_made_traces *traces, const struct sw_made_trace *judged)
{
	if (traces->at.n < 2)
		return;
	fprintf(stderr, "syncwatch: other processes left traces of their own:\n");
	for (size_t i = 0; i < traces->at.n; i++)
		if (&traces->at.at[i] != judged)
			fprintf(stderr, "  syncwatch report %s    (process %u)\n", traces->at.at[i].path,
				traces->at.at[i].pid);
}

/* Prints the report; *errors is how many findings are errors.  SW_EXIT_OK or what went wrong. */
static int judge(const struct run *run, const char *trace, uint32_t *errors)
{
	struct sw_analysis analysis;
	int status = sw_analysis_make(&analysis, trace, run->options, run->options->all);
	if (analysis.report) {
		*errors = analysis.report->totals.errors;
		sw_report_text(analysis.report, stderr, sw_terminal_colour(STDERR_FILENO));
		fprintf(stderr, "  %-14s%s\n", "trace:", trace);
	}
	if (!status)
		status = sw_draw(trace, run->options, analysis.judgement);
	sw_analysis_free(&analysis);
	return status;
}

static int finish(const struct run *run, pid_t pid, int program_status, uint64_t since_ns)
{
	struct sw_made_traces traces;
	char *path = trace_path(run, pid);
	uint32_t errors = 0;
	sw_traces_find(&traces, path, since_ns);
	const struct sw_made_trace *trace = main_trace(&traces, pid);
	if (trace) {
		judge(run, trace->path, &errors);
		list_others(&traces, trace);
	} else {
		fprintf(stderr, "syncwatch: no CUDA call was seen, so there is nothing to judge\n");
	}
	sw_traces_free(&traces);
	free(path);
	return errors && run->options->error_exitcode ? run->options->error_exitcode : program_status;
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int run_program(struct run *run)
{
	struct sw_child child = {run->options->operands, prepare, run};
	struct sw_error error;
	uint64_t since_ns = now_ns();
	pid_t pid;
	int status;
	int rc = sw_child_run(&child, &pid, &status, &error);
	if (rc)
		return sw_complain(rc == -ENOENT ? SW_EXIT_NOT_FOUND : SW_EXIT_NOT_EXECUTABLE, "%s", error.text);
	if (WIFSIGNALED(status))
		fprintf(stderr, "syncwatch: the program was ended by signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return finish(run, pid, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), since_ns);
}

int sw_cmd_run(const struct sw_options *options)
{
	struct run run = {.options = options};
	int status = set_up(&run);
	if (!status)
		status = run_program(&run);
	free(run.preload);
	free(run.nvtx);
	free(run.simulation);
	free(run.folder);
	return status;
}
