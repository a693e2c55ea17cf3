/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code to programs: encodings as nvcc 13.0 and nvdisasm 13.0 write them, put in place of a kernel's first. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "footprint/code.h"
#include "image/image.h"
#include "../run_suite.h"

static const struct {
	int arch;
	uint64_t low, high;
	const char *expected; /* the lines of the first instruction */
} cases[] = {
	/* setmaxnreg.inc and .dec */
	{90, 0x000000e8000079c8, 0x000e240008000600, "r520.1 = range 0 1"},
	{90, 0x00000018000079c8, 0x000e0000080e0500, ""},
	/* VOTE.ANY R0, PT, PT and !PT; VOTE.ANY R0, PT, P0; VOTEU.ANY UR4, UPT, PT and P0: some lane is active */
	{90, 0x0000000000007806, 0x000fe200038e0100, "r0.32 = mix"},
	{90, 0x0000000000007806, 0x000fe200078e0100, "r0.32 = range 0 4294967295"},
	{90, 0x0000000000007806, 0x000fe200000e0100, "r0.32 = range 0 4294967295"},
	{75, 0x0000000000047886, 0x000fe200038e0100, "r260.32 = mix"},
	{100, 0x0000000000047886, 0x000fe400000e0100, "r260.32 = range 0 4294967295"},
	/* FLO.U32.SH R5, R0; UFLO.U32.SH UR4, UR4: as certain as the mask */
	{90, 0x0000000000057300, 0x001e2400000e0400, "r5.32 = mix r0"},
	{120, 0x00000004000472bd, 0x000fe200080e0400, "r260.32 = mix r260"},
	/* IADD3 R6, P0, -R2, R4, RZ */
	{80, 0x0000000402067210, 0x000fc80007f1e1ff,
	 "r528.32 = not r2; r529.1 = carry r528, r4, 1; r6.32 = sub r4, r2; r512.1 = mov r529"},
	/* IADD3.X R4, ~R3, R5, RZ, P0, !PT */
	{80, 0x0000000503047210, 0x000fe400007fe5ff, "r528.32 = not r3; r4.32 = addx r528, r5, r512"},
	/* IMAD.WIDE R2, R6, 0x4, R2 */
	{80, 0x0000000406027825, 0x000fca00078e0202,
	 "r528.64 = mulwide.signed r6, 4; r529.64 = pair r2, r3; r530.64 = add r528, r529; r2.32 = low r530; "
	 "r3.32 = high r530"},
	/* IMAD.MOV.U32 R21, RZ, RZ, 0x0: the form of the third operand; @!P2 IMAD.X R3, R3, 0x1, ~R16, P0 */
	{90, 0x000000010303a824, 0x00000000000e0e10, "r528.32 = not r16; @!r514 r3.32 = addx r3, r528, r512"},
	/* IMAD.HI R2, R3, -0x6db6db6d, R2 */
	{90, 0x9249249303027827, 0x00000000078e0202,
	 "r528.64 = mulwide.signed r3, -1840700269; r529.64 = pair r2, r3; r530.64 = add r528, r529; r2.32 = high "
	 "r530"},
	/* LEA.HI.X R7, R2, UR13, R3, 0x2, P0 */
	{100, 0x0000000d02077c11, 0x000fcc00080f1403,
	 "r528.64 = pair r2, r3; r529.64 = shl r528, 2; r530.32 = high r529; r7.32 = addx r530, r269, r512"},
	/* MOV R1, c[0x0][0xc0], [0xc4]: where the bank begins; [0x198]: where the parameters do; [0xc8]: not known */
	{90, 0x0000300000017a02, 0x000fe40000000f00, "r528.64 = &param -528; r1.32 = low r528"},
	{90, 0x0000310000017a02, 0x000fe40000000f00, "r528.64 = &param -528; r1.32 = high r528"},
	{90, 0x0000660000017a02, 0x000fe40000000f00, "r528.64 = &param 0; r1.32 = low r528"},
	{90, 0x0000320000017a02, 0x000fe40000000f00, "r1.32 = environment"},
	{80, 0x0000300000017a02, 0x000fe40000000f00, "r1.32 = environment"},
	/* SHF.R.S32.HI R5, RZ, 0x1f, R4 */
	{80, 0x0000001fff057819, 0x000fc80000011404, "r5.32 = shr.signed r4, 31"},
	/* LOP3.LUT R0, R0, 0x3, RZ, 0xc0, !PT */
	{90, 0x0000000300007812, 0x000fc800078ec0ff, "r0.32 = and r0, 3"},
	/* UISETP.GE.U64.AND UP0, UPT, UR6, UR4, UPT */
	{120, 0x000000040600728c, 0x000fd2000bf16070,
	 "r528.64 = pair r262, r263; r529.64 = pair r260, r261; r520.1 = compare.ge.64 r528, r529"},
	/* SEL.64 R2, R2, R4, !P0 */
	{120, 0x0000000402027607, 0x000fe40004000000,
	 "r528.64 = pair r2, r3; r529.64 = pair r4, r5; r530.1 = not r512; r531.64 = select r530, r528, r529; "
	 "r2.32 = low r531; r3.32 = high r531"},
	/* SEL.64 R4, RZ, UR50, P0 */
	{120, 0x00000032ff047e07, 0x000fe40008000000,
	 "r528.64 = pair r306, r307; r529.64 = select r512, 0, r528; r4.32 = low r529; r5.32 = high r529"},
	/* LDGSTS.E.BYPASS.LTC128B.128 [R203+UR19+0x10080], [R224.64+0x80], P0: the uniform register is of the target */
	{100, 0x10080080e0cb7dae, 0x0005e20008180a13,
	 "r528.64 = pair r224, r225; r529.64 = add r528, 128; @r512 bulk.global.read [r529], 16"},
	/* LDGSTS.E.LTC128B.128 [R209], [R4.64+UR8], P4: of the source */
	{120, 0x0000000004d17fae, 0x0005e2000a1a0a08,
	 "r528.64 = pair r4, r5; r529.64 = pair r264, r265; r530.64 = add r528, r529; @r516 bulk.global.read [r530], "
	 "16"},
	/* LDGSTS.E.BYPASS.128.ZFILL, 8 of 16 bytes, without a predicate */
	{100, 0x0000000802077fae, 0x008fe8000b9c1806, "r528.64 = pair r2, r3; bulk.global.read [r528], 8"},
	/* LDG.E R24, [R32.64+UR8]: no descriptor */
	{80, 0x0000000820187981, 0x000322000c1e0900,
	 "r528.64 = pair r32, r33; r529.64 = pair r264, r265; r530.64 = add r528, r529; r531.32 = load.global 1x4 "
	 "[r530]; "
	 "r24.32 = mov r531"},
	/* ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR8][R4.64], R9: a descriptor */
	{120, 0x80000009040479a8, 0x001ea400081ef108,
	 "r528.64 = pair r4, r5; r529.32 = atomic.global 1x4 [r528], r9; r4.32 = mov r529"},
	/* @P0 R2UR P1, UR5, R46, of NCCL's copies; R2UR UR8, R22 */
	{120, 0x000000002e0502ca, 0x002fd00000020000, "@r512 r261.32 = mov r46; @r512 r513.1 = mix"},
	{120, 0x00000000160872ca, 0x000fe400000e0000, "r264.32 = mov r22"},
	/* IADD R23, RZ, -R21; IADD.64 is another bit */
	{120, 0x80000015ff177235, 0x001fca00078e0000, "r23.32 = sub 0, r21"},
	/* SEL.64 R2, R2, 0x2, P0 */
	{120, 0x0000000202027407, 0x000fe40000000000,
	 "r528.64 = pair r2, r3; r529.64 = select r512, r528, 2; r2.32 = low r529; r3.32 = high r529"},
	/* ATOMS.CAST.SPIN P0, [R5], R10, R11: no register is written */
	{100, 0x0000000a0500758d, 0x000e24000180000b, "r512.1 = range 0 1"},
	/* P2R R6, PR, RZ, 0x5 and R2P PR, R2, 0x5; with another byte of the register: unknown */
	{90, 0x00000005ff067803, 0x000fe20000000000,
	 "r528.32 = or 0, 1; r529.32 = select r512, r528, 0; r530.32 = or r529, 4; r6.32 = select r514, r530, r529"},
	{90, 0x0000000502007804, 0x000fe20000000000,
	 "r528.32 = and r2, 1; r512.1 = compare.ne.32 r528, 0; r530.32 = and r2, 4; r514.1 = compare.ne.32 r530, 0"},
	{90, 0x0000000502007804, 0x000fe20000001000, "r512.1 = range 0 1; r514.1 = range 0 1"},
	{90, 0x0000000504067803, 0x000fe20000000000, "r6.32 = range 0 4294967295"},
	/* VIMNMX3 R12, R4, R13, R12, !PT */
	{90, 0x0000000d040c720f, 0x004fe4000780010c, "r528.32 = max.signed r4, r13; r12.32 = max.signed r528, r12"},
	/* HFMA2.MMA R4, -RZ, RZ, 0, 2.384185791015625e-07: the integer 4 */
	{90, 0x00000004ff047435, 0x000fe200000001ff, "r4.32 = mov 4"},
	/* its twin that is a product of halves */
	{90, 0x0000000402047231, 0x000fe20000000003, "r4.32 = range 0 4294967295"},
	/* LDG.E.64.CONSTANT R10, desc[UR6][R10.64+0x8] */
	{90, 0x000008060a0a7981, 0x000ea2000c1e9b00,
	 "r528.64 = pair r10, r11; r529.64 = load.global 1x8 [r528+8]; r10.32 = low r529; r11.32 = high r529"},
	/* LDG.E.STRONG.SYS R0, desc[UR4][R2.64] polls; ST.E.64 to the stack's generic address does not */
	{90, 0x0000000402007981, 0x001ea4000c1f5900,
	 "r528.64 = pair r2, r3; r529.32 = load.global.volatile 1x4 [r528]; r0.32 = mov r529"},
	/* ST.E.64 [R16+0x68], R4 and, of sm_75, LD.E.SYS R5, [R2+0x4]: displacements of 32 bits */
	{80, 0x0000006810007385, 0x0001e40000100b04, "r528.64 = pair r16, r17; store 2x4 [r528+104], r4, r5"},
	{75, 0x0000000402057980, 0x0000a8000010e900,
	 "r528.64 = pair r2, r3; r529.32 = load 1x4 [r528+4]; r5.32 = mov r529"},
	/* LD.E.64 R4, [R14+0x8] of NCCL, without a descriptor */
	{90, 0x000000080e047980, 0x020ea40000100b00,
	 "r528.64 = pair r14, r15; r529.64 = load 1x8 [r528+8]; r4.32 = low r529; r5.32 = high r529"},
	{120, 0x000000080e047980, 0x020ea40000100b00,
	 "r528.64 = pair r14, r15; r529.64 = load 1x8 [r528+8]; r4.32 = low r529; r5.32 = high r529"},
	/* sm_75: LD.E.64.SYS R6, [R50.64+UR4] and ST.E.64.SYS [R4.64+UR4], R6: of 24 bits with a uniform register */
	{75, 0x0000000432067980, 0x000362000c10eb00,
	 "r528.64 = pair r50, r51; r529.64 = pair r260, r261; r530.64 = add r528, r529; r531.64 = load 1x8 [r530]; "
	 "r6.32 = low r531; r7.32 = high r531"},
	{75, 0x0000000604007985, 0x0003e6000c10eb04,
	 "r528.64 = pair r4, r5; r529.64 = pair r260, r261; r530.64 = add r528, r529; store 2x4 [r530], r6, r7"},
	/* sm_75: ATOM.E.ADD.64.STRONG.GPU P0, R4, [R16+0x60], R8 and ATOM.E.MAX.64.STRONG.SYS P0, RZ, [R4], R6: scopes
	 */
	{75, 0x000060081004738a, 0x000ea200001145ff,
	 "r528.64 = pair r16, r17; r530.64 = pair r8, r9; r529.64 = atomic 1x8 [r528+96], r530; r4.32 = low r529; "
	 "r5.32 = high r529; r512.1 = mix"},
	{75, 0x0000000604ff738a, 0x004ea400011165ff,
	 "r528.64 = pair r4, r5; r530.64 = pair r6, r7; atomic.volatile 1x8 [r528], r530; r512.1 = mix"},
	/* sm_75: @P0 RED.E.ADD.STRONG.CTA [R2], R9: of the block's threads alone it orders nothing with others */
	{75, 0x000000090200098e, 0x004fe80000110100,
	 "r528.64 = pair r2, r3; @r512 atomic.global.read.write 1x4 [r528], r9"},
	/* STG.E.U16 desc[UR12][R4.64], R9 */
	{90, 0x0000000904007986, 0x004fe2000c10150c, "r528.64 = pair r4, r5; store.global 1x2 [r528], r9"},
	/* LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64-0x10] */
	{90, 0x00000ff002057fae, 0x000fe2000b901c44,
	 "r528.64 = pair r2, r3; r529.64 = add r528, -16; bulk.global.read [r529], 16"},
	/* STG.E.ENL2.256 desc[UR6][R4.64-0x20], R8, R12: displacement of 19 bits, two groups */
	{100, 0xffffff08040c797f, 0x000000000f121804,
	 "r528.64 = pair r4, r5; store.global 8x4 [r528-32], r8, r9, r10, r11, r12, r13, r14, r15"},
	/* @P0 REDG.E.ADD.64.STRONG.GPU desc[UR12][R20.64], R22 */
	{100, 0x000000161400098e, 0x0043e8000c12e50c,
	 "r528.64 = pair r20, r21; r530.64 = pair r22, r23; @r512 atomic.global 1x8 [r528], r530"},
};

static uint64_t code_at;
static int find_code(void *arg, const struct sw_cubin_kernel *k)
{
	if (strcmp(k->name, "saxpy"))
		return 0;
	code_at = (uint64_t)((const char *)k->code - (const char *)arg);
	return 1;
}

static char *committed(const char *name, size_t *bytes)
{
	const char *top = getenv("top_srcdir");
	char *path = sw_format("%s/tests/footprint/sass/%s.cubin", top ? top : ".", name), *cubin = sw_alloc(1 << 16);
	FILE *file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "%s", path);
	*bytes = fread(cubin, 1, 1 << 16, file);
	fclose(file);
	free(path);
	return cubin;
}

/* The committed cubin of an architecture with the kernel's first instruction replaced. */
static char *patched(int arch, uint64_t low, uint64_t high, size_t *bytes)
{
	char *name = sw_format("sm_%d", arch), *cubin = committed(name, bytes);
	free(name);
	ck_assert_int_eq(sw_cubin_walk(cubin, *bytes, NULL, find_code, cubin, NULL), 1);
	memcpy(cubin + code_at, &low, 8);
	memcpy(cubin + code_at + 8, &high, 8);
	return cubin;
}

/* "N: text" lines without numbers, joined, of the instructions made of the first one. */
static char *first_lines(const struct sw_program *p)
{
	char *text = NULL, *out = sw_strdup("");
	size_t n = 0;
	uint32_t lines = 0;
	FILE *f = open_memstream(&text, &n);
	sw_program_print(p, f);
	fclose(f);
	while (lines < p->function[0].insns && p->function[0].insn[lines].place == 0)
		lines++;
	for (uint32_t k = 0; k < lines; k++) {
		char *number = sw_format("\n%u: ", k), *at = strstr(text, number);
		ck_assert(at != NULL);
		at += strlen(number);
		char *joined = sw_format("%s%s%.*s", out, k ? "; " : "", (int)strcspn(at, "\n"), at);
		free(out);
		free(number);
		out = joined;
	}
	free(text);
	return out;
}

START_TEST(test_encoding)
{
	size_t bytes;
	struct sw_program program;
	struct sw_error error;
	uint32_t arch;
	char *cubin = patched(cases[_i].arch, cases[_i].low, cases[_i].high, &bytes);
	ck_assert_msg(!sw_sass_read(cubin, bytes, "saxpy", &program, &arch, &error), "%s", error.text);
	ck_assert_int_eq((int)arch, cases[_i].arch);
	char *lines = first_lines(&program);
	ck_assert_str_eq(lines, cases[_i].expected);
	free(lines);
	sw_program_free(&program);
	free(cubin);
}
END_TEST

/* Code that was cut out of its section touches nothing, and proves nothing. */
START_TEST(test_zeros)
{
	size_t bytes;
	struct sw_program program;
	for (int zeros = 0; zeros < 2; zeros++) {
		/* NOP, as there are many; zeros */
		char *cubin = patched(90, zeros ? 0 : 0x7918, zeros ? 0 : 0x000fc00000000000, &bytes);
		ck_assert_int_eq(sw_sass_read(cubin, bytes, "saxpy", &program, NULL, NULL), 0);
		ck_assert_int_eq(program.wild != NULL, zeros);
		sw_program_free(&program);
		free(cubin);
	}
}
END_TEST

/* An instruction that is unknown: what it may read counts, what it may write is not what it was. */
START_TEST(test_unknown)
{
	size_t bytes;
	struct sw_program program;
	char *cubin = patched(90, 0x00000004020a71ff, 0x000fe20000000006, &bytes);
	ck_assert_int_eq(sw_sass_read(cubin, bytes, "saxpy", &program, NULL, NULL), 0);
	bool opaque = false, blurred = false;
	for (uint32_t k = 0; k < program.function[0].insns; k++) {
		const struct sw_insn *i = &program.function[0].insn[k];
		opaque |= i->op == SW_OP_OPAQUE && !strcmp(i->text, "unknown instruction 0x1ff");
		blurred |= i->op == SW_OP_MIX && i->dst == 10 && i->src[0].reg == 10;
	}
	ck_assert(opaque);
	ck_assert(blurred);
	sw_program_free(&program);
	free(cubin);
}
END_TEST

/* Launched with blocks of one thread, its code runs in more: it must not be read as it stands.  Either mark is enough:
   cubins of tileiras 13.1 and 13.2 have but the section. */
START_TEST(test_tile_kernel)
{
	static const char language[8] = "\x04\x66\x04\0\x07\0\0", section[4] = "\x87\0\0\x70";
	for (int marks = 0; marks < 4; marks++) {
		size_t bytes;
		struct sw_program program;
		struct sw_error error;
		char *cubin = committed("tile", &bytes), *at;
		if (!(marks & 1)) {
			ck_assert_ptr_nonnull(at = memmem(cubin, bytes, language, sizeof language));
			at[4] = 3; /* CUDA C++ */
		}
		if (!(marks & 2)) {
			ck_assert_ptr_nonnull(at = memmem(cubin, bytes, section, sizeof section));
			at[0] = 1;
		}
		ck_assert_int_eq(sw_sass_read(cubin, bytes, "tile_copy", &program, NULL, &error),
				 marks ? SW_E_UNSUPPORTED : 0);
		if (marks)
			ck_assert_str_eq(error.text, "cubin: tile_copy is a tile kernel (Tile IR), which isn't read");
		else
			sw_program_free(&program);
		free(cubin);
	}
}
END_TEST

START_TEST(test_no_such_kernel)
{
	size_t bytes;
	struct sw_program program;
	struct sw_error error;
	char *cubin = patched(90, 0, 0, &bytes);
	ck_assert_int_lt(sw_sass_read(cubin, bytes, "saxpies", &program, NULL, &error), 0);
	ck_assert_ptr_nonnull(strstr(error.text, "saxpies"));
	ck_assert_int_lt(sw_sass_read(cubin, 100, "saxpy", &program, NULL, &error), 0);
	ck_assert_uint_eq(program.functions, 0);
	free(cubin);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sass");
	TCase *all = tcase_create("all");
	tcase_add_loop_test(all, test_encoding, 0, (int)(sizeof cases / sizeof *cases));
	tcase_add_test(all, test_zeros);
	tcase_add_test(all, test_unknown);
	tcase_add_test(all, test_tile_kernel);
	tcase_add_test(all, test_no_such_kernel);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
