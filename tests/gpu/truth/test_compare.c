/* SPDX-License-Identifier: Apache-2.0 */
/* The comparer as a whole, on a made-up run of one kernel of the corpus: what lies in the footprint passes, the
   smallest escape fails. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "reader/trace_builder.h"
#include "../../run_suite.h"

#define X 0x7f0000000000ull
#define Y 0x7f0000100000ull

static char folder[] = "/tmp/sw_compare_XXXXXX";

static void *read_whole(const char *path, size_t *bytes)
{
	FILE *in = fopen(path, "rb");
	ck_assert_msg(in != NULL, "%s", path);
	ck_assert_int_eq(fseek(in, 0, SEEK_END), 0);
	*bytes = (size_t)ftell(in);
	rewind(in);
	void *data = sw_alloc(*bytes);
	ck_assert_uint_eq(fread(data, 1, *bytes, in), *bytes);
	fclose(in);
	return data;
}

/* saxpy(int n, float a, const float *x, float *y) of the corpus, n = 1000, <<<4, 256>>>. */
static void make_trace(void)
{
	static const struct sw_param params[] = {{0, 4}, {4, 4}, {8, 8}, {16, 8}};
	static const char name[] = "saxpy";
	const struct {
		int32_t n;
		float a;
		uint64_t x, y;
	} block = {1000, 2, X, Y};
	size_t bytes;
	const char *source = getenv("top_srcdir");
	char *image_path = sw_format("%s/tests/footprint/corpus/images/linear.fatbin", source ? source : ".");
	char *path = sw_format("%s/run.swt", folder);
	void *image = read_whole(image_path, &bytes);
	struct tb *tb = tb_new(path, NULL);
	uint32_t id = tb_image(tb, SW_IMAGE_FATBIN, NULL, image, bytes);
	struct sw_rec_function *f = tb_add(tb, SW_REC_FUNCTION, sizeof *f + sizeof params + sizeof name - 1, true);
	f->id = 1;
	f->image = id;
	f->handle = 0x6001;
	f->flags = SW_FUNCTION_KERNEL;
	f->params = 4;
	f->name_bytes = sizeof name - 1;
	memcpy(f + 1, params, sizeof params);
	memcpy((char *)(f + 1) + sizeof params, name, sizeof name - 1);
	tb_alloc(tb, SW_MEM_DEVICE, X, 8192);
	tb_alloc(tb, SW_MEM_DEVICE, Y, 8192);
	tb_launch_block(tb, 1, 0, &block, sizeof block)->grid[0] = 4;
	tb_close(tb, true);
	free(image);
	free(image_path);
	free(path);
}

static void in_folder(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_trace();
}

static void out_of_folder(void)
{
	char *command = sw_format("rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
	free(command);
}

/* Exit status of the comparer for these accesses; its output goes to *out (freed by the caller). */
static int compare(const char *options, const char *accesses, char **out)
{
	char *path = sw_format("%s/run.lines", folder), *said = sw_format("%s/said", folder);
	FILE *file = fopen(path, "w");
	size_t bytes;
	ck_assert_ptr_nonnull(file);
	fputs(accesses, file);
	fclose(file);
	char *command =
		sw_format("tests/gpu/truth/compare %s '%s/run.swt' '%s' >'%s' 2>&1", options, folder, path, said);
	int status = system(command);
	char *text = read_whole(said, &bytes);
	*out = sw_strndup(text, bytes);
	free(text);
	free(path);
	free(said);
	free(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* 1000: the trace builder's first thread. */
#define LAUNCH "launch 1 1000 4 1 1 256 1 1 watched saxpy\n"
#define READS  "r 7f0000000000 4000 4000 1\nr 7f0000100000 4000 4000 1\n"
#define WRITES "w 7f0000100000 4000 4000 1\n"
#define END    "end 1\n"

static const struct {
	const char *what, *accesses, *says;
	int status;
} cases[] = {
	{"all in the footprint", LAUNCH READS WRITES END, "1 passed, 0 failed, 0 skipped", 0},
	{"less than the footprint", LAUNCH "w 7f0000100100 4 4 1\n" END, "1 passed, 0 failed, 0 skipped", 0},
	{"a byte too many", LAUNCH "w 7f0000100000 4001 4001 1\n" END, "ESCAPE saxpy", 1},
	{"a byte before", LAUNCH "r 7effffffffff 2 2 1\n" END, "ESCAPE saxpy", 1},
	{"written where it only reads", LAUNCH READS WRITES "w 7f0000000000 4 4 1\n" END, "ESCAPE saxpy", 1},
	{"another geometry", "launch 1 1000 5 1 1 256 1 1 watched saxpy\n" READS END, "0 launches joined", 1},
	{"another thread", "launch 1 1001 4 1 1 256 1 1 watched saxpy\n" READS END, "0 launches joined", 1},
	{"the recorder met an error", LAUNCH READS "error something\n" END, "1 passed, 1 failed", 1},
	{"the program did not end", LAUNCH READS, "1 passed, 1 failed", 1},
};

static void run_case(const char *options, int i)
{
	char *out;
	int status = compare(options, cases[i].accesses, &out);
	ck_assert_msg(status == cases[i].status && strstr(out, cases[i].says), "%s: exit %d: %s", cases[i].what, status,
		      out);
	free(out);
}

START_TEST(by_the_library)
{
	run_case("", _i);
}
END_TEST

START_TEST(by_machine_code)
{
	run_case("--sass", _i);
}
END_TEST

START_TEST(by_ptx)
{
	run_case("--ptx", _i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compare");
	TCase *tests = tcase_create("compare");
	tcase_add_unchecked_fixture(tests, in_folder, out_of_folder);
	tcase_add_loop_test(tests, by_the_library, 0, sizeof cases / sizeof *cases);
	tcase_add_loop_test(tests, by_machine_code, 0, sizeof cases / sizeof *cases);
	tcase_add_loop_test(tests, by_ptx, 0, sizeof cases / sizeof *cases);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
