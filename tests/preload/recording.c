/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/recorder/options.h"

char test_directory[64];

__attribute__((noinline)) void fake_wait_around(uint64_t stream, void (*inside)(void))
{
	struct sw_call call;
	struct sw_rec_stream_wait *r;
	if (!sw_call_enter(&call, API_WAIT, SW_RF_RUNTIME, __builtin_frame_address(0))) {
		inside();
		return;
	}
	r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
	if (r)
		r->stream = stream;
	sw_call_publish(&call);
	inside();
	sw_call_leave(&call, 0);
}

__attribute__((noinline)) int fake_wait(uint64_t stream, int status)
{
	struct sw_call call;
	struct sw_rec_stream_wait *r;
	if (!sw_call_enter(&call, API_WAIT, SW_RF_RUNTIME, __builtin_frame_address(0)))
		return status;
	r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
	if (r)
		r->stream = stream;
	sw_call_publish(&call);
	sw_call_leave(&call, status);
	return status;
}

__attribute__((noinline)) void calls(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fake_wait(i, 0);
}

void fake_alloc(uint64_t address)
{
	struct sw_call call;
	struct sw_rec_alloc *r;
	if (!sw_call_enter(&call, API_ALLOC, 0, __builtin_frame_address(0)))
		return;
	r = sw_call_record_after(&call, SW_REC_ALLOC, sizeof *r, 0);
	if (r)
		r->address = address;
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
}

__attribute__((noinline)) void fake_sync(void (*inside)(void))
{
	struct sw_call call;
	struct sw_rec_sync *r;
	if (!sw_call_enter(&call, API_SYNC, SW_RF_BEGIN | SW_RF_SYNCHRONOUS, __builtin_frame_address(0))) {
		inside();
		return;
	}
	r = sw_call_record(&call, SW_REC_SYNC, sizeof *r);
	if (r)
		r->what = SW_SYNC_CONTEXT;
	sw_call_publish(&call);
	inside();
	sw_call_end(&call, 0);
}

void enter_directory(void)
{
	strcpy(test_directory, "/tmp/syncwatch-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(test_directory));
	ck_assert_int_eq(chdir(test_directory), 0);
}

void remove_directory(void)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", test_directory);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

static int stderr_to_file(void)
{
	int fd = open("stderr", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : dup2(fd, 2);
}

void record_as_self(const char *options, void (*body)(void))
{
	setenv("SYNCWATCH_OPTIONS", options, 1);
	if (stderr_to_file() < 0)
		abort();
	sw_options_start();
	body();
}

int record_as(const char *file, const char *options, void (*body)(void), void (*leave)(int))
{
	char value[1024];
	pid_t pid = fork();
	if (!pid) {
		snprintf(value, sizeof value, "trace=%s/%s:quiet:report=0%s%s", test_directory, file,
			 options ? ":" : "", options ? options : "");
		record_as_self(value, body);
		leave(0);
	}
	int status = 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

int record_in_child(const char *options, void (*body)(void), void (*leave)(int))
{
	return record_as("t.swt", options, body, leave);
}

void read_whole(struct trace *t, const char *path)
{
	ck_assert_msg(trace_read(t, path), "%s cannot be read", path);
	ck_assert_msg(!t->wrong, "%s: wrong %s", path, t->wrong);
}

const char *content_of(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	text[got > 0 ? got : 0] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}
