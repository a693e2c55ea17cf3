/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch run: runs a program with the recorder preloaded and judges what it did. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analysis.h"
#include "base/name_pattern.h"
#include "budget.h"
#include "crash.h"
#include "elf_probe.h"
#include "install.h"
#include "run/channel.h"
#include "run/child.h"
#include "run/judged.h"
#include "run/session.h"

/* How long processes that made a trace may outlive the program before they are judged as they stand. */
#define OUTLIVE_MS 10000

struct run {
	const struct sw_options *options;
	char *preload;	  /* to preload: one object, or several with colons between them */
	char *nvtx;	  /* what NVTX loads, NULL: not installed */
	char *simulation; /* folder, NULL: the real CUDA */
	char *folder;	  /* where we were started: the program may go elsewhere */
	struct sw_channel channel;
	struct sw_session session;
	struct rlimit descriptors; /* of the program; ours are raised, as we hold one for each trace */
};

/* ---- before ------------------------------------------------------------------------------------------------------ */

/* NAME=value, with what the variable held before after it. */
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

/* A copy with each `what` after a `before`. */
static char *escape(const char *path, const char *what, char before)
{
	char *out = sw_alloc(2 * strlen(path) + 1), *p = out;
	for (; *path; *p++ = *path++)
		if (strchr(what, *path))
			*p++ = before;
	*p = 0;
	return out;
}

/* The path of the trace, absolute; the recorder expands what the user wrote (base/name_pattern.h) in each process.  The
   default is like the recorder's own: syncwatch-PROGRAM-PID.swt. */
static char *trace_path(const struct run *run, pid_t pid)
{
	const char *path = run->options->trace;
	/* Of a name for the packed trace, the name that packing adds to. */
	const bool packed = path && run->options->pack && fnmatch("*?.zst", path, 0) == 0;
	const int bytes = path ? (int)(strlen(path) - (packed ? strlen(".zst") : 0)) : 0;
	if (path && path[0] == '/')
		return sw_strndup(path, (size_t)bytes);
	char *folder = escape(run->folder, "%", '%'), *name = plain_name(run->options->operands[0]);
	char *full = path ? sw_format("%s/%.*s", folder, bytes, path)
			  : sw_format("%s/syncwatch-%s-%d.swt", folder, name, (int)pid);
	free(folder);
	free(name);
	return full;
}

static void prepare(void *arg, pid_t pid)
{
	const struct run *run = arg;
	const char *old = getenv("SYNCWATCH_OPTIONS");
	/* Colons separate the options of SYNCWATCH_OPTIONS. */
	char *path = trace_path(run, pid), *escaped = escape(path, ":\\", '\\');
	/* Ours after the user's: the last one counts. */
	const char *gpu = run->options->gpu_timeline;
	char *options = sw_format("%s%squiet=1:report=0:%s%s%strace=%s", old ? old : "", old && *old ? ":" : "",
				  gpu ? "gpu-timeline=" : "",
				  gpu && *gpu ? gpu
				  : gpu	      ? "1"
					      : "",
				  gpu ? ":" : "", escaped);
	setenv("SYNCWATCH_OPTIONS", options, 1);
	prepend("LD_PRELOAD", run->preload);
	/* gcc's AddressSanitizer refuses to run when other objects come first; we define nothing that it wraps. */
	prepend("ASAN_OPTIONS", "verify_asan_link_order=0");
	setenv(SW_ANNOUNCE_VARIABLE, run->channel.variable, 1);
	setrlimit(RLIMIT_NOFILE, &run->descriptors);
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
	char *pattern = trace_path(run, 0), path[PATH_MAX];
	const int long_name = sw_name_expand(path, sizeof path, pattern);
	char *slash = long_name ? NULL : strrchr(path, '/');
	free(pattern);
	if (!slash)
		return sw_complain(SW_EXIT_OUTPUT, "the name of the trace is too long");
	slash[slash == path] = 0;
	if (access(path, W_OK | X_OK))
		return sw_complain(SW_EXIT_OUTPUT, "cannot write a trace to '%s': %s", path, strerror(errno));
	return SW_EXIT_OK;
}

/* LD_PRELOAD and LD_LIBRARY_PATH are lists, and the loader expands $ORIGIN and its like: an installation in a folder
   whose name it would take apart is named by a link in our private folder. */
static char *loadable(struct run *run, char *path)
{
	char *slash = strrchr(path, '/');
	if (!path[strcspn(path, " :;$\t\n")])
		return path;
	*slash = 0;
	char *link = sw_channel_link(&run->channel, path);
	*slash = '/';
	char *other = link ? sw_format("%s%s", link, slash) : NULL;
	free(link);
	if (other && access(other, R_OK)) {
		free(other);
		other = NULL;
	}
	if (!other)
		sw_complain(SW_EXIT_INPUT, "no name for '%s' that the loader would accept", path);
	free(path);
	return other;
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
	run->simulation = loadable(run, run->simulation);
	return run->simulation ? SW_EXIT_OK : SW_EXIT_INPUT;
}

/* An object next to the command, added to what is preloaded. */
static int add_object(struct run *run, const char *name)
{
	struct sw_error error;
	char *path = sw_install_find(name, &error);
	if (!path)
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	path = loadable(run, path);
	if (!path)
		return SW_EXIT_INPUT;
	char *both = run->preload ? sw_format("%s:%s", run->preload, path) : sw_strdup(path);
	free(run->preload);
	free(path);
	run->preload = both;
	return SW_EXIT_OK;
}

static int add_objects(struct run *run)
{
	const struct {
		bool wanted;
		const char *name;
	} objects[] = {
		{true, "libsyncwatch.so"},
		{run->options->guard_host, "libsyncwatch-guard.so"},
		{run->options->strict_host, "libsyncwatch-host.so"},
		{true, "libsyncwatch-nccl.so"},
		{true, "libsyncwatch-run.so"},
		{true, "libsyncwatch-torch.so"},
	};
	int status = SW_EXIT_OK;
	for (size_t i = 0; !status && i < sizeof objects / sizeof objects[0]; i++)
		if (objects[i].wanted)
			status = add_object(run, objects[i].name);
	if (!status)
		sw_channel_expect(&run->channel, run->preload);
	return status;
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
	if (sw_channel_open(&run->channel, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	status = add_objects(run);
	if (status)
		return status;
	run->nvtx = sw_install_find("libsyncwatch-nvtx.so", &error); /* without it, names and ranges are missing */
	return run->options->sim ? find_simulation(run) : SW_EXIT_OK;
}

/* ---- after ------------------------------------------------------------------------------------------------------- */

static void started(void *arg, pid_t pid)
{
	struct run *run = arg;
	char *path = trace_path(run, pid);
	sw_crash_note("the program runs on, its trace may lack its end", path);
	free(path);
	sw_session_start(&run->session, &run->channel, pid, run->options->operands[0]);
}

static void serve(void *arg)
{
	struct run *run = arg;
	sw_channel_serve(&run->channel);
}

/* Under --error-exitcode 0 is a proof: no findings of severity error, in all that the program did. */
static int exit_status(const struct run *run, const struct sw_judged *judged, int program_status)
{
	if (run->options->error_exitcode && judged->totals.errors)
		return run->options->error_exitcode;
	if (run->options->error_exitcode && !program_status && run->session.gaps.n)
		return SW_EXIT_UNPROVEN;
	if (run->options->error_exitcode && !program_status && !run->session.traces.n)
		return SW_EXIT_NOTHING;
	return program_status;
}

static int finish(struct run *run, int program_status)
{
	struct sw_judged judged;
	const uint64_t wait_ms = run->options->wait ? run->options->wait / 1000000 : OUTLIVE_MS;
	sw_session_wait(&run->session, wait_ms < INT_MAX ? (int)wait_ms : INT_MAX);
	sw_session_end(&run->session);
	sw_crash_note("the program has ended and was not affected", NULL);
	sw_channel_close(&run->channel);
	int limited = sw_budget_start(run->options);
	if (limited)
		return limited;
	sw_judged_make(&judged, run->options, &run->session);
	sw_judged_print(&judged, &run->session);
	int written = sw_judged_json(&judged, &run->session);
	int others = sw_judged_files(&judged);
	if (written || others)
		sw_session_gap(&run->session, 0, sw_strdup("the report could not be written"));
	int status = exit_status(run, &judged, program_status);
	sw_judged_free(&judged);
	return status;
}

static void raise_descriptors(struct run *run)
{
	if (getrlimit(RLIMIT_NOFILE, &run->descriptors))
		return;
	struct rlimit all = run->descriptors;
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

static int run_program(struct run *run)
{
	struct sw_child child = {.argv = run->options->operands,
				 .prepare = prepare,
				 .started = started,
				 .serve = serve,
				 .fd = run->channel.poll,
				 .arg = run};
	struct sw_error error;
	pid_t pid;
	int status;
	run->channel.heard = sw_session_heard;
	run->channel.readable = sw_session_ended;
	run->channel.arg = &run->session;
	raise_descriptors(run);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	int rc = sw_child_run(&child, &pid, &status, &error);
	if (rc)
		return sw_complain(rc == -ENOENT ? SW_EXIT_NOT_FOUND : SW_EXIT_NOT_EXECUTABLE, "%s", error.text);
	if (WIFSIGNALED(status))
		fprintf(stderr, "syncwatch: the program was ended by signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return finish(run, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Each rank of a job may be a `run` of its own: the names of its files tell them apart as those of traces do. */
static int expand_names(struct sw_options *options)
{
	const char **names[] = {&options->json,	    &options->html,   &options->sarif,
				&options->junit,    &options->gitlab, &options->chrome,
				&options->perfetto, &options->dot,    &options->write_suppressions};
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!*names[i])
			continue;
		if (sw_name_expand(path, sizeof path, *names[i]))
			return sw_complain_usage("the name '%s' is too long", *names[i]);
		*names[i] = sw_strdup(path); /* as long as the command */
	}
	return SW_EXIT_OK;
}

int sw_cmd_run(const struct sw_options *given)
{
	struct sw_options options = *given;
	struct run run = {.options = &options, .channel = {.poll = -1, .listener = {-1, -1}}};
	int status = expand_names(&options);
	if (!status)
		status = set_up(&run);
	if (!status)
		status = run_program(&run);
	sw_channel_close(&run.channel);
	sw_session_free(&run.session);
	free(run.preload);
	free(run.nvtx);
	free(run.simulation);
	free(run.folder);
	return status;
}
