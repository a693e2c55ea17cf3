/* SPDX-License-Identifier: Apache-2.0 */
#include "accesses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/footprint.h"

static uint64_t key_of(const char *name, uint32_t tid, uint32_t number)
{
	return sw_hash_u64(sw_hash_bytes(SW_FNV_START, name, strlen(name)) ^ ((uint64_t)tid << 32 | number));
}

/* The last word, after `words` others. */
static const char *tail(const char *line, int words)
{
	while (words-- && line) {
		line = strchr(line, ' ');
		line += line != NULL;
	}
	return line;
}

static bool read_launch(struct seen *seen, const char *line)
{
	struct seen_launch l = {.first = seen->row.n};
	char state[16];
	const char *name = tail(line, 10);
	if (!name || sscanf(line,
			    "launch %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32
			    " %" SCNu32 " %15s",
			    &l.number, &l.tid, &l.grid[0], &l.grid[1], &l.grid[2], &l.block[0], &l.block[1],
			    &l.block[2], state) != 9)
		return false;
	l.dropped = strcmp(state, "dropped") == 0;
	l.watched = l.dropped || strcmp(state, "watched") == 0;
	l.name = sw_arena_strndup(&seen->arena, name, strlen(name));
	*sw_vec_push(&seen->launch) = l;
	*sw_map_put(&seen->index, key_of(l.name, l.tid, l.number)) = seen->launch.n;
	return true;
}

static bool read_rows(struct seen *seen, const char *line)
{
	struct seen_rows r = {0};
	char role;
	if (!seen->launch.n || sscanf(line, "%c %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &role, &r.address,
				      &r.width, &r.pitch, &r.rows) != 5)
		return false;
	r.role = role == 'w' ? SW_TOUCH_WRITE : role == 'a' ? SW_TOUCH_ATOMIC : SW_TOUCH_READ;
	r.copy = role == 'c';
	*sw_vec_push(&seen->row) = r;
	seen->launch.at[seen->launch.n - 1].rows++;
	return true;
}

static void read_line(struct seen *seen, const char *line)
{
	bool understood = true;
	if (strncmp(line, "launch ", 7) == 0)
		understood = read_launch(seen, line);
	else if (line[0] && strchr("rwac", line[0]) && line[1] == ' ')
		understood = read_rows(seen, line);
	else if (strncmp(line, "end ", 4) == 0)
		seen->ended = true;
	else if (strncmp(line, "note ", 5) != 0)
		understood = false; /* errors of the recorder among them */
	if (!understood) {
		seen->errors++;
		fprintf(stderr, "%.200s\n", line);
	}
}

int seen_read(const char *path, struct seen *out)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	*out = (struct seen){0};
	if (!in)
		return -errno;
	while ((n = getline(&line, &room, in)) > 0) {
		line[n - 1] = line[n - 1] == '\n' ? '\0' : line[n - 1];
		read_line(out, line);
	}
	free(line);
	fclose(in);
	return 0;
}

void seen_free(struct seen *seen)
{
	free(seen->launch.at);
	free(seen->row.at);
	sw_map_free(&seen->index);
	sw_arena_free(&seen->arena);
	*seen = (struct seen){0};
}

struct seen_launch *seen_find(const struct seen *seen, const char *name, uint32_t tid, uint32_t number)
{
	uint64_t at = sw_map_get(&seen->index, key_of(name, tid, number));
	struct seen_launch *l = at ? &seen->launch.at[at - 1] : NULL;
	return l && l->tid == tid && l->number == number && strcmp(l->name, name) == 0 ? l : NULL;
}
