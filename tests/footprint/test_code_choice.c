/* SPDX-License-Identifier: Apache-2.0 */
/* Which code of an image is analysed, and how often. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "footprint/kernel/store/containers.h"
#include "../run_suite.h"

#define EXACT  0x100000u
#define FAMILY 0x200000u

static struct fake_image image;
static struct sw_footprint_library *library;

static void start(void)
{
	fake_reset();
	library = sw_footprint_library_open(NULL, 1);
}

static void stop(void)
{
	sw_footprint_library_close(library);
	fake_free(&image);
	ck_assert_uint_eq(fake_modules, 0);
}

static const struct sw_footprint_entry *ask(uint64_t id, uint32_t arch, const char *kernel)
{
	struct sw_footprint_image named = fake_named(&image, id, 0);
	return sw_footprint_library_get(library, &named, arch, kernel);
}

static void check(const struct sw_footprint_entry *e, enum sw_code_source source, uint32_t arch, bool ran)
{
	ck_assert_msg(e->footprint != NULL, "%s", e->why);
	ck_assert_uint_eq(e->footprint->source, source);
	ck_assert_uint_eq(e->arch, arch);
	ck_assert_uint_eq(e->ran, ran);
	ck_assert_ptr_null(e->why);
}

static void check_why(const struct sw_footprint_entry *e, const char *why)
{
	ck_assert_ptr_null(e->footprint);
	ck_assert_str_eq(e->why, why);
}

/* One block with all that nvcc makes for sm_80, sm_86, sm_90 and a newer device. */
static void make_wide(void)
{
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 80, 0, "k");
	fake_entry(&image, FAKE_ELF, 86, 0, "k");
	fake_entry(&image, FAKE_ELF, 90, 0, "k");
	fake_entry(&image, FAKE_PTX, 80, 0, "k");
	fake_entry(&image, FAKE_PTX, 90, 0, "k");
	fake_entry(&image, FAKE_PTX, 120, 0, "k");
}

START_TEST(ptx_of_the_architecture_comes_first)
{
	make_wide();
	check(ask(1, 90, "k"), SW_SOURCE_PTX, 90, true);
	check(ask(1, 80, "k"), SW_SOURCE_PTX, 80, true);
	ck_assert_uint_eq(fake_sass[90].read + fake_sass[80].read, 0);
}
END_TEST

/* sm_86's machine code runs on 8.9, and no PTX of 8.9 is there; on 7.5 nothing runs and nothing can be compiled. */
START_TEST(then_the_machine_code_that_the_driver_picks)
{
	make_wide();
	check(ask(1, 89, "k"), SW_SOURCE_SASS, 86, true);
	check(ask(1, 75, "k"), SW_SOURCE_PTX, 80, false);
	/* A newer major revision: the driver compiles the newest PTX that is not above it. */
	check(ask(1, 100, "k"), SW_SOURCE_PTX, 90, true);
	check(ask(1, 121, "k"), SW_SOURCE_PTX, 120, true);
}
END_TEST

/* The driver runs sm_80's machine code on 8.6, though PTX of 8.6 is there: that is not what it was made from. */
START_TEST(ptx_of_the_architecture_that_nobody_compiled_comes_later)
{
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 80, 0, "k");
	fake_entry(&image, FAKE_PTX, 86, 0, "k");
	check(ask(1, 86, "k"), SW_SOURCE_SASS, 80, true);
	fake_sass[80].broken = true;
	check(ask(2, 86, "k"), SW_SOURCE_PTX, 86, false);
}
END_TEST

START_TEST(variants_run_where_they_were_made_for)
{
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 90, 0, "k");
	fake_entry(&image, FAKE_ELF, 90, EXACT, "k only90a");
	fake_entry(&image, FAKE_ELF, 100, FAMILY, "k family");
	fake_entry(&image, FAKE_PTX, 100, EXACT, "k");
	fake_sass[90].unknown = 0;
	check(ask(1, 90, "only90a"), SW_SOURCE_SASS, 90, true);
	check(ask(1, 103, "family"), SW_SOURCE_SASS, 100, true);
	check(ask(1, 103, "k"), SW_SOURCE_SASS, 100, true);
	check_why(ask(1, 120, "family"), "no kernel of this name in the image");
	/* PTX for 10.0a alone: not what runs on 12.0, but it shows something. */
	check(ask(1, 120, "k"), SW_SOURCE_PTX, 100, false);
}
END_TEST

/* A wild outcome gives way; where all are wild the least wild one stays. */
START_TEST(wild_gives_way)
{
	make_wide();
	fake_ptx[90].unknown = 3;
	check(ask(1, 90, "k"), SW_SOURCE_SASS, 90, true);
	ck_assert_uint_eq(fake_ptx[80].read, 0);
	fake_sass[90].unknown = 2;
	check(ask(2, 90, "k"), SW_SOURCE_PTX, 80, false);
	fake_ptx[80].unknown = 2;
	fake_ptx[120].unknown = 5;
	check(ask(3, 90, "k"), SW_SOURCE_SASS, 90, true);
	ck_assert_uint_eq(fake_ptx[120].read, 1);
	fake_ptx[120].unknown = 1;
	check(ask(4, 90, "k"), SW_SOURCE_PTX, 120, false);
	fake_ptx[90].broken = fake_sass[90].broken = fake_ptx[80].broken = fake_ptx[120].broken = true;
	check_why(ask(5, 90, "k"), "unreadable: PTX sm_90: broken as told");
}
END_TEST

START_TEST(reasons_are_told)
{
	fake_block(&image);
	fake_entry(&image, FAKE_LTOIR, 90, 0, "");
	check_why(ask(1, 90, "k"), "unreadable: LTO-IR");
	fake_free(&image);
	fake_block(&image);
	fake_entry(&image, FAKE_TILEIR, 90, 0, "");
	check_why(ask(8, 90, "k"), "unreadable: Tile IR");
	fake_entry(&image, FAKE_ELF, 90, 0, "other");
	fake_entry(&image, FAKE_ELF, 90, 0x4000 << 4, "k");
	check(ask(2, 90, "k"), SW_SOURCE_SASS, 90, true);
	fake_free(&image);
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 90, 0, "k");
	check_why(ask(3, 90, "absent"), "no kernel of this name in the image");
	check_why(ask(3, 80, "k"), "no code for sm_80 in the image");
	image.bytes[16 + 64] = 'X'; /* no longer an ELF file */
	check_why(ask(4, 90, "k"), "unreadable: sm_90: cubin: offset 0: not an ELF file of the CUDA architecture");
	image.bytes[16 + 16] = 8; /* compressed, by a method that is unknown */
	check_why(ask(5, 90, "k"), "unreadable: sm_90: fatbin: offset 16: unknown compression (flags 0x0)");
	image.n = 100;
	check_why(ask(6, 90, "k"),
		  "unreadable: fatbin: offset 16: the entry does not fit into the 84 bytes that are left");
	image.unavailable = "no code image";
	check_why(ask(7, 90, "k"), "no code image");
	ck_assert_uint_eq(image.asked, 5);
}
END_TEST

START_TEST(code_that_was_loaded_by_itself)
{
	fake_plain(&image, FAKE_PTX, 75, "k l");
	check(ask(1, 90, "l"), SW_SOURCE_PTX, 75, true);
	check(ask(1, 0, "l"), SW_SOURCE_PTX, 75, true);
	fake_free(&image);
	fake_plain(&image, FAKE_ELF, 90, "k l");
	check(ask(2, 90, "l"), SW_SOURCE_SASS, 90, true);
	check(ask(2, 0, "k"), SW_SOURCE_SASS, 90, true);
	fake_free(&image);
	fake_plain(&image, FAKE_LTOIR, 0, "");
	check_why(ask(3, 90, "l"), "unreadable: LTO-IR");
	fake_free(&image);
	fake_plain(&image, FAKE_TILEIR, 0, "");
	check_why(ask(5, 90, "l"), "unreadable: Tile IR");
	fake_free(&image);
	image.bytes = (unsigned char *)sw_strdup("neither");
	image.n = 7;
	check_why(ask(4, 90, "l"), "unreadable: neither fatbin, cubin nor PTX");
}
END_TEST

/* A linked program has a block for each translation unit; the kernel counts where it is. */
START_TEST(kernels_are_found_in_every_block)
{
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 90, 0, "a");
	fake_entry(&image, FAKE_PTX, 90, 0, "a");
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 90, 0, "b");
	fake_block(&image);
	fake_entry(&image, FAKE_PTX, 80, 0, "c");
	check(ask(1, 90, "a"), SW_SOURCE_PTX, 90, true);
	check(ask(1, 90, "b"), SW_SOURCE_SASS, 90, true);
	check(ask(1, 90, "c"), SW_SOURCE_PTX, 80, true);
	ck_assert_uint_eq(image.asked, 1);
}
END_TEST

START_TEST(a_kernel_is_read_once)
{
	make_wide();
	const struct sw_footprint_entry *e = ask(1, 90, "k");
	for (int i = 0; i < 10; i++)
		ck_assert_ptr_eq(ask(1, 90, "k"), e);
	ck_assert_uint_eq(fake_ptx[90].read, 1);
	ck_assert_ptr_ne(ask(1, 80, "k"), e);
	struct sw_footprint_library_totals t = sw_footprint_library_totals(library);
	ck_assert_uint_eq(t.asked, 2);
	ck_assert_uint_eq(t.analysed, 2);
	ck_assert_uint_eq(t.cached + t.unreadable, 0);
	ck_assert_uint_gt(t.code_bytes, 0);
}
END_TEST

/* Libraries place the containers of hundreds of translation units behind each other.  The one that was loaded comes
   first: what another has, be it better code for the device, is another kernel. */
START_TEST(the_first_container_that_has_it_counts)
{
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 90, 0, "k");
	fake_block(&image);
	fake_entry(&image, FAKE_ELF, 90, EXACT, "k later");
	fake_entry(&image, FAKE_PTX, 90, 0, "k later");
	check(ask(1, 90, "k"), SW_SOURCE_SASS, 90, true);
	ck_assert_uint_eq(fake_ptx[90].read, 0);
	check(ask(1, 90, "later"), SW_SOURCE_PTX, 90, true);
	/* The code can't be read there: the other's code is not an answer. */
	fake_sass[90].broken = true;
	check_why(ask(2, 90, "k"), "unreadable: sm_90: broken as told");
}
END_TEST

START_TEST(containers_are_listed_when_asked_for)
{
	struct sw_monitor monitor = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
	struct sw_contents contents = {.monitor = &monitor};
	struct sw_containers containers = {.monitor = &monitor, .contents = &contents};
	struct sw_footprint_image named = fake_named(&image, 1, 0);
	for (int i = 0; i < 3; i++) {
		fake_block(&image);
		fake_entry(&image, FAKE_ELF, 90, 0, "k");
	}
	ck_assert(sw_containers_load(&containers, &named));
	ck_assert_uint_eq(containers.container.n, 0);
	const struct sw_units *first = sw_containers_get(&containers, 0);
	ck_assert_uint_eq(containers.container.n, 1);
	ck_assert_ptr_nonnull(sw_containers_get(&containers, 2));
	ck_assert_ptr_eq(sw_containers_get(&containers, 0), first);
	ck_assert_ptr_null(sw_containers_get(&containers, 3));
	ck_assert_ptr_null(sw_containers_get(&containers, 100));
	ck_assert_uint_eq(containers.container.n, 3);
	sw_containers_free(&containers);
}
END_TEST

enum { UNITS = 3 };

/* PTX for as many architectures, in one container. */
static struct sw_unit *load_units(struct sw_containers *containers, const struct sw_footprint_image *named)
{
	fake_block(&image);
	for (uint32_t i = 0; i < UNITS; i++)
		fake_entry(&image, FAKE_PTX, 70 + i, 0, "k");
	ck_assert(sw_containers_load(containers, named));
	struct sw_units *units = sw_containers_get(containers, 0);
	ck_assert_ptr_null(sw_containers_get(containers, 1));
	ck_assert_uint_eq(units->unit.n, UNITS);
	return units->unit.at;
}

/* A content that is not used goes when others need the room, the longest unused first, and comes back when it is asked
   for. */
START_TEST(contents_are_bounded)
{
	struct sw_monitor monitor = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER};
	struct sw_contents contents = {.monitor = &monitor};
	struct sw_containers containers = {.monitor = &monitor, .contents = &contents};
	struct sw_footprint_image named = fake_named(&image, 1, 0);
	struct sw_unit *unit = load_units(&containers, &named);
	for (int i = 0; i < UNITS; i++)
		ck_assert_ptr_nonnull(sw_contents_take(&contents, &unit[i], true));
	ck_assert_uint_eq(fake_modules, UNITS); /* what is used stays */
	contents.limit = contents.held - 1;
	for (int i = 0; i < UNITS; i++)
		sw_contents_give(&contents, &unit[i]);
	ck_assert_uint_eq(fake_modules, UNITS - 1);
	ck_assert_int_eq(unit[0].content.load, SW_LOAD_NONE);
	ck_assert_ptr_nonnull(sw_contents_take(&contents, &unit[0], true));
	ck_assert_int_eq(unit[1].content.load, SW_LOAD_NONE);
	sw_contents_give(&contents, &unit[0]);
	contents.limit = 0;
	ck_assert_ptr_nonnull(sw_contents_take(&contents, &unit[2], false));
	ck_assert_uint_eq(fake_modules, 1);
	sw_contents_give(&contents, &unit[2]);
	ck_assert_uint_eq(fake_modules, 0);
	ck_assert_uint_eq(contents.held, 0);
	ck_assert_ptr_null(contents.oldest);
	sw_containers_free(&containers);
	sw_contents_drop_spare(&contents);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("choose");
	TCase *t = tcase_create("choose");
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, ptx_of_the_architecture_comes_first);
	tcase_add_test(t, then_the_machine_code_that_the_driver_picks);
	tcase_add_test(t, ptx_of_the_architecture_that_nobody_compiled_comes_later);
	tcase_add_test(t, variants_run_where_they_were_made_for);
	tcase_add_test(t, wild_gives_way);
	tcase_add_test(t, reasons_are_told);
	tcase_add_test(t, code_that_was_loaded_by_itself);
	tcase_add_test(t, kernels_are_found_in_every_block);
	tcase_add_test(t, a_kernel_is_read_once);
	tcase_add_test(t, contents_are_bounded);
	tcase_add_test(t, the_first_container_that_has_it_counts);
	tcase_add_test(t, containers_are_listed_when_asked_for);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
