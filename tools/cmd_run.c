/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch run: runs a program with the recorder preloaded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "command.h"
#include "install.h"

struct run {
	const struct sw_options *options;
	char *library;    /* to preload */
	char *simulation; /* folder, NULL: the real CUDA */
};

/* NAME=value, with what the variable held before behind it. */
static void prepend(const char *name, const char *value, const char *separator)
{
	const char *old = getenv(name);
	char *both = old && *old ? sw_format("%s%s%s", value, separator, old) : sw_strdup(value);
	setenv(name, both, 1);
	free(both);
}

static void prepare(void *arg, pid_t pid)
{
	const struct run *run = arg;
	(void)pid;
	prepend("LD_PRELOAD", run->library, ":");
	if (run->simulation)
		prepend("LD_LIBRARY_PATH", run->simulation, ":");
}

int sw_cmd_run(const struct sw_options *options)
{
	struct run run = {.options = options};
	struct sw_error error;
	if (options->n_operands == 0)
		return sw_complain_usage("which program?");
	run.library = sw_install_find("libsyncwatch.so", &error);
	if (!run.library)
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	if (options->sim) {
		char *driver = sw_install_find("sim/libcuda.so.1", &error);
		if (!driver)
			return sw_complain(SW_EXIT_INPUT, "%s", error.text);
		*strrchr(driver, '/') = 0;
		run.simulation = driver;
	}
	struct sw_child child = {options->operands, prepare, &run};
	pid_t pid;
	int status;
	int rc = sw_child_run(&child, &pid, &status, &error);
	free(run.library);
	free(run.simulation);
	if (rc)
		return sw_complain(rc == -ENOENT ? SW_EXIT_NOT_FOUND : SW_EXIT_NOT_EXECUTABLE, "%s", error.text);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
