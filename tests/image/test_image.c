/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangled.h"
#include "image/image.h"
#include "../run_suite.h"

START_TEST(kinds_are_told_by_magic)
{
	unsigned char elf[64] = {0x7f, 'E', 'L', 'F', ELFCLASS64};
	static const unsigned char fatbin[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};
	static const unsigned char lto[4] = {0xed, 0x43, 0x4e, 0x7f};
	static const char ptx[] = "\n\n// made by hand\n/* with care */ .version 9.0\n.target sm_90\n";
	elf[18] = 190;
	ck_assert_int_eq(sw_image_kind_of(elf, sizeof elf), SW_IMAGE_ELF);
	ck_assert_int_eq(sw_image_kind_of(elf, 63), SW_IMAGE_UNKNOWN);
	elf[18] = 62; /* x86-64 */
	ck_assert_int_eq(sw_image_kind_of(elf, sizeof elf), SW_IMAGE_UNKNOWN);
	ck_assert_int_eq(sw_image_kind_of(fatbin, sizeof fatbin), SW_IMAGE_FATBIN);
	ck_assert_int_eq(sw_image_kind_of(fatbin, 15), SW_IMAGE_UNKNOWN);
	ck_assert_int_eq(sw_image_kind_of(lto, sizeof lto), SW_IMAGE_LTOIR);
	ck_assert_int_eq(sw_image_kind_of("\x7fTileIR\0\r\5", 10), SW_IMAGE_TILEIR);
	ck_assert_int_eq(sw_image_kind_of("\x7fTileIR\0", 7), SW_IMAGE_UNKNOWN);
	ck_assert_int_eq(sw_image_kind_of(ptx, sizeof ptx), SW_IMAGE_PTX);
	ck_assert_int_eq(sw_image_kind_of("// .version 9.0", 15), SW_IMAGE_UNKNOWN);
	ck_assert_int_eq(sw_image_kind_of("", 0), SW_IMAGE_UNKNOWN);
	ck_assert_int_eq(sw_image_kind_of("/*", 2), SW_IMAGE_UNKNOWN);
}
END_TEST

START_TEST(wrappers_lead_to_their_fatbin)
{
	struct {
		uint32_t magic, version;
		uint64_t data, file;
	} w = {0x466243b1, 1, 0x1234567890, 0};
	ck_assert_uint_eq(sw_fatbin_wrapper_target(&w), 0x1234567890);
	w.version = 2;
	ck_assert_uint_eq(sw_fatbin_wrapper_target(&w), 0x1234567890);
	w.version = 3;
	ck_assert_uint_eq(sw_fatbin_wrapper_target(&w), 0);
	w.version = 1;
	w.magic++;
	ck_assert_uint_eq(sw_fatbin_wrapper_target(&w), 0);
}
END_TEST

/* ---- a fatbin made by hand ---- */

static unsigned char fatbin[1024];
static size_t fatbin_used;

static void put(size_t at, uint64_t v, size_t n)
{
	memcpy(fatbin + at, &v, n);
}

static void begin_fatbin(void)
{
	fatbin_used = (fatbin_used + 7) & ~(size_t)7;
	put(fatbin_used, 0xba55ed50, 4);
	put(fatbin_used + 4, 1, 2);
	put(fatbin_used + 6, 16, 2);
	put(fatbin_used + 8, 0, 8);
	fatbin_used += 16;
}

static size_t add_entry(unsigned kind, uint32_t arch, uint64_t flags, const char *content, uint32_t compressed,
			uint64_t bytes)
{
	size_t at = fatbin_used, n = (strlen(content) + 8) & ~(size_t)7;
	memset(fatbin + at, 0, 64 + n);
	put(at, kind, 2);
	put(at + 4, 64, 4);
	put(at + 8, n, 8);
	put(at + 16, compressed, 4);
	put(at + 28, arch, 4);
	put(at + 40, flags, 8);
	put(at + 56, bytes, 8);
	memcpy(fatbin + at + 64, content, strlen(content));
	fatbin_used += 64 + n;
	size_t header = 0;
	uint64_t total;
	memcpy(&total, fatbin + header + 8, 8);
	put(header + 8, total + 64 + n, 8);
	return at;
}

static void reset_fatbin(void)
{
	memset(fatbin, 0, sizeof fatbin);
	fatbin_used = 0;
	begin_fatbin();
}

static int count_entries(void *arg, const struct sw_fatbin_entry *e)
{
	ck_assert_uint_ge(e->offset, 16);
	++*(int *)arg;
	return 0;
}

static int stop_at_once(void *arg, const struct sw_fatbin_entry *e)
{
	(void)arg;
	(void)e;
	return 42;
}

START_TEST(damaged_fatbins_are_an_error_with_its_offset)
{
	struct sw_error error = {0};
	int n = 0;
	reset_fatbin();
	size_t first = add_entry(1, 90, 0x11, ".version 8.0 .entry a()", 0, 0);
	size_t second = add_entry(2, 90, 0x11, "x", 0, 0);
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, count_entries, &n, &error), 0);
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(sw_fatbin_bytes(fatbin, sizeof fatbin), fatbin_used);
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, stop_at_once, NULL, &error), 42);

	char offset[32];
	for (size_t cut = 16; cut < fatbin_used; cut++) {
		n = 0;
		ck_assert_int_eq(sw_fatbin_walk(fatbin, cut, count_entries, &n, &error), SW_E_FORMAT);
		ck_assert_int_eq(n, cut >= second ? 1 : 0);
	}
	snprintf(offset, sizeof offset, "offset %zu", second);
	ck_assert_msg(strstr(error.text, offset) != NULL, "%s", error.text);
	put(first + 4, 63, 4); /* header shorter than it must be */
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, count_entries, &n, &error), SW_E_FORMAT);
	ck_assert_int_eq(sw_fatbin_walk("nonsense........", 16, count_entries, &n, &error), SW_E_FORMAT);
	ck_assert_uint_eq(sw_fatbin_bytes("nonsense........", 16), 0);
}
END_TEST

static int extract(void *arg, const struct sw_fatbin_entry *e)
{
	void *content = arg;
	size_t bytes;
	struct sw_error error;
	int rc = sw_fatbin_extract(e, &content, &bytes, &error);
	if (!rc) {
		ck_assert_uint_eq(strlen(content), bytes);
		free(content);
	} else {
		ck_assert_msg(strstr(error.text, "offset 16") != NULL, "%s", error.text);
		ck_assert_ptr_eq(content, arg); /* untouched */
	}
	return rc;
}

START_TEST(what_cannot_be_decompressed_says_why)
{
	struct sw_error error;
	reset_fatbin();
	size_t at = add_entry(1, 90, 0x11, ".version 8.0", 0, 0);
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, extract, NULL, &error), 0);
	put(at + 16, 12, 4); /* compressed, by nothing we know */
	put(at + 56, 100, 8);
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, extract, NULL, &error), SW_E_UNSUPPORTED);
	put(at + 40, 0x2011, 8);
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, extract, NULL, &error), SW_E_FORMAT);
	put(at + 40, 0x8011, 8);
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, extract, NULL, &error), SW_E_FORMAT);
	put(at + 40, 0xa011, 8); /* both */
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, extract, NULL, &error), SW_E_UNSUPPORTED);
	put(at + 40, 0x8011, 8);
	put(at + 56, SW_IMAGE_MAX_BYTES + 1, 8);
	ck_assert_int_eq(sw_fatbin_walk(fatbin, fatbin_used, extract, NULL, &error), SW_E_FORMAT);
}
END_TEST

struct names {
	char text[256];
};

static int join(void *arg, const struct sw_cubin_kernel *k)
{
	struct names *n = arg;
	size_t used = strlen(n->text);
	snprintf(n->text + used, sizeof n->text - used, "%s/%u ", k->name, k->param_bytes);
	return 0;
}

START_TEST(the_best_image_for_a_device_is_taken)
{
	struct sw_error error = {0};
	struct names n = {""};
	reset_fatbin();
	add_entry(1, 80, 0x11, ".version 8.0 .entry old()", 0, 0);
	add_entry(1, 90, 0x11, ".version 8.0 .entry new(.param .u32 a) {} .entry new2 {}", 0, 0);
	add_entry(1, 90, 0x11, ".version 8.0 .entry new() .entry more()", 0, 0);
	ck_assert_int_eq(sw_image_kernels(fatbin, fatbin_used, 90, join, &n, &error), 0);
	ck_assert_str_eq(n.text, "new/4 new2/0 more/0 ");
	n.text[0] = 0;
	ck_assert_int_eq(sw_image_kernels("hello", 5, 90, join, &n, &error), SW_E_UNSUPPORTED);
	ck_assert_str_eq(n.text, "");
}
END_TEST

/* ---- PTX ---- */

struct layout {
	unsigned kernels, params, bytes;
	struct sw_param param[16];
};

static int keep(void *arg, const struct sw_cubin_kernel *k)
{
	struct layout *l = arg;
	l->kernels++;
	l->params = k->params;
	l->bytes = k->param_bytes;
	for (uint32_t i = 0; i < k->params && i < 16; i++)
		l->param[i] = k->param[i];
	return 0;
}

START_TEST(ptx_parameters_are_laid_out_by_alignment)
{
	static const char text[] =
		".version 8.0 .target sm_90 .address_size 64\n"
		".file 1 \"has .entry in its name\"\n"
		"// .entry commented(.param .u64 x)\n"
		".visible .entry k(.param .u8 a, .param.u64.ptr.global.align 16 b, .param .f32 c,\n"
		" .param .align 16 .b8 d[20], .param .b8 e[3], .param .f16 f, .param .b32 g[2][3]) .maxntid 256, 1, 1\n"
		"{ .loc 1 1 1 .entry not this one\n .reg .u32 r; ret; }\n"
		".func (.param .u32 r) callee(.param .u64 p) { ret; }\n";
	static const struct sw_param want[] = {{0, 1}, {8, 8}, {16, 4}, {32, 20}, {52, 3}, {56, 2}, {60, 24}};
	struct layout l = {0};
	struct sw_error error = {0};
	ck_assert_msg(!sw_ptx_walk(text, sizeof text, keep, &l, &error), "%s", error.text);
	ck_assert_uint_eq(l.kernels, 1);
	ck_assert_uint_eq(l.params, 7);
	ck_assert_uint_eq(l.bytes, 84);
	ck_assert(!memcmp(l.param, want, sizeof want));
}
END_TEST

START_TEST(ptx_that_is_not_understood_is_an_error_with_its_offset)
{
	static const char *const bad[] = {
		".version 8.0 .entry",
		".version 8.0 .entry k(",
		".version 8.0 .entry k(.param .u32 a",
		".version 8.0 .entry k(.param .u99 a)",
		".version 8.0 .entry k(.param a)",
		".version 8.0 .entry k(.reg .u32 a)",
		".version 8.0 .entry k(.param .align 3 .b8 a[4])",
		".version 8.0 .entry k(.param .b8 a[99999])",
		".version 8.0 .entry k(.param .b8 a[])",
		".version 8.0 .entry k(.param .b64 a[4000], .param .b64 b[4000])",
		".version 8.0 .entry k(.param .v4 .f32 a)",
		".version 8.0 .entry k(.param .b8 a[4294967296][4294967296])",
	};
	struct layout l = {0};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct sw_error error = {0};
		ck_assert_msg(sw_ptx_walk(bad[i], strlen(bad[i]), keep, &l, &error) == SW_E_FORMAT, "%s", bad[i]);
		ck_assert(strstr(error.text, "offset "));
	}
	ck_assert_uint_eq(l.kernels, 0);
}
END_TEST

/* ---- names ---- */

static void signature_is(const char *mangled, const char *want)
{
	enum sw_signature sig[32];
	char got[33] = "";
	size_t n = sw_signature_of(mangled, sig, 32);
	for (size_t i = 0; i < n && i < 32; i++)
		got[i] = "v*c?"[sig[i]];
	ck_assert_msg(!strcmp(got, want), "%s: %s, not %s", mangled, got, want);
}

START_TEST(signatures_tell_pointers_and_const)
{
	static const char *const cases[][2] = {
		{"_Z3addPfPKfi", "*cv"},
		{"_Z1kPVKfPVf", "c*"},
		{"_Z1kPPKf", "*"}, /* pointer to pointer to const: the table itself is written */
		{"_Z1kPKPf", "c"}, /* const table of pointers */
		{"_Z1kPKvPv", "c*"},
		{"_Z1kfdbcsijh", "vvvvvvvv"},
		{"_Z1klmxy", "????"}, /* may carry addresses */
		{"_Z1k6__halfDhDF16_DF16b", "?vvv"},
		{"_Z1k4PairPS_PKS_", "?*c"},
		{"_Z1kPA4_KfPA4_f", "c*"},
		{"_Z1kPFvPfE", "*"},
		{"_Z4copyIfEvPT_PKS0_", "*c"},
		{"_Z4copyIKfEvPT_", "c"},	/* T is const float */
		{"_Z4copyIPKfPfEvT_T0_", "c*"}, /* T is a pointer */
		{"_Z4copyIPKfEvPT_PKS2_", "*c"},
		{"_Z1kIJPKfcPfEEvPiDpT_", "*cv*"},
		{"_Z1kIJEEvPKiDpT_", "c"},
		{"_ZN2ns3addEPfPKf", "*c"},
		{"_ZN2ns3addIfLi4ELb1EEEvPT_PKS1_", "*c"},
		{"_ZN12_GLOBAL__N_13addEPf", "*"},
		{"_ZL3addPKf", "c"},
		{"_ZN2nsL3addEPKf", "c"},
		/* ns, ns::View, const float, ns::View<const float> are S_ S0_ S1_ S2_. */
		{"_Z1kN2ns4ViewIKfEEPKS2_PS1_", "?cc"},
		{"_Z1kSt6vectorIfSaIfEEPS1_", "?*"},
		{"_Z1kNSt4pairIKfPfE5firstEPKS1_", "?c"},
		{"_Z1kPKfS0_S_", "ccv"},
		{"_Z1kPKfS0_PS_", "ccc"},
		{"_Z1kIfEvNT_4typeEPS1_PKS1_", "?*c"},
		{"_Z1kPf.kd", "*"},
		{"__nv_static_30__6072e090_9_sample_cu_38f7764e__ZN2ns6hiddenEP6float4h", "*v"},
		{"_Z1kPfS_$local", "**"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		signature_is(cases[i][0], cases[i][1]);
}
END_TEST

START_TEST(names_that_tell_nothing_tell_nothing)
{
	static const char *const cases[] = {
		"",
		"_Z",
		"add",
		"_Z3ad",
		"_Z3addS_",
		"_Z3addIfEvPT0_",
		"_Z3addIfEvPT_S9_",
		"_Z1kv",
		"_ZN2ns3addPf",
		"_Z99999999999999addPf",
		"_Z1kIXaaLb1ELb1EEEvPf",
		"_ZZ4mainE1kPf",
		"_Z1kIUlvE_EvT_",
		"_Z1kM1Sf",
		"_Z1kPfz",
		"_Z1kIJffEEvPT_",
		"_Z1kIJJffEEEvDpT_",
		"_Z1kDTfp_E",
		"_Z1kP",
		"_Z1kPK",
		"_Z1kA4f",
		"_Z1kT_",
		"_Z0Pf",
		"__nv_static_9__",
		"__nv_static_3__ab_Z1kPf",
		"__nv_static_",
		"__nv_static_99999999999__a_Z1kPf",
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		signature_is(cases[i], "");
	char deep[4096] = "_Z1k";
	memset(deep + 4, 'P', sizeof deep - 6);
	deep[sizeof deep - 2] = 'f';
	signature_is(deep, "");
}
END_TEST

/* A random parameter list that the grammar of kernels allows, with substitutions as a compiler would choose them being
   left out: the demangler accepts both forms, and what we say must agree with it. */
START_TEST(signatures_agree_with_the_demangler)
{
	static const char *const piece[] = {"Pf",
					    "PKf",
					    "i",
					    "PPf",
					    "PKPf",
					    "PPKf",
					    "S_",
					    "S0_",
					    "PS_",
					    "PKS_",
					    "S1_",
					    "PS1_",
					    "PKS2_",
					    "T_",
					    "PT_",
					    "PKT_",
					    "T0_",
					    "PT0_",
					    "4Pair",
					    "P4Pair",
					    "PK4Pair",
					    "N2ns4ViewIfEE",
					    "PKN2ns4ViewIKfEE",
					    "PS3_",
					    "PKS4_",
					    "PVKi"};
	static const char *const head[] = {"_Z1k", "_ZN2ns1kE", "_Z1kIfKiEv", "_ZN2ns1kIPKfPdEEv", "_Z1kI4PairPfEv"};
	unsigned random = 1, told = 0;
	for (int round = 0; round < 20000; round++) {
		char name[256], want[64];
		enum sw_signature sig[16];
		random = random * 1103515245 + 12345;
		strcpy(name, head[(random >> 16) % 5]);
		for (int i = 0; i < 1 + round % 6; i++) {
			random = random * 1103515245 + 12345;
			strcat(name, piece[(random >> 16) % (sizeof piece / sizeof *piece)]);
		}
		size_t n = sw_signature_of(name, sig, 16), demangled = demangled_signature(name, want, sizeof want);
		if (!n)
			continue; /* nothing reported is never wrong */
		told++;
		ck_assert_msg(demangled == n, "%s: %zu parameters, not %zu", name, n, demangled);
		for (size_t i = 0; i < n; i++)
			if (sig[i] == SW_SIG_POINTER_CONST || want[i] == 'c')
				ck_assert_msg(sig[i] == SW_SIG_POINTER_CONST && want[i] == 'c',
					      "%s: parameter %zu: %d, not %c", name, i, (int)sig[i], want[i]);
	}
	ck_assert_uint_gt(told, 5000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image");
	TCase *tc = tcase_create("image");
	tcase_add_test(tc, kinds_are_told_by_magic);
	tcase_add_test(tc, wrappers_lead_to_their_fatbin);
	tcase_add_test(tc, damaged_fatbins_are_an_error_with_its_offset);
	tcase_add_test(tc, what_cannot_be_decompressed_says_why);
	tcase_add_test(tc, the_best_image_for_a_device_is_taken);
	tcase_add_test(tc, ptx_parameters_are_laid_out_by_alignment);
	tcase_add_test(tc, ptx_that_is_not_understood_is_an_error_with_its_offset);
	tcase_add_test(tc, signatures_tell_pointers_and_const);
	tcase_add_test(tc, names_that_tell_nothing_tell_nothing);
	tcase_add_test(tc, signatures_agree_with_the_demangler);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
