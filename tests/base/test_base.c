/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/trusted_file.h"
#include "../run_suite.h"

START_TEST(map_keeps_every_key_through_growth_and_deletion)
{
	struct sw_map map = {0};
	for (uint64_t k = 0; k < 5000; k++)
		*sw_map_put(&map, k * 64) = k + 1;
	for (uint64_t k = 0; k < 5000; k += 2)
		ck_assert(sw_map_delete(&map, k * 64));
	ck_assert(!sw_map_delete(&map, 0));
	for (uint64_t k = 0; k < 5000; k++)
		ck_assert_uint_eq(sw_map_get(&map, k * 64), k % 2 ? k + 1 : 0);
	ck_assert_uint_eq(map.n, 2500);
	size_t seen = 0;
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&map, i, &slot));)
		seen++;
	ck_assert_uint_eq(seen, 2500);
	sw_map_free(&map);
}
END_TEST

START_TEST(map_survives_churn_without_growing)
{
	struct sw_map map = {0};
	for (uint64_t k = 0; k < 100000; k++) {
		*sw_map_put(&map, k) = 1;
		if (k >= 10)
			ck_assert(sw_map_delete(&map, k - 10));
	}
	ck_assert_uint_le(map.room, 64);
	sw_map_free(&map);
}
END_TEST

START_TEST(crc32c_matches_the_standard_check_value)
{
	/* RFC 3720 appendix B.4 and the catalogue's check value. */
	unsigned char zeros[32] = {0};
	ck_assert_uint_eq(sw_crc32c(0, "123456789", 9), 0xe3069283u);
	ck_assert_uint_eq(sw_crc32c(0, zeros, sizeof zeros), 0x8a9136aau);
	ck_assert_uint_eq(sw_crc32c(sw_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
	ck_assert_uint_eq(sw_crc32c_portable(0, "123456789", 9), 0xe3069283u);
	unsigned char bytes[99];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 37);
	for (size_t n = 0; n < sizeof bytes; n++)
		ck_assert_uint_eq(sw_crc32c(7, bytes + n % 8, n - n % 8),
				  sw_crc32c_portable(7, bytes + n % 8, n - n % 8));
}
END_TEST

START_TEST(vectors_and_arenas_keep_their_content)
{
	SW_VEC(int) v = {0};
	struct sw_arena arena = {0};
	char *first = sw_arena_strndup(&arena, "hello world", 5);
	for (int i = 0; i < 100000; i++) {
		*sw_vec_push(&v) = i;
		if (i % 1000 == 0)
			sw_arena_alloc(&arena, 4096);
	}
	ck_assert_uint_eq(v.n, 100000);
	ck_assert_int_eq(v.at[77777], 77777);
	ck_assert_str_eq(first, "hello");
	free(v.at);
	sw_arena_free(&arena);
}
END_TEST

#define MIB ((size_t)1 << 20)

/* Are large pages asked for where it lies?  VmFlags "hg", proc(5). */
static bool in_large_pages(const void *address)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	char line[512];
	bool inside = false, asked = false;
	uintptr_t first, end;
	if (!maps)
		return false;
	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &first, &end) == 2)
			inside = (uintptr_t)address >= first && (uintptr_t)address < end;
		else if (inside && strncmp(line, "VmFlags:", 8) == 0)
			asked = strstr(line, " hg") != NULL;
	}
	fclose(maps);
	return asked;
}

/* Some kernels, and sandboxes, have none or do not tell. */
static bool large_pages_are_told(void)
{
	void *at = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool told = at != MAP_FAILED && madvise(at, 4 * MIB, MADV_HUGEPAGE) == 0 && in_large_pages(at);
	if (at != MAP_FAILED)
		munmap(at, 4 * MIB);
	return told;
}

/* The last of many small blocks, and one large block. */
static void ask_for_memory(struct sw_arena *arena, void **small, void **large)
{
	for (int i = 0; i < 1000; i++)
		*small = sw_arena_alloc(arena, 64 << 10);
	*large = sw_alloc(64 * MIB);
}

START_TEST(memory_is_in_large_pages_once_they_are_wanted)
{
	struct sw_arena arena = {0};
	void *small = NULL, *large = NULL;
	ask_for_memory(&arena, &small, &large);
	ck_assert(!in_large_pages(small));
	ck_assert(!in_large_pages(large));
	free(large);
	sw_arena_free(&arena);
	sw_memory_use_large_pages();
	ask_for_memory(&arena, &small, &large);
	ck_assert(in_large_pages(small));
	ck_assert(in_large_pages((char *)large + 4 * MIB));
	free(large);
	const void *end = sbrk(0);
	sw_arena_free(&arena);
	ck_assert_msg(sbrk(0) < end, "the heap does not shrink, so that nothing is shown of its growing again");
	ask_for_memory(&arena, &small, &large);
	ck_assert(in_large_pages(small));
	free(large);
	sw_arena_free(&arena);
}
END_TEST

START_TEST(rationed_memory_is_not_reserved)
{
	struct sw_arena arena = {0};
	void *small = NULL, *large = NULL;
	const struct rlimit ration = {1024 * MIB, 1024 * MIB};
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &ration), 0);
	sw_memory_use_large_pages();
	ask_for_memory(&arena, &small, &large);
	ck_assert(!in_large_pages(small));
	ck_assert(!in_large_pages(large));
	free(large);
	sw_arena_free(&arena);
}
END_TEST

/* 0, or what it was refused with. */
static int trusted(const char *path, uid_t also)
{
	struct sw_error error = {.code = 0};
	const int fd = sw_trusted_open(path, also, &error);
	if (fd < 0) {
		ck_assert_int_eq(error.code, fd);
		return fd;
	}
	ck_assert_int_gt(fd, STDERR_FILENO);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	return 0;
}

#define NOBODY	 ((uid_t)-1)
#define SOMEBODY 12345

/* In a folder of its own, which is the current one. */
START_TEST(files_are_trusted_by_what_was_opened)
{
	char folder[] = "/tmp/sw-trusted-XXXXXX", path[128];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	close(open("file", O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(mkdir("folder", 0700), 0);
	ck_assert_int_eq(rename("file", "folder/file"), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("folder/file", "link"), 0);
	ck_assert_int_eq(symlink("folder", "way"), 0);
	ck_assert_int_eq(symlink("../link", "folder/back"), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	snprintf(path, sizeof path, "%s/folder", folder);
	ck_assert_int_eq(symlink(path, "absolute"), 0);
	static const struct {
		const char *path;
		int rc;
	} ways[] = {{"folder/file", 0},
		    {"./folder//file", 0},
		    {"folder/../folder/file", 0},
		    {"link", 0},
		    {"way/file", 0},
		    {"way/back", 0},
		    {"absolute/file", 0},
		    {"none", -ENOENT},
		    {"none/file", -ENOENT},
		    {"folder/file/file", -ENOTDIR},
		    {"folder", -EISDIR},
		    {"way", -EISDIR},
		    {"way/", -EISDIR},
		    {"fifo", -EISDIR},
		    {"/dev/null", -EISDIR},
		    {"loop", -ELOOP}};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		ck_assert_msg(trusted(ways[i].path, NOBODY) == ways[i].rc, "%s: %d", ways[i].path,
			      trusted(ways[i].path, NOBODY));
	const int input = dup(STDIN_FILENO);
	close(STDIN_FILENO);
	ck_assert_int_eq(trusted("link", NOBODY), 0);
	if (input >= 0)
		dup2(input, STDIN_FILENO);
	if (geteuid() == 0) { /* else no file of another user can be made */
		ck_assert_int_eq(lchown("link", SOMEBODY, SOMEBODY), 0);
		ck_assert_int_eq(trusted("link", NOBODY), -EPERM);
		ck_assert_int_eq(trusted("way/back", NOBODY), -EPERM); /* by it */
		ck_assert_int_eq(trusted("link", SOMEBODY), 0);
		ck_assert_int_eq(lchown("absolute", SOMEBODY, SOMEBODY), 0);
		ck_assert_int_eq(trusted("absolute/file", NOBODY), -EPERM);
		ck_assert_int_eq(trusted("folder/file", NOBODY), 0);
		ck_assert_int_eq(chown("folder/file", SOMEBODY, SOMEBODY), 0);
		ck_assert_int_eq(trusted("folder/file", NOBODY), -EPERM);
		ck_assert_int_eq(trusted("way/file", SOMEBODY), 0);
	}
	ck_assert_int_eq(chdir("/"), 0);
	snprintf(path, sizeof path, "rm -r %s", folder);
	ck_assert_int_eq(system(path), 0);
}
END_TEST

/* Each byte counts, wherever the chains end, and so does the length. */
START_TEST(hashes_of_contents_differ)
{
	unsigned char content[100] = {0};
	for (size_t n = 0; n <= sizeof content; n++) {
		const uint64_t hash = sw_hash_content(content, n);
		ck_assert_uint_ne(hash, 0);
		ck_assert_uint_eq(hash, sw_hash_content(content, n));
		for (size_t less = 0; less < n; less++)
			ck_assert_uint_ne(hash, sw_hash_content(content, less));
		for (size_t at = 0; at < n; at++) {
			content[at] = 1;
			ck_assert_uint_ne(hash, sw_hash_content(content, n));
			content[at] = 0;
		}
	}
	/* Words that change places. */
	uint64_t words[8] = {1, 2, 3, 4, 5, 6, 7, 8}, other[8] = {5, 2, 3, 4, 1, 6, 7, 8},
		 third[8] = {2, 1, 3, 4, 5, 6, 7, 8};
	ck_assert_uint_ne(sw_hash_content(words, sizeof words), sw_hash_content(other, sizeof other));
	ck_assert_uint_ne(sw_hash_content(words, sizeof words), sw_hash_content(third, sizeof third));
}
END_TEST

START_TEST(counts_agree_with_their_words)
{
	const char *words = "{call|calls} of {one thread|threads} {was|were} lost";
	char text[64], cut[12];
	sw_counted(text, sizeof text, 1, words);
	ck_assert_str_eq(text, "1 call of one thread was lost");
	sw_counted(text, sizeof text, 2, words);
	ck_assert_str_eq(text, "2 calls of threads were lost");
	sw_counted(text, sizeof text, 0, words);
	ck_assert_str_eq(text, "0 calls of threads were lost");
	sw_counted(text, sizeof text, UINT64_MAX, "plain");
	ck_assert_str_eq(text, "18446744073709551615 plain");
	sw_counted(cut, sizeof cut, 2, words);
	ck_assert_str_eq(cut, "2 calls of ");
	sw_counted(cut, sizeof cut, UINT64_MAX, words);
	ck_assert_uint_lt(strlen(cut), sizeof cut);
}
END_TEST

START_TEST(errors_carry_code_and_text)
{
	struct sw_error e;
	ck_assert_int_eq(sw_fail(&e, -EINVAL, "bad %s", "thing"), -EINVAL);
	ck_assert_str_eq(e.text, "bad thing");
	ck_assert_int_eq(sw_fail(NULL, -1, "nobody listens"), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base");
	TCase *t = tcase_create("base");
	tcase_add_test(t, map_keeps_every_key_through_growth_and_deletion);
	tcase_add_test(t, map_survives_churn_without_growing);
	tcase_add_test(t, crc32c_matches_the_standard_check_value);
	tcase_add_test(t, vectors_and_arenas_keep_their_content);
	tcase_add_test(t, files_are_trusted_by_what_was_opened);
	tcase_add_test(t, hashes_of_contents_differ);
	tcase_add_test(t, errors_carry_code_and_text);
	tcase_add_test(t, counts_agree_with_their_words);
	/* A sanitizer's malloc has no heap. */
	if (!SANITIZED && large_pages_are_told())
		tcase_add_test(t, memory_is_in_large_pages_once_they_are_wanted);
	if (!SANITIZED)
		tcase_add_test(t, rationed_memory_is_not_reserved);
	suite_add_tcase(s, t);
	return run_suite(s);
}
