/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the user's program and steps aside: it keeps its terminal, its signals and its exit status. */
#ifndef SW_TOOLS_RUN_CHILD_H
#define SW_TOOLS_RUN_CHILD_H

#include <sys/types.h>

#include "base/error.h"

#define SW_CHILD_SIGNALS 3

struct sw_child {
	char **argv;
	/* Called in the child before the program starts, to set its environment. */
	void (*prepare)(void *arg, pid_t pid);
	/* Called once the process exists, before anything else of it is heard. */
	void (*started)(void *arg, pid_t pid);
	/* Called whenever `fd` is readable while the program runs. */
	void (*serve)(void *arg);
	int fd;
	/* Called for the first SW_CHILD_SIGNALS real-time signals, which are for us and not for the program. */
	void (*signalled)(void *arg, int number);
	void *arg;
};

/*
 * Starts the program and waits for its end; *status is what waitpid() says, *pid its process.  Signals that somebody
 * sends to us alone are passed on; those of the terminal, and those sent to our process group, reach the program
 * anyway. 0, or -errno with error filled if the program could not be started (-ENOENT: not found).
 */
int sw_child_run(const struct sw_child *child, pid_t *pid, int *status, struct sw_error *error);

#endif
