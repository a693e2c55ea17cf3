/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one debugging object in a process of its own: a damaged one ends that process, not the report. */
#include "report/symbols/debug_objects.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process.h"

#define QUESTION_MAX (64u << 10)

struct known {
	struct sw_dwarf_object *object;
	enum sw_object_state state;
};

struct answer {
	char *at;
	size_t n;
};

int sw_worker_read(int fd, void *out, size_t bytes)
{
	for (char *p = out; bytes;) {
		const ssize_t n = read(fd, p, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		p += n;
		bytes -= (size_t)n;
	}
	return 1;
}

/* Sends all bytes; false: the other side has ended. */
int sw_worker_write(int fd, const void *data, size_t bytes)
{
	for (const char *p = data; bytes;) {
		const ssize_t n = send(fd, p, bytes, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		p += n;
		bytes -= (size_t)n;
	}
	return 1;
}

/* Lowers a limit, never raises it. */
static void lower_limit(int resource, rlim_t most)
{
	struct rlimit now;
	if (getrlimit(resource, &now) == 0 && (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > most)) {
		now.rlim_cur = most;
		setrlimit(resource, &now);
	}
}

/* Allows the worker so many more seconds of processor time.  The limit counts the whole time of a process: each
   question moves its end. */
static void allow_seconds(unsigned seconds)
{
	struct rusage used;
	struct rlimit now;
	if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &now))
		return;
	now.rlim_cur = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + 1 + seconds;
	if (now.rlim_max == RLIM_INFINITY || now.rlim_cur < now.rlim_max)
		setrlimit(RLIMIT_CPU, &now);
}

/* Appends a frame to the answer, unless it has become too long. */
static void add_place(void *arg, const struct sw_object_place *place)
{
	struct answer *answer = arg;
	const size_t symbol = place->symbol ? strlen(place->symbol) : 0, file = place->file ? strlen(place->file) : 0;
	struct sw_worker_place head = {.symbol_bytes = place->symbol ? (uint32_t)symbol : UINT32_MAX,
				       .file_bytes = place->file ? (uint32_t)file : UINT32_MAX,
				       .line = place->line,
				       .inlined = place->inlined};
	if (symbol > SW_WORKER_ANSWER_MAX || file > SW_WORKER_ANSWER_MAX ||
	    answer->n + sizeof head + symbol + file > SW_WORKER_ANSWER_MAX)
		return;
	char *p = mempcpy(answer->at + answer->n, &head, sizeof head);
	p = mempcpy(p, place->symbol ? place->symbol : "", symbol);
	p = mempcpy(p, place->file ? place->file : "", file);
	answer->n = (size_t)(p - answer->at);
}

/* Reads what follows a question and opens the object, if this is the first of it. */
static int open_object(int fd, const struct sw_worker_question *q, struct known *known)
{
	char path[QUESTION_MAX + 1];
	uint8_t id[QUESTION_MAX];
	if (q->path_bytes > QUESTION_MAX || q->build_id_bytes > sizeof id || !sw_worker_read(fd, path, q->path_bytes) ||
	    !sw_worker_read(fd, id, q->build_id_bytes))
		return 0;
	path[q->path_bytes] = 0;
	const struct sw_trace_module module = {
		.base = q->base, .path = path, .build_id = id, .build_id_bytes = q->build_id_bytes};
	if (q->path_bytes)
		known->object = sw_dwarf_open(&module, &known->state);
	return known->object != NULL;
}

/* In the worker: gives up all descriptors but `fd`, signal handlers and memory beyond `bytes`, and ends with its
   parent. */
static void confine_process(int fd, uint64_t bytes)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Handlers of the command, and what it ignores, are not ours. */
	for (int s = 1; s < 32; s++)
		signal(s, SIG_DFL);
	lower_limit(RLIMIT_CORE, 0);
	lower_limit(RLIMIT_DATA, (rlim_t)sw_process_data_bytes() + bytes);
	if (dup2(fd, 3) != 3 || syscall(SYS_close_range, 4, ~0u, 0))
		_exit(1);
}

/* The worker's loop: answers each question with the frames at an address; seconds, bytes: what it may use. */
_Noreturn void sw_worker_serve(int fd, unsigned seconds, uint64_t bytes, char *room)
{
	SW_VEC(struct known) all = {0};
	struct sw_worker_question q;
	struct answer answer = {.at = room};
	confine_process(fd, bytes);
	while (sw_worker_read(3, &q, sizeof q)) {
		allow_seconds(seconds);
		while (all.n <= q.number)
			*sw_vec_push(&all) = (struct known){0};
		struct known *known = &all.at[q.number];
		if (!open_object(3, &q, known))
			break;
		answer.n = 0;
		if (q.address)
			sw_dwarf_places(known->object, q.address, !(q.flags & SW_WORKER_NO_LINES), add_place, &answer);
		const struct sw_worker_answer head = {.state = known->state, .bytes = (uint32_t)answer.n};
		if (!sw_worker_write(3, &head, sizeof head) || !sw_worker_write(3, answer.at, answer.n))
			break;
	}
	_exit(0);
}
