/* SPDX-License-Identifier: Apache-2.0 */
#include "traces.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "syncwatch/format.h"

/* Is `name` "STEM.swt" or "STEM-N.swt", given "STEM.swt"? */
static bool is_name(const char *name, const char *first)
{
	size_t stem = strlen(first);
	const char *suffix = "";
	if (stem > 4 && strcmp(first + stem - 4, ".swt") == 0) {
		stem -= 4;
		suffix = first + stem;
	}
	if (strncmp(name, first, stem) != 0)
		return false;
	name += stem;
	if (*name == '-' && strspn(name + 1, "0123456789") > 0)
		name += 1 + strspn(name + 1, "0123456789");
	return strcmp(name, suffix) == 0;
}

static bool read_header(const char *path, struct sw_file_header *header)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool whole = read(fd, header, sizeof *header) == (ssize_t)sizeof *header;
	close(fd);
	return whole && memcmp(header->magic, SW_FORMAT_MAGIC, sizeof header->magic) == 0;
}

static int by_start(const void *a, const void *b)
{
	const struct sw_made_trace *x = a, *y = b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

void sw_traces_find(struct sw_made_traces *traces, const char *path, uint64_t since_ns)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? sw_strndup(path, (size_t)(slash - path) + 1) : sw_strdup("./");
	DIR *directory = opendir(folder);
	struct dirent *entry;
	*traces = (struct sw_made_traces){0};
	while (directory && (entry = readdir(directory))) {
		struct sw_file_header header;
		if (!is_name(entry->d_name, slash ? slash + 1 : path))
			continue;
		char *found = sw_format("%s%s", folder, entry->d_name);
		if (read_header(found, &header) && header.start_realtime_ns >= since_ns)
			*sw_vec_push(&traces->at) = (struct sw_made_trace){found, header.pid, header.start_realtime_ns};
		else
			free(found);
	}
	if (directory)
		closedir(directory);
	free(folder);
	if (traces->at.n)
		qsort(traces->at.at, traces->at.n, sizeof *traces->at.at, by_start);
}

void sw_traces_free(struct sw_made_traces *traces)
{
	for (size_t i = 0; i < traces->at.n; i++)
		free(traces->at.at[i].path);
	free(traces->at.at);
	*traces = (struct sw_made_traces){0};
}
