/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Awkward processes: `awkward NAME [N]`.  Each does what programs do with their descriptors, signals, limits and
 * threads, and prints what it sees; awkward.sh compares that with the same program under the recorder.
 */
#include <cuda.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static CUdeviceptr memory;
static char bytes[64];
static long count; /* N */

static void first_call(void)
{
	cuMemAlloc(&memory, 4096);
}

static void calls(long n)
{
	for (long i = 0; i < n; i++)
		cuMemcpyHtoD(memory, bytes, sizeof bytes);
}

#define SEVERAL_CHUNKS 60000

/* ---- what becomes of stderr -------------------------------------------------------------------------------------- */

static void closed_pipe(void)
{
	int p[2];
	signal(SIGPIPE, SIG_DFL);
	if (pipe(p))
		return;
	dup2(p[1], 2);
	close(p[0]);
	close(p[1]);
	first_call();
}

/* The program blocks the signal and has none waiting; afterwards it still has none. */
static void closed_pipe_blocked(void)
{
	sigset_t set, waiting;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	closed_pipe();
	sigpending(&waiting);
	printf("SIGPIPE waits: %d\n", sigismember(&waiting, SIGPIPE));
}

/* One of its own waits already. */
static void closed_pipe_waiting(void)
{
	sigset_t set, waiting;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	closed_pipe();
	sigpending(&waiting);
	printf("SIGPIPE waits: %d\n", sigismember(&waiting, SIGPIPE));
}

static void full(int end)
{
	char fill[4096] = {0};
	fcntl(end, F_SETFL, O_NONBLOCK);
	while (write(end, fill, sizeof fill) > 0)
		;
	while (write(end, fill, 1) > 0)
		;
	fcntl(end, F_SETFL, 0);
	dup2(end, 2);
}

static void full_pipe(void)
{
	int p[2];
	if (pipe(p))
		return;
	full(p[1]);
	alarm(60);
	first_call();
	printf("alarm left: %s\n", alarm(0) > 50 ? "most" : "little");
}

static void full_socket(void)
{
	int s[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return;
	full(s[1]);
	first_call();
}

static void closed_socket(void)
{
	int s[2];
	signal(SIGPIPE, SIG_DFL);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return;
	dup2(s[1], 2);
	close(s[0]);
	close(s[1]);
	first_call();
}

static void full_device(void)
{
	dup2(open("/dev/full", O_WRONLY), 2);
	first_call();
}

/* ---- RLIMIT_FSIZE ------------------------------------------------------------------------------------------------ */

static void limit_file(rlim_t most)
{
	struct rlimit r = {most, most};
	setrlimit(RLIMIT_FSIZE, &r);
}

static void no_file(void)
{
	limit_file(0);
	first_call();
	calls(10);
}

static void small_file(void)
{
	limit_file(4095);
	first_call();
	calls(10);
}

static void stderr_is_a_file(void)
{
	int fd = open("stderr-file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, 2);
	close(fd);
	no_file();
}

static void file_ends(void)
{
	first_call();
	limit_file(1);
	calls(SEVERAL_CHUNKS);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *one_call(void *unused)
{
	calls(1);
	return unused;
}

static void each_thread(void *(*body)(void *))
{
	first_call();
	for (long i = 0; i < count; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, body, NULL))
			abort();
		pthread_join(t, NULL);
	}
}

static void report_memory(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	fprintf(stderr, "maxrss %ld KB\n", u.ru_maxrss);
}

static void many_threads(void)
{
	each_thread(one_call);
	report_memory();
}

static pthread_key_t late_key;
static __thread int round_of_destructors;

/* Calls CUDA in the last round of destructors only: nothing of ours runs after it. */
static void late(void *value)
{
	if (++round_of_destructors < 4)
		pthread_setspecific(late_key, value);
	else
		calls(1);
}

static void *late_call(void *unused)
{
	calls(1);
	pthread_setspecific(late_key, bytes);
	return unused;
}

static void late_destructors(void)
{
	pthread_key_create(&late_key, late);
	each_thread(late_call);
	report_memory();
}

static void all_keys_taken(void)
{
	pthread_key_t key;
	while (!pthread_key_create(&key, NULL))
		;
	each_thread(one_call);
	report_memory();
}

static void many_handles(void)
{
	for (long i = 0; i < count; i++) {
		CUstream s;
		cuStreamCreate(&s, 0);
		cuStreamDestroy(s);
	}
	report_memory();
}

/* ------------------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"closed_pipe", closed_pipe},
	{"closed_pipe_blocked", closed_pipe_blocked},
	{"closed_pipe_waiting", closed_pipe_waiting},
	{"full_pipe", full_pipe},
	{"full_socket", full_socket},
	{"closed_socket", closed_socket},
	{"full_device", full_device},
	{"no_file", no_file},
	{"small_file", small_file},
	{"stderr_is_a_file", stderr_is_a_file},
	{"file_ends", file_ends},
	{"many_threads", many_threads},
	{"late_destructors", late_destructors},
	{"all_keys_taken", all_keys_taken},
	{"many_handles", many_handles},
};

int main(int argc, char **argv)
{
	count = argc > 2 ? atol(argv[2]) : 0;
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			puts("done");
			return 0;
		}
	return 2;
}
