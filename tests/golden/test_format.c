/* SPDX-License-Identifier: Apache-2.0 */
/* The format is what format.def says it was, and format.def has all of it: traces outlive the code that wrote them. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syncwatch/format.h"

static unsigned passed, failed;

static void expect(const char *what, const char *name, size_t is, size_t was)
{
	if (is == was) {
		passed++;
		return;
	}
	failed++;
	printf("FAIL: %s %s: is %zu, was %zu\n", what, name, is, was);
}

/* Every byte of a structure belongs to a member that is listed, so that none can be added or removed unnoticed. */
static size_t covered;

static void kinds(void)
{
	unsigned listed = 0, there = 0;
#define KIND(name, value) expect("value of kind", #name, SW_REC_##name, value), listed++;
#define STRUCT(name, bytes)
#define MEMBER(structure, name, offset, bytes)
#include "golden/format.def"
#undef KIND
#undef STRUCT
#undef MEMBER
#define COUNT(name, value, type, text) there++;
	SW_RECORDS(COUNT)
#undef COUNT
	expect("number of", "kinds", there, listed);
}

static void structures(void)
{
	size_t whole = 0;
	const char *structure = NULL;
#define KIND(name, value)
#define STRUCT(name, bytes)                                                                                            \
	if (structure)                                                                                                 \
		expect("bytes of the members of", structure, covered, whole);                                          \
	expect("bytes of", #name, sizeof(struct name), bytes);                                                         \
	structure = #name;                                                                                             \
	whole = bytes;                                                                                                 \
	covered = 0;
#define MEMBER(structure, name, offset, bytes)                                                                         \
	expect("offset of", #structure "." #name, offsetof(struct structure, name), offset);                           \
	expect("bytes of", #structure "." #name, sizeof(((struct structure *)0)->name), bytes);                        \
	expect("end before", #structure "." #name, covered, offset);                                                   \
	covered = (offset) + (bytes);
#include "golden/format.def"
#undef KIND
#undef STRUCT
#undef MEMBER
	expect("bytes of the members of", structure, covered, whole);
}

static int listed(const char *name)
{
	static const char *const names[] = {
#define KIND(name, value)
#define STRUCT(name, bytes) #name,
#define MEMBER(structure, name, offset, bytes)
#include "golden/format.def"
#undef KIND
#undef STRUCT
#undef MEMBER
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return 1;
	return 0;
}

/* Structures that a header of the format defines: each must be listed. */
static void nothing_else(const char *header)
{
	const char *top = getenv("top_srcdir");
	char path[4096], line[512], name[128];
	unsigned found = 0;
	snprintf(path, sizeof path, "%s/include/syncwatch/%s", top ? top : ".", header);
	FILE *f = fopen(path, "r");
	if (!f) {
		perror(path);
		exit(99);
	}
	while (fgets(line, sizeof line, f)) {
		char brace = 0;
		if (sscanf(line, "struct %127[a-z0-9_] %c", name, &brace) != 2 || brace != '{')
			continue;
		found++;
		expect("listed:", name, (size_t)listed(name), 1);
	}
	fclose(f);
	expect("found any", "structure", found > 0, 1);
}

int main(void)
{
	kinds();
	structures();
	nothing_else("format_file.h");
	nothing_else("format_descriptions.h");
	nothing_else("format_libraries.h");
	nothing_else("format_operations.h");
	printf("%u passed, %u failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
