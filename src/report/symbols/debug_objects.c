/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/debug_objects.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

#define SECONDS	   60		/* processor time of one question: gigabytes of debug information take some */
#define BYTES	   (8ull << 30) /* memory above what the report itself has */
#define BLOCKED_MS 120000	/* a worker that does not even compute waits for something that will not come */
#define DEATHS	   8		/* workers that may end before names are given up altogether */

struct sw_debug_object {
	const struct sw_trace_module *module;
	uint32_t number;
	uint64_t known_to; /* generation of the worker that knows it */
	char *trouble;
};

static struct {
	pid_t pid; /* 0: none runs */
	int fd;
	uint64_t generation;
	unsigned deaths, objects;
	uint32_t numbers;
	unsigned seconds;
	uint64_t bytes;
} worker = {.seconds = SECONDS, .bytes = BYTES};

void sw_object_limits(unsigned seconds, uint64_t bytes)
{
	worker.seconds = seconds;
	worker.bytes = bytes;
}

static bool start_worker(void)
{
	int pair[2];
	if (worker.pid)
		return true;
	if (worker.deaths >= DEATHS || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return false;
	/* For so much malloc puts all free memory in order.  In the worker each page that it writes to for that would
	   be copied: a tenth of a second after a run of 35000 launches. */
	char *answer = sw_alloc(SW_WORKER_ANSWER_MAX);
	const pid_t pid = fork();
	if (pid == 0)
		sw_worker_serve(pair[1], worker.seconds, worker.bytes, answer);
	free(answer);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return false;
	}
	worker.pid = pid;
	worker.fd = pair[0];
	worker.generation++;
	worker.numbers = 0;
	return true;
}

/* Ends the worker; how it ended by itself, malloc'ed. */
static char *stop_worker(bool by_force)
{
	int status = 0;
	close(worker.fd);
	if (by_force)
		kill(worker.pid, SIGKILL);
	while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR)
		continue;
	worker.pid = 0;
	if (by_force)
		return sw_strdup("it took too long");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return sw_strdup("it took too long");
	if (WIFSIGNALED(status))
		return sw_format("its reader was ended by signal %d", WTERMSIG(status));
	return sw_format("its reader ended with status %d", WEXITSTATUS(status));
}

static void give_up(struct sw_debug_object *object, bool by_force)
{
	free(object->trouble);
	object->trouble = stop_worker(by_force);
	worker.deaths++;
}

/* A worker that ended, or sent something, without a request: whose file did it is not known. */
static void bury_stray(void)
{
	struct pollfd readable = {.fd = worker.fd, .events = POLLIN};
	if (worker.pid && poll(&readable, 1, 0)) {
		free(stop_worker(true));
		worker.deaths++;
	}
}

static bool send_question(struct sw_debug_object *object, uint64_t address)
{
	const struct sw_trace_module *m = object->module;
	struct sw_worker_question q = {.address = address, .base = m->base};
	const bool first = object->known_to != worker.generation;
	if (first) {
		object->number = worker.numbers++;
		object->known_to = worker.generation;
		q.path_bytes = (uint32_t)strlen(m->path);
		q.build_id_bytes = m->build_id_bytes;
	}
	q.number = object->number;
	return sw_worker_write(worker.fd, &q, sizeof q) && sw_worker_write(worker.fd, m->path, q.path_bytes) &&
	       sw_worker_write(worker.fd, m->build_id, q.build_id_bytes);
}

/* Asks of an object; the places that follow the answer are in *text, malloc'ed.  False: nothing is known. */
static bool ask_worker(struct sw_debug_object *object, uint64_t address, struct sw_worker_answer *answer, char **text)
{
	if (object->trouble || !*object->module->path || strlen(object->module->path) > 4096)
		return false;
	bury_stray();
	if (!start_worker()) {
		object->trouble = sw_strdup("no process could be started to read it");
		return false;
	}
	struct pollfd readable = {.fd = worker.fd, .events = POLLIN};
	if (!send_question(object, address)) {
		give_up(object, false);
		return false;
	}
	if (poll(&readable, 1, BLOCKED_MS) == 0) {
		give_up(object, true);
		return false;
	}
	if (!sw_worker_read(worker.fd, answer, sizeof *answer) || answer->bytes > SW_WORKER_ANSWER_MAX) {
		give_up(object, false);
		return false;
	}
	*text = sw_alloc(answer->bytes + 1);
	if (sw_worker_read(worker.fd, *text, answer->bytes))
		return true;
	free(*text);
	give_up(object, false);
	return false;
}

struct sw_debug_object *sw_object_open(const struct sw_trace_module *module, enum sw_object_state *state)
{
	struct sw_debug_object *object = sw_calloc(1, sizeof *object);
	struct sw_worker_answer answer;
	char *text;
	object->module = module;
	worker.objects++;
	*state = SW_OBJECT_MISSING;
	if (ask_worker(object, 0, &answer, &text)) {
		*state = answer.state <= SW_OBJECT_CHANGED ? (enum sw_object_state)answer.state : SW_OBJECT_MISSING;
		free(text);
	}
	return object;
}

void sw_object_close(struct sw_debug_object *object)
{
	free(object->trouble);
	free(object);
	if (--worker.objects)
		return;
	if (worker.pid)
		free(stop_worker(false));
	worker.deaths = 0;
}

const char *sw_object_trouble(const struct sw_debug_object *object)
{
	return object->trouble;
}

/* Takes a string of an answer and moves on; false: the answer is no answer. */
static bool take_text(const char **at, const char *end, uint32_t bytes, char **out)
{
	*out = NULL;
	if (bytes == UINT32_MAX)
		return true;
	if (bytes > (size_t)(end - *at))
		return false;
	*out = sw_strndup(*at, bytes);
	*at += bytes;
	return true;
}

void sw_object_places(struct sw_debug_object *object, uint64_t address,
		      void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	struct sw_worker_answer answer;
	struct sw_worker_place head;
	char *text, *symbol, *file;
	if (!address || !ask_worker(object, address, &answer, &text))
		return;
	const char *at = text, *end = text + answer.bytes;
	while ((size_t)(end - at) >= sizeof head) {
		memcpy(&head, at, sizeof head);
		at += sizeof head;
		bool sound = take_text(&at, end, head.symbol_bytes, &symbol);
		file = NULL;
		sound = sound && take_text(&at, end, head.file_bytes, &file);
		if (sound)
			each(arg, &(struct sw_object_place){symbol, file, head.line, head.inlined != 0});
		free(symbol);
		free(file);
		if (!sound) {
			give_up(object, true);
			break;
		}
	}
	free(text);
}
