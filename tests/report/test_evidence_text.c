/* SPDX-License-Identifier: Apache-2.0 */
/* An access's bytes and how they are known: the sentences. */
#include <check.h>
#include <stdlib.h>

#include "fake_trace.h"
#include "report/words/evidence_text.h"
#include "../run_suite.h"

static struct sw_judgement judgement;
static struct sw_names names;
static struct sw_access access_;
static struct sw_evidence_detail ground;

static void start(void)
{
	fake_trace = (struct fake_trace){0};
	judgement = (struct sw_judgement){0};
	*sw_vec_push(&judgement.allocations) = (struct sw_allocation){.address = 0x7000, .bytes = 65536, .number = 1};
	sw_names_init(&names, NULL, &judgement);
	ground = (struct sw_evidence_detail){
		.source = SW_SOURCE_PTX, .arch = 90, .mnemonic = "st.global", .extent = SW_EXTENT_BOX};
	access_ = (struct sw_access){.role = SW_WRITE,
				     .param = 3,
				     .ranged = true,
				     .address = 0x8000,
				     .bytes = 4096,
				     .extent_known = true,
				     .allocation = 1,
				     .evidence = SW_EV_FOOTPRINT,
				     .evidence_detail = &ground};
}

static void stop(void)
{
	sw_names_free(&names);
	free(judgement.allocations.at);
}

static void check(const char *extent, const char *evidence)
{
	ck_assert_str_eq(sw_evidence_extent(&names, &access_), extent);
	ck_assert_str_eq(sw_evidence_source(&names, &access_), evidence);
}

START_TEST(code_that_says_all)
{
	check("bytes 4096 to 8191 of allocation 1", "PTX sm_90 (st.global via parameter 3)");
	ground.source = SW_SOURCE_SASS;
	ground.mnemonic = "";
	access_.width = 4;
	access_.pitch = 32;
	check("bytes 4096 to 8191 of allocation 1, 4 of every 32", "SASS sm_90 (via parameter 3)");
	access_.param = -1;
	access_.pitch = 4; /* rows that join */
	check("bytes 4096 to 8191 of allocation 1", "SASS sm_90");
	access_.allocation = 0;
	check("4096 bytes at 0x8000", "SASS sm_90");
}
END_TEST

START_TEST(code_that_says_less)
{
	ground.extent = SW_EXTENT_HULL;
	ground.why = SW_WHY_LOADED;
	ground.other_code = true;
	ground.arch = 120;
	check("within bytes 4096 to 8191 of allocation 1: the index is loaded from memory",
	      "PTX sm_120 (st.global via parameter 3), not the code that ran");
	ground.extent = SW_EXTENT_OPEN;
	ground.other_code = false;
	ground.polls = true;
	access_.extent_known = false;
	check("somewhere from byte 4096 of allocation 1 on: the index is loaded from memory",
	      "PTX sm_120 (st.global via parameter 3), may poll or signal");
	access_.allocation = 0;
	ground.why = SW_WHY_NONE;
	access_.signals = true;
	check("somewhere from 0x8000 on", "PTX sm_120 (st.global via parameter 3), may poll or signal");
	ground.polls = false;
	check("somewhere from 0x8000 on",
	      "PTX sm_120 (st.global via parameter 3); the kernel may signal by a flag elsewhere: "
	      "who waits for it is in order, which is not followed");
	access_.signals = false;
	check("somewhere from 0x8000 on", "PTX sm_120 (st.global via parameter 3)");
}
END_TEST

START_TEST(ways_to_the_memory)
{
	ground.via = SW_VIA_SYMBOL;
	ground.symbol = "_ZN2ns7counterE";
	access_.param = -1;
	check("bytes 4096 to 8191 of allocation 1", "PTX sm_90 (st.global via variable ns::counter)");
	ground.symbol = NULL;
	check("bytes 4096 to 8191 of allocation 1", "PTX sm_90 (st.global via a variable)");
	ground.via = SW_VIA_TENSOR_MAP;
	ground.mnemonic = "cp.async.bulk.tensor";
	check("bytes 4096 to 8191 of allocation 1", "PTX sm_90 (cp.async.bulk.tensor via a tensor map)");
	access_.param = 0;
	check("bytes 4096 to 8191 of allocation 1",
	      "PTX sm_90 (cp.async.bulk.tensor via the tensor map in parameter 0)");
}
END_TEST

START_TEST(no_code)
{
	access_.extent_known = false;
	access_.evidence = SW_EV_SIGNATURE;
	access_.evidence_detail = NULL;
	check("bytes 4096 to 8191 of allocation 1 at most", "pointer in signature (parameter 3)");
	access_.role = SW_READ;
	check("bytes 4096 to 8191 of allocation 1 at most", "const pointer in signature (parameter 3)");
	ground = (struct sw_evidence_detail){.unread = "no code image"};
	access_.evidence_detail = &ground;
	access_.role = SW_READ_WRITE;
	access_.evidence = SW_EV_ASSUMED;
	check("bytes 4096 to 8191 of allocation 1 at most", "assumed read+write (no code image, parameter 3)");
	access_.param = -1;
	check("bytes 4096 to 8191 of allocation 1 at most", "assumed read+write (no code image)");
	access_.evidence_detail = NULL;
	check("bytes 4096 to 8191 of allocation 1 at most", "assumed read+write");
	access_.evidence = SW_EV_EXACT;
	access_.extent_known = true;
	check("bytes 4096 to 8191 of allocation 1", "exact");
}
END_TEST

START_TEST(coverage)
{
	struct sw_coverage c = {0};
	ck_assert_str_eq(sw_evidence_coverage(&names, &c), "");
	c.kernels_by_source[SW_BY_PTX] = 380;
	c.kernels_by_source[SW_BY_SIGNATURE] = 20;
	c.kernels_by_source[SW_BY_ASSUMED] = 12;
	ck_assert_str_eq(sw_evidence_coverage(&names, &c), "380 PTX, 20 signature, 12 assumed");
	c.kernels_by_source[SW_BY_SASS] = 1;
	c.kernels_by_source[SW_BY_OTHER_CODE] = 2;
	c.kernels_by_source[SW_BY_NOTHING] = 3;
	c.kernels_by_evidence[SW_EV_FOOTPRINT] = 300;
	ck_assert_str_eq(sw_evidence_coverage(&names, &c),
			 "380 PTX, 1 SASS, 2 code that is not what ran, 20 signature, 12 assumed, 3 without code and "
			 "without pointers; all extents known for 300");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ground");
	TCase *t = tcase_create("ground");
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, code_that_says_all);
	tcase_add_test(t, code_that_says_less);
	tcase_add_test(t, ways_to_the_memory);
	tcase_add_test(t, no_code);
	tcase_add_test(t, coverage);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
