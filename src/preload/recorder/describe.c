/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/describe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ARGUMENT_BYTES	32768u /* of a longer command line the rest is dropped */
#define BOOT_BYTES	36     /* of a UUID as text */
#define VARIABLES_BYTES 1024u  /* those that do not fit are left out */

void sw_describe_process(struct sw_writer *w, const char *directory)
{
	char exe[1024];
	int error;
	char *args = sw_sys_map(-1, 0, ARGUMENT_BYTES, &error);
	uint32_t args_bytes = 0, count = 0, dir_bytes = (uint32_t)strlen(directory);
	ssize_t exe_bytes = readlink("/proc/self/exe", exe, sizeof exe);
	int fd = args ? sw_sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0) : -1;
	if (fd >= 0) {
		long got;
		while (args_bytes < ARGUMENT_BYTES - 1 &&
		       (got = sw_sys_read(fd, args + args_bytes, ARGUMENT_BYTES - 1 - args_bytes)) > 0)
			args_bytes += (uint32_t)got;
		sw_sys_close(fd);
		if (args_bytes && args[args_bytes - 1])
			args_bytes++; /* cut off: the NUL is there, the mapping is zeroed */
		for (uint32_t i = 0; i < args_bytes; i++)
			count += !args[i];
	}
	uint32_t name_bytes = exe_bytes > 0 ? (uint32_t)exe_bytes : 0;
	struct sw_rec_process *r = (struct sw_rec_process *)sw_writer_describe(
		w, SW_REC_PROCESS, sizeof *r + name_bytes + dir_bytes + args_bytes, false);
	if (r) {
		char *p = (char *)(r + 1);
		r->exe_bytes = name_bytes;
		r->cwd_bytes = dir_bytes;
		r->args = count;
		r->args_bytes = args_bytes;
		p = mempcpy(p, exe, name_bytes);
		p = mempcpy(p, directory, dir_bytes);
		if (args_bytes)
			memcpy(p, args, args_bytes);
		sw_writer_commit(w);
	}
	if (args)
		sw_sys_unmap(args, ARGUMENT_BYTES);
}

static const char rank_variables[] =
#define SW_RANK_ROW(rank, size, job) rank "\0" size "\0" job "\0"
#define SW_RANK_OTHER(name)	     name "\0"
#include "base/ranks.def"
#undef SW_RANK_ROW
#undef SW_RANK_OTHER
	;

/* Fills in NAME=value, each with its NUL.  Returns how many. */
static uint32_t collect_variables(char *out, size_t room, uint32_t *bytes)
{
	uint32_t n = 0;
	*bytes = 0;
	for (const char *name = rank_variables; name < rank_variables + sizeof rank_variables - 1;
	     name += strlen(name) + 1) {
		const char *value = *name ? getenv(name) : NULL;
		const size_t name_bytes = strlen(name), need = value ? name_bytes + strlen(value) + 2 : 0;
		if (!value || need > room - *bytes)
			continue;
		char *p = mempcpy(out + *bytes, name, name_bytes);
		*p++ = '=';
		memcpy(p, value, need - name_bytes - 1);
		*bytes += (uint32_t)need;
		n++;
	}
	return n;
}

void sw_describe_environment(struct sw_writer *w)
{
	char boot[BOOT_BYTES], variables[VARIABLES_BYTES];
	struct utsname machine;
	uint32_t bytes;
	const int fd = sw_sys_open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0);
	const bool known = fd >= 0 && sw_sys_read(fd, boot, sizeof boot) == (long)sizeof boot;
	if (fd >= 0)
		sw_sys_close(fd);
	if (uname(&machine))
		machine.nodename[0] = 0;
	const uint32_t n = collect_variables(variables, sizeof variables, &bytes);
	const uint32_t boot_bytes = known ? BOOT_BYTES : 0, host_bytes = (uint32_t)strlen(machine.nodename);
	struct sw_rec_environment *r = (struct sw_rec_environment *)sw_writer_describe(
		w, SW_REC_ENVIRONMENT, sizeof *r + boot_bytes + host_bytes + bytes, false);
	if (!r)
		return;
	r->boot_bytes = boot_bytes;
	r->host_bytes = host_bytes;
	r->variables = n;
	r->variables_bytes = bytes;
	char *p = mempcpy(r + 1, boot, boot_bytes);
	p = mempcpy(p, machine.nodename, host_bytes);
	memcpy(p, variables, bytes);
	sw_writer_commit(w);
}

static void sum(uint32_t api, uint64_t *calls, uint64_t *failed)
{
	*calls = *failed = 0;
	for (const struct sw_writer *w = sw_writer_all(); w; w = w->next) {
		*calls += __atomic_load_n(&w->calls[api], __ATOMIC_RELAXED);
		*failed += __atomic_load_n(&w->failed[api], __ATOMIC_RELAXED);
	}
}

static void write_counts(struct sw_writer *w)
{
	uint64_t calls, failed;
	uint32_t entries = 0;
	for (uint32_t api = 0; api < SW_API_IDS; api++) {
		sum(api, &calls, &failed);
		entries += calls != 0;
	}
	struct sw_rec_counts *r = (struct sw_rec_counts *)sw_writer_describe(
		w, SW_REC_COUNTS, sizeof *r + entries * sizeof(struct sw_count), true);
	if (!r)
		return;
	struct sw_count *count = (struct sw_count *)(r + 1);
	for (uint32_t api = 0; api < SW_API_IDS && r->entries < entries; api++) {
		sum(api, &calls, &failed);
		if (calls)
			count[r->entries++] =
				(struct sw_count){.api = (uint16_t)api, .failed = (uint32_t)failed, .calls = calls};
	}
	sw_writer_commit(w);
}

void sw_describe_end(struct sw_writer *w)
{
	write_counts(w);
	struct sw_rec *end = sw_writer_describe(w, SW_REC_END, sizeof *end, true);
	if (end)
		sw_writer_commit(w);
}
