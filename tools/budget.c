/* SPDX-License-Identifier: Apache-2.0 */
#include "budget.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process.h"
#include "output.h"

/* Handles the end of --max-time: ends the command without half-written files. */
static void out_of_time(int sig)
{
	static const char text[] = "syncwatch: --max-time is reached; the trace is untouched\n";
	(void)sig;
	sw_output_drop_all();
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(SW_EXIT_MEMORY);
	_exit(SW_EXIT_MEMORY);
}

/* Limits the memory of this process to so many bytes above its present size. */
static int limit_memory(uint64_t bytes)
{
	struct rlimit limit;
	const uint64_t most = sw_process_data_bytes() + bytes;
	if (getrlimit(RLIMIT_DATA, &limit))
		return sw_complain(SW_EXIT_INPUT, "--max-memory: %s", strerror(errno));
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most)
		return SW_EXIT_OK; /* the system's own limit is lower */
	limit.rlim_cur = most;
	if (setrlimit(RLIMIT_DATA, &limit))
		return sw_complain(SW_EXIT_INPUT, "--max-memory: %s", strerror(errno));
	return SW_EXIT_OK;
}

/* Starts the limits of --max-time and --max-memory. */
int sw_budget_start(const struct sw_options *options)
{
	if (options->max_time) {
		struct sigaction action = {.sa_handler = out_of_time};
		struct itimerval timer = {
			.it_value = {.tv_sec = (time_t)(options->max_time / 1000000000),
				     .tv_usec = (suseconds_t)(options->max_time % 1000000000 / 1000)}};
		sigset_t alarm;
		sigemptyset(&alarm);
		sigaddset(&alarm, SIGALRM);
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
		if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &timer, NULL))
			return sw_complain(SW_EXIT_INPUT, "--max-time: %s", strerror(errno));
	}
	if (options->max_memory)
		return limit_memory(options->max_memory);
	sw_memory_use_large_pages();
	return SW_EXIT_OK;
}
