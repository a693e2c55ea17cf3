/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/cell.h"
#include "clock.h"
#include "crash.h"

/* Messages that the child writes into the pipe: a head, then a row each; `error` ends it. */
struct message {
	enum { HEAD, ROW, FAILED } what;
	char gpu[256], driver_text[128];
	int driver;
	bool simulated;
	struct sw_behaviour_row row;
	struct sw_error error;
};

/* ---- in the child ------------------------------------------------------------------------------------------------ */

/* Sends a message to the parent. */
static void send_message(int fd, const struct message *message)
{
	/* A parent that has ended needs nothing. */
	if (write(fd, message, sizeof *message) != (ssize_t)sizeof *message)
		_exit(1);
}

/* Finds the version of the driver, the word with a point in it of "NVRM version: NVIDIA UNIX x86_64 Kernel Module
   580.159.04 ..."; "" unknown. */
static void driver_text(char *out, size_t room)
{
	char line[512], *at = line, *word;
	FILE *file = fopen("/proc/driver/nvidia/version", "re");
	*out = 0;
	if (!file)
		return;
	if (fgets(line, sizeof line, file))
		while ((word = strsep(&at, " \t\n")))
			if (*word >= '0' && *word <= '9' && strchr(word, '.')) {
				snprintf(out, room, "%s", word);
				break;
			}
	fclose(file);
}

/* Sends the names of GPU and driver. */
static void send_head(int fd, struct sw_bench *b)
{
	struct message message = {.what = HEAD, .simulated = b->d.simulated_finish != NULL};
	b->d.cuDriverGetVersion(&message.driver);
	if (b->d.cuDeviceGetName(message.gpu, sizeof message.gpu, b->device) || !message.gpu[0])
		strcpy(message.gpu, "unknown");
	message.gpu[strcspn(message.gpu, "\t\n")] = 0;
	if (!message.simulated)
		driver_text(message.driver_text, sizeof message.driver_text);
	send_message(fd, &message);
}

/* Measures all cells of a row and sends them.  A row that fails says nothing: the driver may lack it. */
static void measure_row(int fd, struct sw_bench *b, const struct sw_row *row)
{
	struct message message = {.what = ROW};
	CUresult rc = sw_cell_idle(b, row, &message.row.idle_ns);
	snprintf(message.row.name, sizeof message.row.name, "%s", row->name);
	if (rc)
		message.row.idle_ns = 0;
	for (int s = 0; s < SW_SPINNERS; s++) {
		if (!rc)
			rc = sw_cell_measure(b, row, (enum sw_spinner)s, message.row.idle_ns, &message.row.waits[s]);
		if (rc)
			message.row.waits[s] = (struct sw_waits){'-', '-', '-', 0};
	}
	send_message(fd, &message);
	sw_bench_stop(b);
	b->d.cuCtxSynchronize();
}

/* In the child: measures the rows after `first`, up to the end of their group. */
static void measure_cells(int fd, size_t first, const char *driver)
{
	static struct sw_bench bench;
	struct message failed = {.what = FAILED};
	if (sw_bench_open(&bench, driver, &failed.error)) {
		send_message(fd, &failed);
		return;
	}
	send_head(fd, &bench);
	for (size_t i = first + 1; i < sw_rows_n && sw_rows[i].name; i++)
		measure_row(fd, &bench, &sw_rows[i]);
}

/* ---- in the parent ----------------------------------------------------------------------------------------------- */

/* Receives a whole message within the time that is left: 1, 0 at the end, -ETIME. */
static int receive_message(int fd, struct message *message, uint64_t until)
{
	size_t n = 0;
	while (n < sizeof *message) {
		uint64_t now = sw_now_ns();
		struct pollfd poller = {.fd = fd, .events = POLLIN};
		int ready = now < until ? poll(&poller, 1, (int)((until - now) / 1000000 + 1)) : 0;
		if (ready == 0)
			return -ETIME;
		ssize_t got = ready > 0 ? read(fd, (char *)message + n, sizeof *message - n) : -1;
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return 0;
		n += got > 0 ? (size_t)got : 0;
	}
	return 1;
}

/* Takes a message of the child into the table. */
static int take_message(struct sw_behaviour *table, const struct message *message, struct sw_error *error)
{
	switch (message->what) {
	case HEAD:
		memcpy(table->gpu, message->gpu, sizeof table->gpu);
		memcpy(table->driver_text, message->driver_text, sizeof table->driver_text);
		table->driver = (uint32_t)message->driver;
		table->simulated = message->simulated;
		return 0;
	case ROW:
		*sw_vec_push(&table->rows) = message->row;
		return 0;
	case FAILED:
		break;
	}
	return sw_fail(error, message->error.code, "%s", message->error.text);
}

/* Collects the rows of a child that measures; one that takes too long is killed. */
static int collect_rows(struct sw_behaviour *table, int fd, pid_t child, const char *group, struct sw_error *error)
{
	static struct message message;
	uint64_t until = sw_now_ns() + SW_CALIBRATE_LIMIT_S * 1000000000ull;
	int rc = 0, more = 1, status = 0;
	while (!rc && (more = receive_message(fd, &message, until)) == 1)
		rc = take_message(table, &message, error);
	if (more < 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (more < 0)
		return sw_fail(error, -ETIME, "%s: stopped after %d s: what was not measured by then is missing", group,
			       SW_CALIBRATE_LIMIT_S);
	if (!rc && WIFSIGNALED(status))
		return sw_fail(error, -ECHILD, "%s: ended by signal %d: what was not measured by then is missing",
			       group, WTERMSIG(status));
	if (!rc && WEXITSTATUS(status))
		return sw_fail(error, -ECHILD, "%s: ended with status %d: what was not measured by then is missing",
			       group, WEXITSTATUS(status));
	return rc;
}

/* Measures a group of rows in a process of its own: a call may leave the driver unusable. */
int sw_measure_group(struct sw_behaviour *table, size_t first, const char *driver, struct sw_error *error)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return sw_fail(error, -errno, "no pipe: %s", strerror(errno));
	pid_t child = fork();
	if (child < 0) {
		int code = errno;
		close(ends[0]);
		close(ends[1]);
		return sw_fail(error, -code, "no child process: %s", strerror(code));
	}
	if (child == 0) {
		sw_crash_ignore();
		close(ends[0]);
		measure_cells(ends[1], first, driver);
		_exit(0); /* not exit(): what the parent has buffered is not ours to write */
	}
	close(ends[1]);
	int rc = collect_rows(table, ends[0], child, sw_rows[first].group, error);
	close(ends[0]);
	return rc;
}
