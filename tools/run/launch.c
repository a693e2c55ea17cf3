/* SPDX-License-Identifier: Apache-2.0 */
#include "run/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <fnmatch.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis.h"
#include "base/name_pattern.h"
#include "base/python_name.h"
#include "crash.h"
#include "elf_probe.h"
#include "footprint/kernel/store/disk_store.h"
#include "install.h"
#include "pack_file.h"
#include "run/child.h"
#include "run/flight.h"
#include "run/follower.h"
#include "syncwatch/format.h"

/* How long processes that made a trace may outlive the program before they are judged as they stand. */
#define OUTLIVE_MS 10000

/* ---- before ------------------------------------------------------------------------------------------------------ */

/* Sets NAME=value, with what the variable held before after it. */
static void prepend(const char *name, const char *value)
{
	const char *old = getenv(name);
	char *both = old && *old ? sw_format("%s:%s", value, old) : sw_strdup(value);
	setenv(name, both, 1);
	free(both);
}

/* A copy of the path with a `before` in front of each character of `what`; malloc'ed. */
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
   default is the recorder's own, so that each process is named by its program. */
static char *trace_path(const struct sw_launch *run)
{
	const char *path = run->options->trace;
	if (run->trace)
		return escape(run->trace, "%", '%');
	/* From the name of the packed trace, the name that packing adds to. */
	const bool packed = path && run->options->pack && fnmatch("*?.zst", path, 0) == 0;
	const int bytes = path ? (int)(strlen(path) - (packed ? strlen(".zst") : 0)) : 0;
	if (path && path[0] == '/')
		return sw_strndup(path, (size_t)bytes);
	char *folder = escape(run->folder, "%", '%');
	char *full = path ? sw_format("%s/%.*s", folder, bytes, path) : sw_format("%s/syncwatch-%%e-%%p.swt", folder);
	free(folder);
	return full;
}

/* Options for windows: where one is given, the user's own SYNCWATCH_OPTIONS say nothing of them. */
static char *window_options(const struct sw_options *options)
{
	if (!options->capture && !options->paused && !options->delay && !options->duration)
		return sw_strdup("");
	char *name = escape(options->capture ? options->capture : "", ":\\", '\\'),
	     *steps = escape(options->steps ? options->steps : "", ":", '\\');
	char *all = sw_format("capture=%s:steps=%s:paused=%d:delay=%" PRIu64 ".%09" PRIu64 ":duration=%" PRIu64
			      ".%09" PRIu64 ":",
			      name, steps, options->paused, options->delay / 1000000000, options->delay % 1000000000,
			      options->duration / 1000000000, options->duration % 1000000000);
	free(name);
	free(steps);
	return all;
}

char *sw_launch_image_store(const struct sw_options *options)
{
	char *cache = options->no_cache ? NULL : sw_store_folder(""),
	     *folder = cache ? sw_format("%s/images", cache) : NULL;
	free(cache);
	return folder;
}

/* The options that the recorder gets in SYNCWATCH_OPTIONS, each with a colon after it; malloc'ed. */
static char *recorder_options(const struct sw_options *options)
{
	const unsigned long long depth = options->depth ? options->depth - 1 : 0;
	char *stacks = !options->depth ? sw_strdup("")
		       : depth	       ? sw_format("depth=%llu:", depth)
				       : sw_strdup("stacks=0:");
	char *windows = window_options(options);
	const uint64_t window = sw_flight_most_bytes(options), most = options->max_size ? options->max_size : window;
	char *size = most ? sw_format("%smax-size=%" PRIu64 ":", window ? "spool=1:" : "", most) : sw_strdup("");
	char *folder = sw_launch_image_store(options), *store = escape(folder ? folder : "", ":\\", '\\');
	char *both = sw_format("%s%simage-store=%s:%s", stacks, size, store, windows);
	free(folder);
	free(store);
	free(stacks);
	free(size);
	free(windows);
	return both;
}

/* In the child before the exec: sets the environment by which the loader and the recorder know what to do. */
static void prepare(void *arg, pid_t pid)
{
	const struct sw_launch *run = arg;
	(void)pid;
	const char *old = getenv("SYNCWATCH_OPTIONS");
	/* Colons separate the options of SYNCWATCH_OPTIONS. */
	char *path = trace_path(run), *escaped = escape(path, ":\\", '\\');
	/* Ours after the user's: the last one counts. */
	const char *gpu = run->options->gpu_timeline;
	char *recorder = recorder_options(run->options);
	char *options = sw_format("%s%squiet=1:report=0:%s%s%s%strace=%s", old ? old : "", old && *old ? ":" : "",
				  recorder, gpu ? "gpu-timeline=" : "",
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
	/* A user who has set it wants another tool to get the program's annotations. */
	if (run->nvtx)
		setenv("NVTX_INJECTION64_PATH", run->nvtx, 0);
	if (run->simulation)
		prepend("LD_LIBRARY_PATH", run->simulation);
	if (run->dies_with_us)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (const char *const *one = run->environment; one && *one; one += 2)
		setenv(one[0], one[1], 1);
	const int errors = run->errors ? run->errors : run->output;
	if (run->output && (dup2(run->output, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0))
		_exit(SW_EXIT_OUTPUT);
	free(recorder);
	free(options);
	free(escaped);
	free(path);
}

/* Removes a trace of an earlier run under the name that the user gave (--force), or refuses to run: it would be taken
   for that of this run. */
static int make_room(const struct sw_launch *run, const char *path)
{
	struct stat s;
	if (lstat(path, &s))
		return SW_EXIT_OK;
	if (!run->options->force)
		return sw_complain(SW_EXIT_OUTPUT,
				   "'%s' is there already: --force replaces it, or choose another name "
				   "(%%p is the process, %%q{RANK} a variable)",
				   path);
	if (!S_ISREG(s.st_mode))
		return sw_complain(SW_EXIT_OUTPUT, "'%s' is no regular file: it is not replaced", path);
	if (unlink(path))
		return sw_complain(SW_EXIT_OUTPUT, "cannot replace '%s': %s", path, strerror(errno));
	return SW_EXIT_OK;
}

/* Has the pattern of a trace's name the number or the program of a process in it, which are not known yet? */
static bool names_process(const char *pattern)
{
	for (const char *p = pattern; (p = strchr(p, '%')); p += p[1] ? 2 : 1)
		if (p[1] == 'p' || p[1] == 'e')
			return true;
	return false;
}

/* Is the trace's folder there, and its name free?  Asked before the program runs for hours. */
static int check_trace(const struct sw_launch *run)
{
	char *pattern = trace_path(run), path[PATH_MAX];
	const bool given = run->options->trace && !run->trace && !names_process(pattern);
	const int long_name = sw_name_expand(path, sizeof path, pattern);
	char *slash = long_name ? NULL : strrchr(path, '/');
	free(pattern);
	if (!slash)
		return sw_complain(SW_EXIT_OUTPUT, "the name of the trace is too long");
	const char end = *slash;
	slash[slash == path] = 0;
	if (access(path, W_OK | X_OK))
		return sw_complain(SW_EXIT_OUTPUT, "cannot write a trace to '%s': %s", path, strerror(errno));
	*slash = end;
	int status = given ? make_room(run, path) : SW_EXIT_OK;
	if (!status && given && run->options->pack) {
		char *packed = sw_pack_default(path);
		status = make_room(run, packed);
		free(packed);
	}
	return status;
}

/* The path of an object as the loader takes it.  LD_PRELOAD and LD_LIBRARY_PATH are lists, and the loader expands
   $ORIGIN and its like: an installation in a folder whose name it would take apart is named by a link in our private
   folder. */
static char *loadable(struct sw_launch *run, char *path)
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

/* Finds the simulated CUDA; a program that has the runtime inside cannot use it.  An exit status. */
static int find_simulation(struct sw_launch *run)
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

/* Adds an object next to the command to what is preloaded. */
static int add_object(struct sw_launch *run, const char *name)
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

/* Finds all objects that are preloaded for these options.  An exit status. */
static int add_objects(struct sw_launch *run)
{
	const struct {
		bool wanted;
		const char *name;
	} objects[] = {
		{true, "libsyncwatch.so"},
		/* Constructors run from the last to the first (glibc): it comes before the guard, and passes calls on
		   to it. */
		{run->object != NULL, run->object},
		{run->options->guard_host, "libsyncwatch-guard.so"},
		{run->options->strict_host, "libsyncwatch-host.so"},
		{true, "libsyncwatch-libraries.so"},
		{true, "libsyncwatch-nccl.so"},
		{true, "libsyncwatch-run.so"},
		{true, "libsyncwatch-pools.so"},
	};
	int status = SW_EXIT_OK;
	for (size_t i = 0; !status && i < sizeof objects / sizeof objects[0]; i++)
		if (objects[i].wanted)
			status = add_object(run, objects[i].name);
	if (!status)
		sw_channel_expect(&run->channel, run->preload);
	return status;
}

/* Do the options that say when to record make sense?  An exit status. */
static int check_windows(const struct sw_options *options)
{
	const char *name = options->capture;
	const bool nvtx = name && !strncmp(name, "nvtx:", 5) && name[5],
		   python = name && !strncmp(name, "python:", 7) && name[7];
	unsigned long long steps, skip;
	int end = 0;
	if (name && ((!nvtx && !python && strcmp(name, "profiler")) || strlen(name) > 255))
		return sw_complain_usage("'--capture' takes nvtx:NAME, python:MODULE.FUNC or profiler, not '%s'", name);
	if (python && sw_python_names_main(name + strlen("python:")))
		return sw_complain_usage("'--capture': " SW_PYTHON_NO_MAIN, name + strlen("python:"));
	if (python && options->depth == 1)
		return sw_complain_usage("'--capture python' needs call stacks: no '--depth 0'");
	if (!options->steps)
		return SW_EXIT_OK;
	if (!nvtx)
		return sw_complain_usage("'--steps' counts the entries of a range: --capture nvtx:NAME");
	const bool one = sscanf(options->steps, "%llu%n", &steps, &end) == 1 && !options->steps[end],
		   two = sscanf(options->steps, "%llu:%llu%n", &steps, &skip, &end) == 2 && !options->steps[end];
	if ((!one && !two) || !steps || strchr(options->steps, '-'))
		return sw_complain_usage("'--steps' needs N or N:SKIP, not '%s'", options->steps);
	return SW_EXIT_OK;
}

/* Checks and prepares all that can fail before the program runs.  An exit status. */
static int set_up(struct sw_launch *run)
{
	struct sw_error error;
	if (run->options->n_operands == 0)
		return sw_complain_usage("which program?");
	const char *gpu = run->options->gpu_timeline;
	if (gpu && *gpu && strcmp(gpu, "nodes") && strcmp(gpu, "shared"))
		return sw_complain_usage("'--gpu-timeline' takes '=nodes', '=shared' or nothing");
	int status = check_windows(run->options);
	if (status)
		return status;
	run->folder = getcwd(NULL, 0);
	if (!run->folder)
		return sw_complain(SW_EXIT_OUTPUT, "cannot find the current directory: %s", strerror(errno));
	status = sw_analysis_check(run->options);
	if (!status)
		status = check_trace(run);
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

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* When the program runs: begins its session, and tells the control and the follower of it. */
static void started(void *arg, pid_t pid)
{
	struct sw_launch *run = arg;
	char *path = trace_path(run);
	sw_crash_note("the program runs on, its trace may lack its end", path);
	free(path);
	sw_session_start(&run->session, &run->channel, pid, run->options->operands[0]);
	run->control.top = sw_follower_top;
	run->control.top_arg = run->follower;
	if (run->follower)
		sw_session_follow(&run->session, run->follower);
	if (run->session.flight && sw_flight_descriptor(run->session.flight) >= 0)
		sw_channel_watch(&run->channel, sw_flight_descriptor(run->session.flight));
}

/* For the control: the command `dump`. */
static int dump(void *arg, char **words, size_t n, FILE *answer)
{
	struct sw_launch *run = arg;
	(void)words;
	(void)n;
	return sw_flight_dump(run->session.flight, &run->session, "it was asked for", answer);
}

/* For the channel: a recorder's message came. */
/* Chunks of a trace that takes longer to judge than another process takes to start. */
#define EARLY_CHUNKS 4u

/* Is the trace of this process the only one, complete in its file, and is there a processor to judge it while the
   process ends? */
static bool may_judge_early(const struct sw_launch *run, pid_t pid)
{
	const struct sw_session *session = &run->session;
	const struct sw_options *options = run->options;
	const struct sw_session_trace *trace = session->traces.at;
	struct sw_file_header header;
	cpu_set_t cpus;
	if (!run->report || run->follower || run->early || session->flight || options->pack || options->max_time ||
	    options->max_memory || session->traces.n != 1 || session->failed || session->refused)
		return false;
	if (trace->pid != pid || trace->memory < 0 || !sw_session_in_place(trace))
		return false;
	if (pread(trace->fd, &header, sizeof header, 0) != (ssize_t)sizeof header || !(header.flags & SW_FILE_CLOSED) ||
	    header.flags & SW_FILE_BEHIND || header.chunks < EARLY_CHUNKS)
		return false;
	return !sched_getaffinity(0, sizeof cpus, &cpus) && CPU_COUNT(&cpus) > 1;
}

static void received(void *arg, const struct sw_received *received)
{
	struct sw_launch *run = arg;
	sw_session_received(&run->session, received);
	if (received->message->kind == SW_ANNOUNCE_CLOSED)
		run->closed = received->peer.pid;
	/* A script runs several programs: each is judged in the end. */
	if (run->early && run->session.traces.n > 1) {
		sw_follower_free(run->follower);
		run->follower = NULL;
	}
}

/* For the channel: a descriptor that it watches can be read. */
static void readable(void *arg, int fd)
{
	struct sw_launch *run = arg;
	if (!sw_control_readable(&run->control, fd))
		sw_session_ended(&run->session, fd);
}

/* For the child: a signal that is for `run` itself came. */
static void signalled(void *arg, int number)
{
	struct sw_launch *run = arg;
	sw_control_signal(&run->control, number);
}

/* For the child: the channel can be read. */
static void serve(void *arg)
{
	struct sw_launch *run = arg;
	sw_channel_serve(&run->channel);
	/* Not while a connection is served: the other process would keep it open. */
	if (run->closed && may_judge_early(run, run->closed)) {
		run->follower = sw_follower_start_closed(run->options, &run->session, run->report);
		run->early = run->follower != NULL;
	}
	run->closed = 0;
}

/* Raises our limit of open files, as each process takes some; `descriptors` has the one that the program gets. */
static void raise_descriptors(struct sw_launch *run)
{
	if (getrlimit(RLIMIT_NOFILE, &run->descriptors))
		return;
	struct rlimit all = run->descriptors;
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

/* Waits for what outlives the program, then closes all by which processes of the run reach us. */
static void end_session(struct sw_launch *run)
{
	const uint64_t wait_ms = run->options->wait ? run->options->wait / 1000000 : OUTLIVE_MS;
	sw_session_wait(&run->session, wait_ms < INT_MAX ? (int)wait_ms : INT_MAX);
	sw_session_end(&run->session);
	sw_flight_free(run->session.flight);
	run->session.flight = NULL;
	sw_control_close(&run->control);
	sw_crash_note("the program has ended and was not affected", NULL);
	sw_channel_close(&run->channel);
}

/* Opens the channel and runs the program to its end.  An exit status. */
static int run_program(struct sw_launch *run)
{
	struct sw_child child = {.argv = run->options->operands,
				 .prepare = prepare,
				 .started = started,
				 .serve = serve,
				 .signalled = signalled,
				 .fd = run->channel.poll,
				 .arg = run};
	struct sw_error error;
	pid_t pid;
	int status;
	run->channel.received = received;
	run->channel.readable = readable;
	run->channel.arg = run;
	sw_control_open(&run->control, &run->channel, &run->session);
	run->session.flight = sw_flight_new(run->options);
	if (run->session.flight) {
		run->control.dump = dump;
		run->control.dump_arg = run;
	}
	raise_descriptors(run);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	int rc = sw_child_run(&child, &pid, &status, &error);
	if (rc)
		return sw_complain(rc == -ENOENT ? SW_EXIT_NOT_FOUND : SW_EXIT_NOT_EXECUTABLE, "%s", error.text);
	if (WIFSIGNALED(status))
		fprintf(stderr, "syncwatch: the program was ended by signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	run->program_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	end_session(run);
	return SW_EXIT_OK;
}

int sw_launch_run(struct sw_launch *launch)
{
	launch->channel = (struct sw_channel){.poll = -1, .listener = {-1, -1}};
	int status = set_up(launch);
	return status ? status : run_program(launch);
}

void sw_launch_free(struct sw_launch *launch)
{
	sw_control_close(&launch->control);
	sw_channel_close(&launch->channel);
	sw_session_free(&launch->session);
	free(launch->preload);
	free(launch->nvtx);
	free(launch->simulation);
	free(launch->folder);
}
