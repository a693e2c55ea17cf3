/* SPDX-License-Identifier: Apache-2.0 */
/* Footprints on disk: other runs find them, and nothing that happens to the files makes a wrong one. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "footprint/kernel/store/disk_store.h"
#include "../run_suite.h"

static char folder[64], cache[80];
static struct fake_image image;

static void start(void)
{
	fake_reset();
	strcpy(folder, "/tmp/syncwatch-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(cache, sizeof cache, "%s/a/b", folder);
	fake_block(&image);
	fake_entry(&image, FAKE_PTX, 90, 0, "k l wild0 wild1 wild2 wild3");
	fake_entry(&image, FAKE_ELF, 90, 0, "k l wild0 wild1 wild2 wild3");
}

static void stop(void)
{
	char *command = sw_format("rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
	free(command);
	fake_free(&image);
}

/* Paths of the files in the cache; the number of them. */
static size_t files(char path[][160], size_t room)
{
	DIR *dir = opendir(cache);
	struct dirent *e;
	size_t n = 0;
	while (dir && (e = readdir(dir)))
		if (*e->d_name != '.' && n < room)
			snprintf(path[n++], 160, "%s/%.70s", cache, e->d_name);
	if (dir)
		closedir(dir);
	return n;
}

static struct sw_footprint_library_totals ask(const char *where, uint64_t hash, uint32_t arch, const char *kernel,
					      bool readable)
{
	struct sw_footprint_library *l = sw_footprint_library_open(where, 1);
	struct sw_footprint_image named = fake_named(&image, 1, hash);
	const struct sw_footprint_entry *e = sw_footprint_library_get(l, &named, arch, kernel);
	struct sw_footprint_library_totals t = sw_footprint_library_totals(l);
	ck_assert_uint_eq(e->footprint != NULL, readable);
	if (readable) {
		ck_assert_uint_eq(e->footprint->source, SW_SOURCE_PTX);
		ck_assert_uint_eq(e->arch, 90);
		ck_assert(e->ran);
	} else {
		ck_assert_str_eq(e->why, "no kernel of this name in the image");
	}
	sw_footprint_library_close(l);
	return t;
}

START_TEST(the_next_run_finds_it)
{
	char path[4][160];
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).analysed, 1);
	ck_assert_uint_eq(image.asked, 1);
	struct sw_footprint_library_totals t = ask(cache, 7, 90, "k", true);
	ck_assert_uint_eq(t.cached, 1);
	ck_assert_uint_eq(t.analysed, 0);
	ck_assert_uint_eq(image.asked, 1); /* the image was not even read */
	/* A kernel that is absent stays absent. */
	ck_assert_uint_eq(ask(cache, 7, 90, "absent", false).cached, 0);
	t = ask(cache, 7, 90, "absent", false);
	ck_assert_uint_eq(t.cached, 1);
	ck_assert_uint_eq(t.unreadable, 1);
	/* Later ones join earlier ones. */
	ck_assert_uint_eq(ask(cache, 7, 90, "l", true).analysed, 1);
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).cached, 1);
	ck_assert_uint_eq(files(path, 4), 1);
}
END_TEST

START_TEST(other_content_and_other_devices_are_others)
{
	ask(cache, 7, 90, "k", true);
	ck_assert_uint_eq(ask(cache, 8, 90, "k", true).cached, 0);
	ck_assert_uint_eq(ask(cache, 7, 100, "k", true).cached, 0);
	/* Without a hash nothing is kept, and neither without a folder. */
	ask(cache, 0, 90, "l", true);
	ck_assert_uint_eq(ask(cache, 0, 90, "l", true).cached, 0);
	ck_assert_uint_eq(ask(NULL, 7, 90, "k", true).cached, 0);
}
END_TEST

/* Why an image can't be had may be different tomorrow. */
START_TEST(missing_images_are_not_remembered)
{
	struct sw_footprint_library *l = sw_footprint_library_open(cache, 1);
	struct sw_footprint_image named = fake_named(&image, 1, 7);
	image.unavailable = "the file is not there any more";
	ck_assert_str_eq(sw_footprint_library_get(l, &named, 90, "k")->why, image.unavailable);
	sw_footprint_library_close(l);
	image.unavailable = NULL;
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).analysed, 1);
}
END_TEST

static unsigned char *slurp(const char *path, size_t *n)
{
	static unsigned char bytes[1 << 16];
	FILE *f = fopen(path, "rb");
	ck_assert_ptr_nonnull(f);
	*n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	return bytes;
}

static void dump(const char *path, const unsigned char *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* One flipped bit in each byte: the kernel is found, or it is analysed again; never is it another. */
START_TEST(damage_costs_an_analysis_at_most)
{
	char path[1][160];
	ask(cache, 7, 90, "k", true);
	ask(cache, 7, 90, "wild0", true);
	ck_assert_uint_eq(files(path, 1), 1);
	size_t n, again = 0;
	unsigned char *bytes = slurp(path[0], &n);
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= (unsigned char)(1u << (i % 8));
		dump(path[0], bytes, n);
		bytes[i] ^= (unsigned char)(1u << (i % 8));
		again += ask(cache, 7, 90, "k", true).analysed;
	}
	ck_assert_uint_gt(again, n / 3);
	for (size_t i = 0; i < n; i++) {
		dump(path[0], bytes, i);
		ask(cache, 7, 90, "k", true);
	}
	/* The last writer has fixed the file. */
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).cached, 1);
}
END_TEST

START_TEST(files_of_other_images_are_not_believed)
{
	char path[2][160];
	ask(cache, 7, 90, "k", true);
	ck_assert_uint_eq(files(path, 2), 1);
	char *other = sw_strdup(path[0]);
	other[strlen(cache) + 16] = '8';
	ck_assert_int_eq(rename(path[0], other), 0);
	free(other);
	ck_assert_uint_eq(ask(cache, 8, 90, "k", true).cached, 0);
}
END_TEST

START_TEST(no_folder_no_harm)
{
	char *file = sw_format("%s/file", folder), *under = sw_format("%s/under", file);
	dump(file, (const unsigned char *)"x", 1);
	ck_assert_uint_eq(ask(under, 7, 90, "k", true).analysed, 1);
	ck_assert_uint_eq(ask("/proc/none", 7, 90, "k", true).analysed, 1);
	ck_assert_uint_eq(ask(file, 7, 90, "k", true).analysed, 1);
	free(under);
	free(file);
	/* A folder where the file should be, and a link to elsewhere. */
	char path[1][160];
	ask(cache, 7, 90, "k", true);
	ck_assert_uint_eq(files(path, 1), 1);
	unlink(path[0]);
	ck_assert_int_eq(mkdir(path[0], 0700), 0);
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).analysed, 1);
	ck_assert_int_eq(rmdir(path[0]), 0);
	ck_assert_int_eq(symlink("/dev/zero", path[0]), 0);
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).analysed, 1);
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_read)
{
	if (geteuid() == 0)
		return; /* nothing is read-only for root; no_folder_no_harm() has the other ways to fail */
	ask(cache, 7, 90, "k", true);
	ck_assert_int_eq(chmod(cache, 0500), 0);
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).cached, 1);
	ck_assert_uint_eq(ask(cache, 7, 90, "l", true).analysed, 1);
	ck_assert_uint_eq(ask(cache, 7, 90, "l", true).analysed, 1);
	ck_assert_int_eq(chmod(cache, 0700), 0);
}
END_TEST

START_TEST(the_environment_names_the_folder)
{
	setenv("XDG_CACHE_HOME", "/x", 1);
	setenv("HOME", "/h", 1);
	const char *expected[] = {"/x/syncwatch", "/h/.cache/syncwatch", "/h/.cache/syncwatch"};
	const char *xdg[] = {"/x", "relative", ""};
	for (int i = 0; i < 3; i++) {
		setenv("XDG_CACHE_HOME", xdg[i], 1);
		char *got = sw_store_folder("");
		ck_assert_str_eq(got, expected[i]);
		free(got);
	}
	unsetenv("HOME");
	ck_assert_ptr_null(sw_store_folder(""));
	ck_assert_ptr_null(sw_store_folder(NULL));
	ck_assert_uint_eq(ask("", 7, 90, "k", true).analysed, 1);
}
END_TEST

/* Writers at once: nothing they leave is wrong, and what the last one wrote is there. */
START_TEST(processes_may_write_at_once)
{
	enum { WRITERS = 4, ROUNDS = 20 };
	pid_t child[WRITERS];
	for (int w = 0; w < WRITERS; w++)
		if ((child[w] = fork()) == 0) {
			char kernel[8];
			snprintf(kernel, sizeof kernel, "wild%d", w);
			for (int i = 0; i < ROUNDS; i++) {
				ask(cache, 7, 90, kernel, true);
				ask(cache, 7, 90, "k", true);
				ask(cache, 8 + (uint64_t)i, 90, "l", true);
			}
			_exit(0);
		}
	for (int w = 0; w < WRITERS; w++) {
		int status;
		ck_assert_int_eq(waitpid(child[w], &status, 0), child[w]);
		ck_assert_int_eq(status, 0);
	}
	char path[ROUNDS + 2][160];
	ck_assert_uint_eq(files(path, ROUNDS + 2), ROUNDS + 1); /* and no temporary ones */
	ck_assert_uint_eq(ask(cache, 8, 90, "l", true).cached, 1);
	ck_assert_uint_eq(ask(cache, 7, 90, "k", true).cached, 1);
}
END_TEST

static void make_file(const char *name, size_t bytes, time_t age)
{
	char *path = sw_format("%s/%s", folder, name);
	struct timespec now, times[2];
	clock_gettime(CLOCK_REALTIME, &now);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	times[0] = times[1] = (struct timespec){now.tv_sec - age, now.tv_nsec};
	ck_assert_int_eq(futimens(fd, times), 0);
	close(fd);
	free(path);
}

static bool there(const char *name)
{
	char *path = sw_format("%s/%s", folder, name);
	bool is = access(path, F_OK) == 0;
	free(path);
	return is;
}

START_TEST(the_oldest_go_when_there_is_too_much)
{
	make_file("young.footprints", 100, 10);
	make_file("middle.footprints", 100, 1000);
	make_file("old.footprints", 100, 2000);
	make_file("somebody-elses", 1000, 5000);
	make_file("new-abcdef.footprints", 1000, 100);
	make_file("new-ghijkl.footprints", 1000, 100000);
	sw_store_tidy(folder, 300);
	ck_assert(there("old.footprints") && there("middle.footprints") && there("young.footprints"));
	ck_assert(there("new-abcdef.footprints") && !there("new-ghijkl.footprints"));
	sw_store_tidy(folder, 250);
	ck_assert(!there("old.footprints") && there("middle.footprints"));
	sw_store_tidy(folder, 0);
	ck_assert(!there("middle.footprints") && !there("young.footprints"));
	ck_assert(there("somebody-elses") && there("new-abcdef.footprints"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *t = tcase_create("store");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, the_next_run_finds_it);
	tcase_add_test(t, other_content_and_other_devices_are_others);
	tcase_add_test(t, missing_images_are_not_remembered);
	tcase_add_test(t, damage_costs_an_analysis_at_most);
	tcase_add_test(t, files_of_other_images_are_not_believed);
	tcase_add_test(t, no_folder_no_harm);
	tcase_add_test(t, a_folder_that_cannot_be_written_is_read);
	tcase_add_test(t, the_environment_names_the_folder);
	tcase_add_test(t, processes_may_write_at_once);
	tcase_add_test(t, the_oldest_go_when_there_is_too_much);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
