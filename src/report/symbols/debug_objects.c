/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/debug_objects.h"

#include <errno.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"

#define SECONDS	   60		/* processor time of one question: gigabytes of debug information take some */
#define BYTES	   (8ull << 30) /* memory above what the report itself has */
#define BLOCKED_MS 120000	/* a worker that does not even compute waits for something that will not come */
#define DEATHS	   8		/* workers that may end before names are given up altogether */
#define AHEAD	   128		/* questions that wait in the socket at most: it holds more than these */

struct sw_debug_object {
	const struct sw_trace_module *module;
	uint32_t number;
	uint64_t known_to; /* generation of the worker that knows it */
	char *trouble;
};

/* A file that was asked of: the worker has it open under this number. */
struct asked_file {
	char *path;
	void *build_id;
	uint32_t build_id_bytes, number;
	uint64_t base;
	bool answered;
	uint32_t state; /* by the last answer */
};

/* A question that was asked ahead, and its answer. */
struct ahead_place {
	uint64_t address;
	uint32_t number;
	struct sw_worker_answer answer;
	char *text;
};

static struct {
	pid_t pid; /* 0: none runs */
	int fd;
	uint64_t generation;
	unsigned deaths, objects; /* an object, too, while questions are asked ahead */
	uint32_t numbers;
	unsigned seconds;
	uint64_t bytes;
	/* The rest is forgotten with the worker. */
	struct sw_map asked; /* addresses that were asked of ahead */
	SW_VEC(struct asked_file) files;
	SW_VEC(struct ahead_place) waiting; /* for their answers, which come in this order */
	struct sw_map answered;		    /* place_key() -> struct ahead_place, until it is asked of again */
} worker = {.seconds = SECONDS, .bytes = BYTES};

void sw_object_limits(unsigned seconds, uint64_t bytes)
{
	worker.seconds = seconds;
	worker.bytes = bytes;
}

static void free_place(struct ahead_place *place)
{
	if (place)
		free(place->text);
	free(place);
}

/* Forgets which files the worker was asked of, and what was asked ahead, i.e. before names are needed. */
static void forget_files(void)
{
	for (size_t i = 0; i < worker.files.n; i++) {
		free(worker.files.at[i].path);
		free(worker.files.at[i].build_id);
	}
	struct sw_map_slot slot;
	for (size_t at = 0; (at = sw_map_next(&worker.answered, at, &slot));)
		free_place((struct ahead_place *)(uintptr_t)slot.value);
	free(worker.files.at);
	free(worker.waiting.at);
	memset(&worker.files, 0, sizeof worker.files);
	memset(&worker.waiting, 0, sizeof worker.waiting);
	sw_map_free(&worker.asked);
	sw_map_free(&worker.answered);
}

/* Starts the process that reads debug information for this one, unless it runs; false: it cannot, or has died too
   often. */
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
	forget_files();
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

/* Ends the worker over this object, which gets no names; by_force: it is still running and must be killed. */
static void give_up(struct sw_debug_object *object, bool by_force)
{
	free(object->trouble);
	object->trouble = stop_worker(by_force);
	worker.deaths++;
}

/* Ends a worker that ended, or sent something, without a request: whose file did it is not known. */
static void bury_stray(void)
{
	struct pollfd readable = {.fd = worker.fd, .events = POLLIN};
	if (worker.pid && poll(&readable, 1, 0)) {
		free(stop_worker(true));
		worker.deaths++;
	}
}

/* Can the path be one of a file, for all that a damaged trace may say? */
static bool is_usable_path(const char *path)
{
	return *path && strlen(path) <= 4096;
}

/* Are the lines of this object read?  Not of libraries that the user did not write and cannot change: their debug
   information, where it is installed, is compressed and takes 30 ms. */
static bool wants_lines(const char *path)
{
	static const char *const files[] = {"libc.so*", "ld-linux*.so*", "libcuda.so*", "libsyncwatch*.so*"};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (fnmatch(files[i], name, 0) == 0)
			return false;
	return true;
}

/* The file of this module among those that the worker was asked of; NULL: it is none of them. */
static struct asked_file *find_file(const struct sw_trace_module *m)
{
	for (size_t i = 0; i < worker.files.n; i++) {
		struct asked_file *file = &worker.files.at[i];
		if (file->base == m->base && file->build_id_bytes == m->build_id_bytes &&
		    !strcmp(file->path, m->path) &&
		    (!m->build_id_bytes || !memcmp(file->build_id, m->build_id, m->build_id_bytes)))
			return file;
	}
	return NULL;
}

/* Notes which file has the next number, which the worker was told. */
static void add_file(const struct sw_trace_module *m)
{
	struct asked_file *file = sw_vec_push(&worker.files);
	*file = (struct asked_file){.path = sw_strdup(m->path),
				    .build_id = sw_alloc(m->build_id_bytes + 1),
				    .build_id_bytes = m->build_id_bytes,
				    .number = worker.numbers++,
				    .base = m->base};
	if (m->build_id_bytes)
		memcpy(file->build_id, m->build_id, m->build_id_bytes);
}

/* Asks the worker for the frames at an address of module `number`.  first: the worker has not been told which file that
   is.  wait: false where the question is dropped rather than waited for room in the socket. */
static bool send_question(const struct sw_trace_module *m, uint32_t number, bool first, uint64_t address, bool wait)
{
	const struct sw_worker_question q = {.address = address,
					     .base = m->base,
					     .number = number,
					     .path_bytes = first ? (uint32_t)strlen(m->path) : 0,
					     .build_id_bytes = first ? m->build_id_bytes : 0,
					     .flags = wants_lines(m->path) ? 0 : SW_WORKER_NO_LINES};
	const size_t bytes = sizeof q + q.path_bytes + q.build_id_bytes;
	char *all = sw_alloc(bytes), *id = mempcpy(mempcpy(all, &q, sizeof q), m->path, q.path_bytes);
	if (q.build_id_bytes)
		memcpy(id, m->build_id, q.build_id_bytes);
	const ssize_t sent = wait ? 0 : send(worker.fd, all, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
	const bool done = sent >= 0 && sw_worker_write(worker.fd, all + sent, bytes - (size_t)sent);
	free(all);
	return done;
}

/* Asks the worker for the frames at an address of the object, whose file it may know from questions asked ahead. False:
   it is gone. */
static bool send_question_of(struct sw_debug_object *object, uint64_t address)
{
	const bool known = object->known_to == worker.generation;
	const struct asked_file *file = known ? NULL : find_file(object->module);
	if (!known)
		object->number = file ? file->number : worker.numbers;
	object->known_to = worker.generation;
	const bool first = !known && !file, sent = send_question(object->module, object->number, first, address, true);
	if (first)
		add_file(object->module);
	return sent;
}

enum taken { TAKEN, TAKEN_LATE, TAKEN_NOTHING };

/* Takes the next answer; *text, malloc'ed, has the places that follow it. */
static enum taken take_answer(struct sw_worker_answer *answer, char **text)
{
	struct pollfd readable = {.fd = worker.fd, .events = POLLIN};
	if (poll(&readable, 1, BLOCKED_MS) == 0)
		return TAKEN_LATE;
	if (!sw_worker_read(worker.fd, answer, sizeof *answer) || answer->bytes > SW_WORKER_ANSWER_MAX)
		return TAKEN_NOTHING;
	*text = sw_alloc(answer->bytes + 1);
	if (sw_worker_read(worker.fd, *text, answer->bytes))
		return TAKEN;
	free(*text);
	return TAKEN_NOTHING;
}

/* A key for an address of the file with this number. */
static uint64_t place_key(uint32_t number, uint64_t address)
{
	return sw_hash_u64(address) ^ sw_hash_u64(number + 1ull);
}

/* Keeps an answer of the worker until the place is asked for, in place of an older one. */
static void keep_answer(const struct ahead_place *place)
{
	const uint64_t key = place_key(place->number, place->address);
	struct ahead_place *kept = sw_alloc(sizeof *kept);
	*kept = *place;
	free_place(sw_map_ptr(&worker.answered, key));
	sw_map_put_ptr(&worker.answered, key, kept);
	for (size_t i = 0; i < worker.files.n; i++)
		if (worker.files.at[i].number == place->number) {
			worker.files.at[i].answered = true;
			worker.files.at[i].state = place->answer.state;
		}
}

/* Takes the answers to what was asked ahead.  A worker that ended over one is buried: whose file it was, is found when
   that file is asked of again. */
static void take_ahead(void)
{
	for (size_t i = 0; worker.pid && i < worker.waiting.n; i++) {
		struct ahead_place *place = &worker.waiting.at[i];
		if (take_answer(&place->answer, &place->text) == TAKEN) {
			keep_answer(place);
		} else {
			free(stop_worker(true));
			worker.deaths++;
		}
	}
	worker.waiting.n = 0;
}

/* Was it answered before it was asked? */
static bool find_answer(struct sw_debug_object *object, uint64_t address, struct sw_worker_answer *answer, char **text)
{
	const bool known = object->known_to == worker.generation;
	const struct asked_file *file = known ? NULL : find_file(object->module);
	if (!worker.pid || (!known && !file))
		return false;
	object->number = known ? object->number : file->number;
	object->known_to = worker.generation;
	if (!address && file && file->answered) {
		*answer = (struct sw_worker_answer){.state = file->state};
		*text = sw_strdup("");
		return true;
	}
	const uint64_t key = place_key(object->number, address);
	struct ahead_place *place = sw_map_ptr(&worker.answered, key);
	if (!place || place->number != object->number || place->address != address)
		return false;
	sw_map_delete(&worker.answered, key);
	*answer = place->answer;
	*text = place->text;
	free(place);
	return true;
}

/* Asks the worker about an address of the object; the places that follow the answer are in text, malloc'ed.  False:
   nothing is known. */
static bool ask_worker(struct sw_debug_object *object, uint64_t address, struct sw_worker_answer *answer, char **text)
{
	if (object->trouble || !is_usable_path(object->module->path))
		return false;
	take_ahead();
	if (find_answer(object, address, answer, text))
		return true;
	bury_stray();
	if (!start_worker()) {
		object->trouble = sw_strdup("no process could be started to read it");
		return false;
	}
	const enum taken taken = send_question_of(object, address) ? take_answer(answer, text) : TAKEN_NOTHING;
	if (taken != TAKEN)
		give_up(object, taken == TAKEN_LATE);
	return taken == TAKEN;
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

/* Counts one object less: with the last one the worker ends. */
static void drop_object(void)
{
	if (--worker.objects)
		return;
	if (worker.pid)
		free(stop_worker(worker.waiting.n > 0));
	forget_files();
	worker.deaths = 0;
}

/* Forgets the object; the worker ends with the last one. */
void sw_object_close(struct sw_debug_object *object)
{
	free(object->trouble);
	free(object);
	drop_object();
}

void sw_object_ahead_begin(void)
{
	worker.objects++;
	start_worker();
}

void sw_object_ahead(const struct sw_trace_module *module, uint64_t address)
{
	if (!worker.pid || worker.waiting.n >= AHEAD || !is_usable_path(module->path) ||
	    sw_map_get(&worker.asked, sw_hash_u64(address)))
		return;
	const struct asked_file *known = find_file(module);
	const uint32_t number = known ? known->number : worker.numbers;
	if (!send_question(module, number, !known, address, false))
		return;
	if (!known)
		add_file(module);
	*sw_map_put(&worker.asked, sw_hash_u64(address)) = 1;
	*sw_vec_push(&worker.waiting) = (struct ahead_place){.address = address, .number = number};
}

void sw_object_ahead_end(void)
{
	drop_object();
}

const char *sw_object_trouble(const struct sw_debug_object *object)
{
	return object->trouble;
}

/* Takes a string of an answer and moves on; false: the answer is malformed. */
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
