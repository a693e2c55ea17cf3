/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "crash.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/signal_stack.h"

#define FRAMES 48

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
#define N_FATAL (sizeof fatal / sizeof fatal[0])

static char message[128], trace_path[1024];
static void (*clean_up)(void);
static volatile int end_status = -1;

/* Nothing below calls malloc, stdio or the loader, any of which may be what has failed. */
struct line {
	size_t n;
	char text[2048];
};

/* Appends text to the line; control characters become '?'. */
static void put_text(struct line *line, const char *text)
{
	for (; *text && line->n < sizeof line->text; text++)
		line->text[line->n++] = (unsigned char)*text < ' ' ? '?' : *text;
}

/* Appends a number. */
static void put_number(struct line *line, uint64_t number, unsigned base)
{
	char digits[24], *p = digits + sizeof digits - 1;
	*p = 0;
	do
		*--p = "0123456789abcdef"[number % base];
	while (number /= base);
	put_text(line, base == 16 ? "0x" : "");
	put_text(line, p);
}

/* Writes the line on standard error and empties it. */
static void end_line(struct line *line)
{
	if (line->n == sizeof line->text)
		line->n--;
	line->text[line->n++] = '\n';
	for (size_t done = 0; done < line->n;) {
		const ssize_t wrote = write(STDERR_FILENO, line->text + done, line->n - done);
		if (wrote <= 0)
			break;
		done += (size_t)wrote;
	}
	line->n = 0;
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

/* /proc/self/maps, line by line, from memory of the caller. */
struct maps {
	int fd;
	size_t n, at;
	char bytes[4096];
};

/* Reads a line of /proc/self/maps; one that is too long is cut.  False: no more lines. */
static bool next_line(struct maps *maps, char *line, size_t room)
{
	size_t n = 0;
	for (;;) {
		if (maps->at == maps->n) {
			const ssize_t got = read(maps->fd, maps->bytes, sizeof maps->bytes);
			if (got <= 0)
				return false;
			maps->n = (size_t)got;
			maps->at = 0;
		}
		const char c = maps->bytes[maps->at++];
		if (c == '\n')
			break;
		if (n + 1 < room)
			line[n++] = c;
	}
	line[n] = 0;
	return true;
}

/* Reads a hexadecimal number and moves on. */
static uint64_t read_hex(const char **p)
{
	uint64_t value = 0;
	for (; (**p >= '0' && **p <= '9') || (**p >= 'a' && **p <= 'f'); ++*p)
		value = value << 4 | (uint64_t)(**p <= '9' ? **p - '0' : **p - 'a' + 10);
	return value;
}

/* Finds the object that holds an address, and where its first mapping starts: offsets from there are the ones that it
   was linked with.  False: none.  Lines are "START-END MODE OFFSET DEVICE INODE PATH". */
static bool find_object(uintptr_t address, char *object, size_t room, uintptr_t *base)
{
	static struct maps maps;
	static char line[1280];
	bool found = false;
	maps = (struct maps){.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	object[0] = 0;
	while (!found && maps.fd >= 0 && next_line(&maps, line, sizeof line)) {
		const char *p = line, *path = strchr(line, '/');
		const uint64_t first = read_hex(&p);
		p++;
		const uint64_t last = read_hex(&p);
		if (!path)
			path = "";
		if (!*path || strcmp(path, object) != 0) {
			*base = first;
			strncpy(object, path, room - 1);
		}
		found = address >= first && address < last;
	}
	if (maps.fd >= 0)
		close(maps.fd);
	return found;
}

/* Appends an address as object and offset, where it lies in one. */
static void put_address(struct line *line, uintptr_t address)
{
	static char object[1024];
	uintptr_t base = 0;
	if (find_object(address, object, sizeof object, &base) && object[0]) {
		put_text(line, object);
		put_text(line, "+");
		put_number(line, address - base, 16);
	} else {
		put_number(line, address, 16);
	}
}

/* ---- the handler ------------------------------------------------------------------------------------------------- */

/* The name of the signal. */
static const char *name_of(int sig)
{
	return sig == SIGSEGV  ? "SIGSEGV"
	       : sig == SIGBUS ? "SIGBUS"
	       : sig == SIGILL ? "SIGILL"
	       : sig == SIGFPE ? "SIGFPE"
			       : "SIGABRT";
}

/* Prints what has failed. */
static void print_crash(int sig, const siginfo_t *info)
{
	static struct line line;
	put_text(&line, "syncwatch: syncwatch " PACKAGE_VERSION " itself has failed with ");
	put_text(&line, name_of(sig));
	/* A code above 0 is the kernel's; others come from processes, as abort() does. */
	put_text(&line, info->si_code > 0 ? " at address " : ", sent by process ");
	if (info->si_code > 0)
		put_number(&line, (uintptr_t)info->si_addr, 16);
	else
		put_number(&line, (uint64_t)info->si_pid, 10);
	put_text(&line, message[0] ? "; " : "");
	put_text(&line, message);
	put_text(&line, trace_path[0] ? ": " : "");
	put_text(&line, trace_path);
	end_line(&line);
}

/* Prints the call stack. */
static void put_frames(const ucontext_t *context)
{
	static struct line line;
	static void *frames[FRAMES];
	put_text(&line, "  at ");
	put_address(&line, sw_arch_instruction(context));
	end_line(&line);
	/* The first two are this function and the handler. */
	const int n = backtrace(frames, FRAMES);
	for (int i = 2; i < n; i++) {
		put_text(&line, "  by ");
		put_address(&line, (uintptr_t)frames[i]);
		end_line(&line);
	}
	put_text(&line, "syncwatch: please report these lines; 'addr2line -f -i -e OBJECT OFFSET' names their places");
	end_line(&line);
}

/* Prints where the command crashed and ends it.  The signal is as without a handler from here on (SA_RESETHAND): a
   second fault in here ends the process, after the line that matters most was written. */
static void handle_fault(int sig, siginfo_t *info, void *context)
{
	print_crash(sig, info);
	put_frames(context);
	if (clean_up)
		clean_up();
	if (end_status >= 0)
		_exit(end_status);
	raise(sig); /* pending until the handler returns, to where it failed: a core dump shows that place */
}

/* From here on a crash ends the process with this status. */
void sw_crash_status(int status)
{
	end_status = status;
}

/* From here on a crash prints a message and calls `clean`. */
void sw_crash_watch(void (*clean)(void))
{
	clean_up = clean;
#ifdef SW_BASE_SANITIZED
	return;
#endif
	void *primed[1];
	if (!sw_signal_stack_begin())
		return;
	backtrace(primed, 1); /* loads the unwinder, which cannot be loaded in a handler */
	for (size_t i = 0; i < N_FATAL; i++) {
		struct sigaction action = {.sa_sigaction = handle_fault,
					   .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND},
				 before;
		if (!sigaction(fatal[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(fatal[i], &action, NULL);
	}
}

/* Lets a crash end the process as without us: before another program is started. */
void sw_crash_ignore(void)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	struct sigaction now;
	for (size_t i = 0; i < N_FATAL; i++)
		if (!sigaction(fatal[i], NULL, &now) && now.sa_flags & SA_SIGINFO && now.sa_sigaction == handle_fault)
			sigaction(fatal[i], &standard, NULL);
}

/* Sets what the message of a crash will say of the trace at this path; NULL: nothing. */
void sw_crash_note(const char *note, const char *path)
{
	memset(message, 0, sizeof message);
	if (note)
		strncpy(message, note, sizeof message - 1);
	memset(trace_path, 0, sizeof trace_path);
	if (path)
		strncpy(trace_path, path, sizeof trace_path - 1);
}
