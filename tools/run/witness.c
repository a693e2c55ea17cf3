/* SPDX-License-Identifier: Apache-2.0 */
#include "run/witness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* kill() reaches the members of a group one after the other: we may be shown before the witness is. */
#define WAIT_NS	  50000000
#define ANSWER_MS 2000

/* In the witness: answers for each signal number that is asked about whether it was pending here. */
static void watch_signals(int fd)
{
	unsigned char sig;
	while (read(fd, &sig, 1) == 1) {
		const struct timespec most = {.tv_nsec = WAIT_NS};
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, sig);
		const unsigned char seen = sigtimedwait(&set, NULL, &most) == sig;
		if (write(fd, &seen, 1) != 1)
			return;
	}
}

void sw_witness_start(struct sw_witness *witness)
{
	int pair[2];
	const pid_t parent = getpid();
	*witness = (struct sw_witness){.pid = -1, .fd = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	witness->pid = fork();
	if (witness->pid == 0) {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Nothing of the user's stays open because of us. */
		if (getppid() != parent || dup2(pair[1], 0) < 0 || syscall(SYS_close_range, 1, ~0u, 0))
			_exit(0);
		watch_signals(0);
		_exit(0);
	}
	close(pair[1]);
	witness->fd = pair[0];
}

bool sw_witness_saw(struct sw_witness *witness, int sig)
{
	const unsigned char asked = (unsigned char)sig;
	unsigned char seen = 0;
	struct pollfd answer = {.fd = witness->fd, .events = POLLIN};
	if (witness->pid < 1 || send(witness->fd, &asked, 1, MSG_NOSIGNAL) != 1)
		return false;
	if (poll(&answer, 1, ANSWER_MS) == 1 && read(witness->fd, &seen, 1) == 1)
		return seen;
	sw_witness_end(witness); /* stopped or killed: its later answers would belong to other questions */
	return false;
}

void sw_witness_end(struct sw_witness *witness)
{
	if (witness->pid > 0) {
		kill(witness->pid, SIGKILL);
		while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	if (witness->fd >= 0)
		close(witness->fd);
	*witness = (struct sw_witness){.pid = -1, .fd = -1};
}
