/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes that synchronise by pipes.  CUDA starts in each of them, after the fork. */
#ifndef KERNELS_PROCESSES_H
#define KERNELS_PROCESSES_H

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

class Pair
{
      public:
	bool exporter; /* the parent, which makes what is shared */

	Pair()
	{
		int down[2], up[2];

		if (pipe(down) || pipe(up)) {
			perror("pipe");
			exit(1);
		}
		child = fork();
		if (child < 0) {
			perror("fork");
			exit(1);
		}
		exporter = child > 0;
		if (!exporter)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		in = exporter ? up[0] : down[0];
		out = exporter ? down[1] : up[1];
		close(exporter ? up[1] : down[1]);
		close(exporter ? down[0] : up[0]);
	}

	template <typename T> void send(const T &what)
	{
		if (write(out, &what, sizeof what) != sizeof what)
			broken();
	}

	template <typename T> T receive()
	{
		T what;

		if (read(in, &what, sizeof what) != sizeof what)
			broken();
		return what;
	}

	/* "So far." */
	void tell()
	{
		send('.');
	}

	void wait()
	{
		receive<char>();
	}

	/* The exit status of both; a program ends with it. */
	int end()
	{
		int status = 0;

		if (!exporter)
			return 0;
		if (waitpid(child, &status, 0) != child)
			return 1;
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}

      private:
	pid_t child;
	int in, out;

	[[noreturn]] static void broken()
	{
		fprintf(stderr, "the other process has ended\n");
		exit(1);
	}
};

#endif
