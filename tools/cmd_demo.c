/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch demo: runs the program that came with the command, which has a race and a needless wait. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/driver.h"
#include "command.h"
#include "install.h"
#include "terminal.h"

#define ENDS_WITHOUT_GPU 1

/* In a process of its own: its exit status says whether there is a GPU. */
static _Noreturn void look_for_gpu(void)
{
	struct sw_driver driver;
	struct sw_error error;
	int count = 0;
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	const bool there = sw_driver_load(&driver, NULL, &error) == 0 && driver.cuInit(0) == CUDA_SUCCESS &&
			   driver.cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0;
	_exit(there ? 0 : ENDS_WITHOUT_GPU);
}

/* Is there a usable GPU?  Asked in a process of its own: a driver that fails must not take the command along, and
   leaves descriptors open. */
static bool gpu_is_there(void)
{
	int status = 0;
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0)
		look_for_gpu();
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Finds the demo's program.  That for a GPU has the runtime inside and needs a driver alone; the other one can be
   simulated.  In a build tree one program serves both. */
static char *find_program(bool simulated, struct sw_error *error)
{
	static const char *const names[] = {"demo/demo_pipeline-gpu", "demo/demo_pipeline", "kernels/demo_pipeline"};
	char *program = NULL;
	for (size_t i = simulated; i < sizeof names / sizeof names[0] && !program; i++)
		program = sw_install_find(names[i], error);
	return program;
}

/* Where the demo's files go: the current folder, or a new one where that cannot be written.  NULL: neither. */
static char *folder_for_files(void)
{
	const char *temporary = getenv("TMPDIR");
	if (access(".", W_OK) == 0)
		return realpath(".", NULL);
	char *folder = sw_format("%s/syncwatch-demo-XXXXXX", temporary && temporary[0] == '/' ? temporary : "/tmp");
	if (mkdtemp(folder))
		return folder;
	free(folder);
	return NULL;
}

/* Changes to the folder above that of the program, to which the names of its source files are relative: from there the
   report finds what it says of streams and variables. */
static void enter_folder_above(const char *program)
{
	char *folder = sw_strdup(program), *slash;
	for (int i = 0; i < 2 && (slash = strrchr(folder, '/')); i++)
		*slash = 0;
	if (*folder && chdir(folder) < 0)
		sw_complain(SW_EXIT_OK, "%s: %s; the report will lack names of variables", folder, strerror(errno));
	free(folder);
}

/* Says where the files are that the demo made, and what to try next. */
static void say_what_next(const char *timeline, bool fixed)
{
	char *source = sw_install_find("demo/demo_pipeline.cu", NULL);
	fputs("\nThe timeline is ", stderr);
	sw_put_plain(stderr, timeline);
	fputs(": open it on https://ui.perfetto.dev (it stays in your browser).\n", stderr);
	if (source) {
		fputs("The source of the program:            ", stderr);
		sw_put_plain(stderr, source);
		fputc('\n', stderr);
	}
	free(source);
	if (!fixed)
		fputs("The fixed program, which is silent:   syncwatch demo --fixed\n"
		      "What a finding means:                 syncwatch explain SW101\n",
		      stderr);
	fputs("A program of yours:                   syncwatch run ./app args\n", stderr);
}

/* Runs the program as `syncwatch run` would. */
static int run_program(char *program, const char *folder, bool simulated, bool fixed)
{
	char *trace = sw_format("%s/syncwatch-demo.swt", folder),
	     *timeline = sw_format("%s/syncwatch-demo.json", folder);
	char without_mistakes[] = "--fixed";
	char *operands[] = {program, fixed ? without_mistakes : NULL, NULL};
	const struct sw_options options = {
		.force = true,
		.trace = trace,
		.chrome = timeline,
		.sim = simulated,
		.no_config = true,
		.operands = operands,
		.n_operands = fixed ? 2 : 1,
	};
	enter_folder_above(program);
	const int status = sw_cmd_run(&options);
	if (!status)
		say_what_next(timeline, fixed);
	free(trace);
	free(timeline);
	return status;
}

/* `syncwatch demo`. */
int sw_cmd_demo(const struct sw_options *options)
{
	struct sw_error error;
	if (options->n_operands)
		return sw_complain_usage("it takes no program: 'syncwatch run' runs one of yours");
	const bool simulated = options->sim || !gpu_is_there();
	char *program = find_program(simulated, &error);
	if (!program)
		return sw_complain(SW_EXIT_INPUT,
				   "its program is not part of this installation: it comes with the Python wheel (pip "
				   "install syncwatch), and tools/demo in the source builds it");
	char *folder = folder_for_files();
	int status = SW_EXIT_OUTPUT;
	if (folder) {
		fprintf(stderr, "running demo_pipeline%s on %s\n\n", options->fixed ? " --fixed" : "",
			simulated ? options->sim ? "the simulated CUDA" : "the simulated CUDA, as no GPU is here"
				  : "the GPU");
		status = run_program(program, folder, simulated, options->fixed);
	} else {
		sw_complain(status, "neither the current folder nor that for temporary files can be written: %s",
			    strerror(errno));
	}
	free(folder);
	free(program);
	return status;
}
