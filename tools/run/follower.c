/* SPDX-License-Identifier: Apache-2.0 */
#include "run/follower.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis.h"
#include "clock.h"
#include "crash.h"
#include "run/follow.h"

#define TEXT_MOST 8192u

/* Records of one process that are judged before the others have their turn. */
#define TURN 20000u
/* How long it sleeps when there was nothing to judge, after work and when nothing happens. */
#define IDLE_TURNS 200u
#define SHORT_MS   5
#define LONG_MS	   20

/* A follower that was stopped (SIGSTOP) for so long is given up. */
#define STOPPED_MOST 10

enum message_kind {
	FOLLOW_TRACE = 1, /* text: the path; with its descriptors */
	FOLLOW_ENDED,
	FOLLOW_MOVED,  /* device, inode: of the file that took the place of the trace's */
	FOLLOW_GAP,    /* number: enum gap_list */
	FOLLOW_FINISH, /* number: the program's status */
	FOLLOWER_STOP, /* to `run`: end the program */
	FOLLOWER_DONE, /* number: exit status, status: of the program */
};
enum gap_list { GAP_UNKNOWN, GAP_KNOWN };

struct message {
	uint32_t kind;
	int32_t pid, number;
	uint32_t index, flags; /* flags: GAP: the report has it, too; FINISH: something outlived the program */
	uint64_t device, inode;
	char text[TEXT_MOST];
};

#define FILES 3 /* that come with a trace: its file, its memory, its process */

#define PASSED_MOST 512u /* traces; of further ones it is not said */

struct sw_follower {
	struct sw_top_board *board; /* NULL: there is no memory for it */
	_Atomic uint64_t *passed;   /* by trace, in memory that both have: up to where it is judged; NULL likewise */
	int socket;		    /* -1: the follower is gone */
	pid_t pid;		    /* -1: no process could be made, or it has ended */
	bool incomplete;	    /* a message did not reach it */
	const struct sw_options *options;
	int (*report)(const struct sw_options *options, struct sw_session *session, int *program_status);
	const struct sw_session *closed; /* its only trace is complete and is judged as a whole; NULL: it is followed */
	pthread_t parent;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool forked, over;
};

/* ---- messages -----------------------------------------------------------------------------------------------------
 */

/* Sends a message with up to FILES descriptors; false: it did not go out. */
static bool send_message(int fd, const struct message *message, const int *files, size_t n, int flags)
{
	struct iovec part = {(void *)(uintptr_t)message, offsetof(struct message, text) + strlen(message->text) + 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(FILES * sizeof(int))];
	} control = {0};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	if (n) {
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(n * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), files, n * sizeof(int));
	}
	ssize_t sent;
	while ((sent = sendmsg(fd, &header, flags | MSG_NOSIGNAL)) < 0 && errno == EINTR)
		continue;
	return sent == (ssize_t)part.iov_len;
}

/* Receives a message.  1: received; 0: nothing is there (only with MSG_DONTWAIT); <0: the other side is gone.  Those of
   `files` that did not come are -1. */
static int receive(int fd, struct message *message, int *files, int flags)
{
	struct iovec part = {message, sizeof *message - 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(FILES * sizeof(int))];
	} control;
	struct msghdr header = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	ssize_t got;
	while ((got = recvmsg(fd, &header, flags | MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		continue;
	for (int i = 0; i < FILES; i++)
		files[i] = -1;
	if (got < (ssize_t)offsetof(struct message, text))
		return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
	((char *)message)[got] = 0;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&header);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(files, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return 1;
}

/* ---- the follower --------------------------------------------------------------------------------------------------
 */

struct state {
	struct sw_top_board *board;
	_Atomic uint64_t *passed;
	uint64_t shown_ns; /* when it was written last */
	int socket;
	struct sw_session session;
	struct sw_follow_sink sink;
	bool told_stop;
	bool finished;		/* the program has ended */
	sem_t modest, prompt;	/* which of the two threads goes on */
	SW_VEC(pid_t) commands; /* of --on-error, that may still run */
	struct message message; /* received last */
};

/* Adds a trace that `run` announced and opens it for judging; the descriptors that came are its own. */
static void add_trace(struct state *s, const struct message *m, const int *files)
{
	struct sw_session_trace trace = {
		.path = sw_strdup(m->text),
		.pid = m->pid,
		.fd = files[0],
		.memory = -1,
		.pidfd = -1,
		.device = m->device,
		.inode = m->inode,
	};
	int memory = -1;
	/* The flags say which of the others came: there are no places for those that did not. */
	int next = 1;
	if (m->flags & 1)
		memory = files[next++];
	if (m->flags & 2)
		trace.pidfd = files[next];
	const int file = fcntl(trace.fd, F_DUPFD_CLOEXEC, 0);
	trace.follow = file < 0 ? NULL : sw_follow_open(m->text, m->pid, file, memory, &s->sink);
	*sw_vec_push(&s->session.traces) = trace;
}

/* Notes that another file is the trace now. */
static void move_trace(struct sw_session_trace *trace, const struct message *m)
{
	trace->device = m->device;
	trace->inode = m->inode;
}

/* Adds a gap that `run` knows of to the follower's session, from which the report is made. */
static void add_gap(struct state *s, const struct message *m)
{
	const struct sw_session_gap gap = {.pid = m->pid, .text = sw_strdup(m->text), .in_report = m->flags & 1};
	if (m->number == GAP_KNOWN)
		*sw_vec_push(&s->session.known) = gap;
	else
		*sw_vec_push(&s->session.gaps) = gap;
}

/* Gives each trace a turn and publishes how far it is.  The number of records that were judged. */
static size_t judge_a_turn(struct state *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->session.traces.n; i++) {
		struct sw_follow *follow = s->session.traces.at[i].follow;
		n += follow ? sw_follow_step(follow, TURN) : 0;
		if (s->passed && i < PASSED_MOST)
			atomic_store(&s->passed[i], follow ? sw_follow_passed(follow) : UINT64_MAX);
	}
	return n;
}

/* Judges what is left of all traces.  Those whose processes still run are judged up to now. */
static void judge_the_rest(struct state *s)
{
	for (size_t i = 0; i < s->session.traces.n; i++) {
		struct sw_follow *follow = s->session.traces.at[i].follow;
		if (!follow)
			continue;
		sw_follow_ended(follow);
		while (!sw_follow_is_over(follow))
			sw_follow_step(follow, TURN);
	}
}

/* Signals of a user or a terminal are for the program: `run` passes them on. */
static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE};

/* Ignores what a user sends to the program, or stops ignoring it. */
static void heed_signals(bool heed)
{
	const struct sigaction action = {.sa_handler = heed ? SIG_DFL : SIG_IGN};
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		sigaction(passed_on[i], &action, NULL);
}

/* Lets the kernel end the follower before the program where memory lacks, and raises the limit of descriptors. */
static void be_modest(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	struct rlimit files;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max; /* it holds three for each process of the run */
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* The follower can be spared, the program cannot. */
	if (fd >= 0 && write(fd, "500", 3) < 0)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

/* Starts the command of --on-error for a finding, which it learns from its environment; does not wait for it. */
static void run_command(struct state *s, pid_t pid, const struct sw_shown_finding *shown)
{
	const struct sw_options *options = s->sink.options;
	const pid_t child = fork();
	if (child > 0)
		*sw_vec_push(&s->commands) = child;
	if (child)
		return;
	char number[32], id[16], fingerprint[32];
	snprintf(number, sizeof number, "%d", (int)pid);
	snprintf(id, sizeof id, "SW%03d", shown->finding->id);
	snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, shown->fingerprint);
	setenv("SYNCWATCH_PID", number, 1);
	setenv("SYNCWATCH_FINDING", id, 1);
	setenv("SYNCWATCH_FINGERPRINT", fingerprint, 1);
	heed_signals(true);
	execl("/bin/sh", "sh", "-c", options->on_error, (char *)NULL);
	_exit(127);
}

/* Collects commands of --on-error that have ended. */
static void bury_commands(struct state *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->commands.n; i++)
		if (!waitpid(s->commands.at[i], NULL, WNOHANG))
			s->commands.at[kept++] = s->commands.at[i];
	s->commands.n = kept;
}

/* For a finding that is an error: runs the command, and asks `run` once to end the program, as the options say. */
static void on_error(void *arg, pid_t pid, const struct sw_shown_finding *shown)
{
	struct state *s = arg;
	if (s->sink.options->on_error)
		run_command(s, pid, shown);
	if (s->sink.options->stop_on_error && !s->told_stop) {
		const struct message stop = {.kind = FOLLOWER_STOP};
		s->told_stop = send_message(s->socket, &stop, NULL, 0, 0);
	}
}

/* Between two texts for `top`. */
#define SHOW_NS 500000000u

/* Writes the texts for `top`, at most once in SHOW_NS. */
static void show(struct state *s)
{
	const uint64_t now = sw_now_ns();
	if (!s->board || !s->session.traces.n || now - s->shown_ns < SHOW_NS)
		return;
	s->shown_ns = now;
	struct sw_top_process *tops = sw_calloc(s->session.traces.n, sizeof *tops);
	const bool names = sw_top_board_asked(s->board);
	size_t n = 0;
	for (size_t i = 0; i < s->session.traces.n; i++)
		if (s->session.traces.at[i].follow)
			sw_follow_view(s->session.traces.at[i].follow, names, &tops[n++]);
	for (int format = 0; format < SW_TOP_FORMATS; format++) {
		char *text = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&text, &bytes);
		sw_top_print(out, (enum sw_top_format)format, tops, n);
		if (fclose(out) == 0)
			sw_top_board_write(s->board, (enum sw_top_format)format, text);
		free(text);
	}
	if (names)
		sw_top_board_named(s->board);
	free(tops);
}

/* Does the program run, for all that is known?  Then the follower is modest. */
static bool is_early(const struct state *s)
{
	for (size_t i = 0; i < s->session.traces.n; i++)
		if (s->session.traces.at[i].follow && !sw_follow_has_ended(s->session.traces.at[i].follow))
			return true;
	return !s->session.traces.n;
}

/* Takes messages of `run` and judges, until the program has ended, or the other thread is to go on (`modest`: this is
   the one for while processes run). */
static void follow_in_turn(struct state *s, bool modest)
{
	struct message *m = &s->message;
	int files[FILES];
	bool worked = false;
	uint32_t idle = 0; /* turns without work */
	for (;;) {
		struct pollfd readable = {.fd = s->socket, .events = POLLIN};
		int got;
		poll(&readable, 1, worked ? 0 : idle < IDLE_TURNS ? SHORT_MS : LONG_MS);
		while ((got = receive(s->socket, m, files, MSG_DONTWAIT)) > 0) {
			if (m->kind == FOLLOW_TRACE)
				add_trace(s, m, files);
			else if (m->kind == FOLLOW_ENDED && m->index < s->session.traces.n &&
				 s->session.traces.at[m->index].follow)
				sw_follow_ended(s->session.traces.at[m->index].follow);
			else if (m->kind == FOLLOW_MOVED && m->index < s->session.traces.n)
				move_trace(&s->session.traces.at[m->index], m);
			else if (m->kind == FOLLOW_GAP)
				add_gap(s, m);
			else if (m->kind == FOLLOW_FINISH) {
				s->finished = true;
				return;
			}
		}
		if (got < 0) /* `run` was killed; the traces are where the program writes them */
			_exit(SW_EXIT_MEMORY);
		if (is_early(s) != modest)
			return;
		bury_commands(s);
		worked = judge_a_turn(s) > 0;
		idle = worked ? 0 : idle + 1;
		show(s);
	}
}

/* Waits until this thread is to go on. */
static void take_turn(sem_t *turn)
{
	while (sem_wait(turn))
		continue;
}

/* Follows with low priority, in a thread of its own: whenever no process runs, what is left is done with the priority
   that the follower was started with, which a thread that lowered its own cannot get back. */
static void *follow_modestly(void *arg)
{
	struct state *s = arg;
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
	/* The thread never ends: the process that reads debug information does with the thread that started it
	   (PR_SET_PDEATHSIG). */
	for (;;) {
		take_turn(&s->modest);
		follow_in_turn(s, true);
		sem_post(&s->prompt);
	}
	return NULL;
}

/* Follows with low priority while the program runs and with the normal one when it does not, each in a thread of its
   own. */
static void follow_by_turns(struct state *s)
{
	pthread_t thread;
	sem_init(&s->modest, 0, 0);
	sem_init(&s->prompt, 0, 0);
	const bool alone = pthread_create(&thread, NULL, follow_modestly, s) != 0;
	for (bool modest = true; !s->finished; modest = !modest)
		if (alone || !modest) {
			follow_in_turn(s, modest);
		} else {
			sem_post(&s->modest);
			take_turn(&s->prompt);
		}
}

/* Reports, after FOLLOW_FINISH, and sends the exit status. */
static void __attribute__((noreturn)) report_and_end(struct state *s, const struct sw_follower *follower)
{
	s->session.main = s->message.pid;
	s->session.outlived = s->message.flags;
	int program_status = s->message.number;
	const struct message done = {.kind = FOLLOWER_DONE,
				     .number = follower->report(follower->options, &s->session, &program_status)};
	if (fflush(NULL))
		errno = 0;
	send_message(s->socket, &done, NULL, 0, 0);
	_exit(done.number);
}

/* The follower's process: judges until the program has ended, reports, and sends the exit status. */
static void __attribute__((noreturn)) follow(const struct sw_follower *follower, int socket)
{
	static struct state s;
	s.socket = socket;
	s.board = follower->board;
	s.passed = follower->passed;
	s.sink = (struct sw_follow_sink){.options = follower->options, .out = stderr, .error = on_error, .arg = &s};
	heed_signals(false);
	be_modest();
	sw_crash_note("the program is not affected, and is judged when it has ended", NULL);
	if (follower->options->live_log) {
		s.sink.out = fopen(follower->options->live_log, "ae");
		s.sink.out = s.sink.out ? s.sink.out : stderr;
	}
	follow_by_turns(&s);
	heed_signals(true);
	judge_the_rest(&s);
	report_and_end(&s, follower);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Closes all descriptors but the standard ones and these: what `run` closes is to be closed. */
static void close_others(int a, int b, int c)
{
	int kept[] = {a, b, c}, next = STDERR_FILENO + 1;
	qsort(kept, 3, sizeof *kept, by_number);
	for (int i = 0; i < 3; i++) {
		if (kept[i] > next)
			syscall(SYS_close_range, next, kept[i] - 1, 0);
		next = kept[i] >= next ? kept[i] + 1 : next;
	}
	syscall(SYS_close_range, next, ~0u, 0);
}

/* The follower's process of a trace that is complete: judges it, and reports when the run is over. */
static void __attribute__((noreturn)) judge_closed(const struct sw_follower *follower, int socket)
{
	static struct state s;
	static struct sw_analysis analysis;
	struct sw_session_trace trace = follower->closed->traces.at[0];
	int files[FILES], got;
	s.socket = socket;
	heed_signals(false);
	be_modest();
	trace.memory = -1;
	close_others(socket, trace.fd, trace.pidfd);
	trace.closed_status =
		sw_analysis_judge_more(&analysis, trace.path, follower->options, follower->options->all, NULL);
	trace.closed = &analysis;
	*sw_vec_push(&s.session.traces) = trace;
	while ((got = receive(socket, &s.message, files, 0)) > 0 && s.message.kind != FOLLOW_FINISH)
		if (s.message.kind == FOLLOW_GAP)
			add_gap(&s, &s.message);
	if (got < 0)
		_exit(SW_EXIT_MEMORY);
	heed_signals(true);
	report_and_end(&s, follower);
}

/* ---- the side of `run` ---------------------------------------------------------------------------------------------
 */

/* Forks the follower, and waits until it may end, in a thread that is its parent: `run` waits for what is left of the
   program by asking for children of its own thread (__WNOTHREAD), to which orphans come. */
static void *be_parent(void *arg)
{
	struct sw_follower *follower = arg;
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		ends[0] = ends[1] = -1;
		follower->pid = -1;
	} else {
		follower->pid = fork();
	}
	if (!follower->pid) { /* neither of the two functions returns */
		close(ends[0]);
		if (follower->closed)
			judge_closed(follower, ends[1]);
		follow(follower, ends[1]);
	}
	if (ends[1] >= 0)
		close(ends[1]);
	pthread_mutex_lock(&follower->lock);
	follower->socket = ends[0];
	follower->forked = true;
	pthread_cond_signal(&follower->changed);
	while (!follower->over)
		pthread_cond_wait(&follower->changed, &follower->lock);
	pthread_mutex_unlock(&follower->lock);
	return NULL;
}

/* Starts the process; *error: why it could not. */
static bool start(struct sw_follower *follower, int *error)
{
	pthread_mutex_init(&follower->lock, NULL);
	pthread_cond_init(&follower->changed, NULL);
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	*error = pthread_create(&follower->parent, NULL, be_parent, follower);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (*error)
		return false;
	pthread_mutex_lock(&follower->lock);
	while (!follower->forked)
		pthread_cond_wait(&follower->changed, &follower->lock);
	pthread_mutex_unlock(&follower->lock);
	return true;
}

struct sw_follower *sw_follower_start(const struct sw_options *options,
				      int (*report)(const struct sw_options *options, struct sw_session *session,
						    int *program_status))
{
	struct sw_follower *follower = sw_calloc(1, sizeof *follower);
	void *passed = mmap(NULL, PASSED_MOST * sizeof *follower->passed, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int error;
	*follower = (struct sw_follower){.board = sw_top_board_new(),
					 .passed = passed == MAP_FAILED ? NULL : passed,
					 .socket = -1,
					 .options = options,
					 .report = report};
	if (!start(follower, &error)) {
		sw_complain(SW_EXIT_MEMORY, "--live: no thread could be made: %s", strerror(error));
		free(follower);
		return NULL;
	}
	if (follower->pid < 0)
		sw_complain(SW_EXIT_MEMORY, "--live: no process could be made: it is judged when it has ended");
	return follower;
}

struct sw_follower *sw_follower_start_closed(const struct sw_options *options, const struct sw_session *session,
					     int (*report)(const struct sw_options *options, struct sw_session *session,
							   int *program_status))
{
	struct sw_follower *follower = sw_calloc(1, sizeof *follower);
	int error;
	*follower = (struct sw_follower){.socket = -1, .options = options, .report = report, .closed = session};
	if (fflush(NULL))
		errno = 0;
	if (start(follower, &error))
		return follower;
	free(follower);
	return NULL;
}

uint64_t sw_follower_passed(const struct sw_follower *follower, size_t index)
{
	const bool there = follower->socket >= 0 && follower->passed && index < PASSED_MOST;
	return there ? atomic_load(&follower->passed[index]) : UINT64_MAX;
}

int sw_follower_descriptor(const struct sw_follower *follower)
{
	return follower->socket;
}

/* Sends `run`'s message to the follower, or notes that the follower does not know all. */
static void tell(struct sw_follower *follower, const struct message *message, const int *files, size_t n)
{
	/* One that was stopped does not read: `run` waits for nobody. */
	if (follower->socket < 0 || !send_message(follower->socket, message, files, n, MSG_DONTWAIT))
		follower->incomplete = true;
}

bool sw_follower_serve(struct sw_follower *follower)
{
	static struct message m;
	int files[FILES];
	return follower->socket >= 0 && receive(follower->socket, &m, files, MSG_DONTWAIT) > 0 &&
	       m.kind == FOLLOWER_STOP;
}

void sw_follower_trace(struct sw_follower *follower, size_t index, const struct sw_session_trace *trace)
{
	struct message m = {.kind = FOLLOW_TRACE,
			    .pid = trace->pid,
			    .index = (uint32_t)index,
			    .device = trace->device,
			    .inode = trace->inode};
	int files[FILES] = {trace->fd};
	size_t n = 1;
	if (trace->memory >= 0) {
		m.flags |= 1;
		files[n++] = trace->memory;
	}
	if (trace->pidfd >= 0) {
		m.flags |= 2;
		files[n++] = trace->pidfd;
	}
	if (strlen(trace->path) >= sizeof m.text) {
		follower->incomplete = true;
		return;
	}
	strcpy(m.text, trace->path);
	tell(follower, &m, files, n);
}

void sw_follower_ended(struct sw_follower *follower, size_t index)
{
	tell(follower, &(struct message){.kind = FOLLOW_ENDED, .index = (uint32_t)index}, NULL, 0);
}

void sw_follower_moved(struct sw_follower *follower, size_t index, const struct sw_session_trace *trace)
{
	const struct message m = {
		.kind = FOLLOW_MOVED, .index = (uint32_t)index, .device = trace->device, .inode = trace->inode};
	tell(follower, &m, NULL, 0);
}

/* Sends a gap at the end of the run, when waiting for the follower delays no program. */
static void tell_gap(struct sw_follower *follower, const struct sw_session_gap *gap, enum gap_list list)
{
	struct message m = {.kind = FOLLOW_GAP, .pid = gap->pid, .number = list, .flags = gap->in_report};
	strncpy(m.text, gap->text, sizeof m.text - 1);
	if (!send_message(follower->socket, &m, NULL, 0, 0))
		follower->incomplete = true;
}

/* Is the process stopped, by a signal or a debugger?  It would never answer. */
static bool is_stopped(pid_t pid)
{
	char path[64], text[512] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	const char *end = got > 0 ? strrchr(text, ')') : NULL;
	return end && end[1] && (end[2] == 'T' || end[2] == 't');
}

/* Did it end because a limit of the options was reached?  Then judging once more would only reach it again. */
static bool was_limited(struct sw_follower *follower, int *status)
{
	int how;
	const bool limits = follower->options->max_time || follower->options->max_memory;
	if (!limits || waitpid(follower->pid, &how, 0) != follower->pid)
		return false;
	follower->pid = -1;
	if (!WIFEXITED(how) || WEXITSTATUS(how) != SW_EXIT_MEMORY)
		return false;
	*status = SW_EXIT_MEMORY;
	return true;
}

/* Waits for the exit status.  False: the follower ended without one, or is stopped. */
static bool wait_for_status(struct sw_follower *follower, int *status)
{
	static struct message m;
	int files[FILES], got = 0, stopped = 0;
	while (stopped < STOPPED_MOST) {
		struct pollfd readable = {.fd = follower->socket, .events = POLLIN};
		poll(&readable, 1, 1000);
		while ((got = receive(follower->socket, &m, files, MSG_DONTWAIT)) > 0)
			if (m.kind == FOLLOWER_DONE) {
				*status = m.number;
				return true;
			}
		if (got < 0)
			return was_limited(follower, status);
		stopped = is_stopped(follower->pid) ? stopped + 1 : 0;
	}
	kill(follower->pid, SIGKILL);
	return false;
}

bool sw_follower_finish(struct sw_follower *follower, const struct sw_session *session, int *program_status,
			int *status)
{
	if (follower->socket < 0 || follower->incomplete)
		return false;
	for (size_t i = 0; i < session->gaps.n; i++)
		tell_gap(follower, &session->gaps.at[i], GAP_UNKNOWN);
	for (size_t i = 0; i < session->known.n; i++)
		tell_gap(follower, &session->known.at[i], GAP_KNOWN);
	const struct message finish = {
		.kind = FOLLOW_FINISH, .pid = session->main, .number = *program_status, .flags = session->outlived};
	if (follower->incomplete || !send_message(follower->socket, &finish, NULL, 0, 0))
		return false;
	kill(follower->pid, SIGCONT); /* whoever stopped it meant the time of the program */
	return wait_for_status(follower, status);
}

void sw_follower_free(struct sw_follower *follower)
{
	if (!follower)
		return;
	if (follower->socket >= 0)
		close(follower->socket);
	if (follower->pid > 0)
		kill(follower->pid, SIGKILL);
	pthread_mutex_lock(&follower->lock);
	follower->over = true;
	pthread_cond_signal(&follower->changed);
	pthread_mutex_unlock(&follower->lock);
	pthread_join(follower->parent, NULL);
	if (follower->pid > 0)
		waitpid(follower->pid, NULL, 0);
	free(follower);
}

int sw_follower_top(void *arg, char **words, size_t n, FILE *answer)
{
	static const char *const names[SW_TOP_FORMATS] = {"text", "json", "prometheus"};
	const struct sw_follower *follower = arg;
	const char *wanted = n ? words[0] : "text";
	if (!follower || follower->socket < 0) {
		fputs("it is not judged while it runs: 'syncwatch run --live' does that\n", answer);
		return SW_EXIT_INPUT;
	}
	for (int i = 0; i < SW_TOP_FORMATS && follower->board; i++) {
		if (strcmp(names[i], wanted) != 0)
			continue;
		sw_top_board_ask(follower->board);
		if (sw_top_board_read(follower->board, (enum sw_top_format)i, answer))
			return SW_EXIT_OK;
	}
	fputs("nothing is judged yet\n", answer);
	return SW_EXIT_NOTHING;
}
