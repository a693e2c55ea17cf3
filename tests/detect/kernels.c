/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* r1: index of the thread in the grid; p0: false where it is not below the parameter `n`. */
#define INDEX                                                                                                          \
	".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n"                                                     \
	"mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"                                          \
	"mad.lo.s32 %r1, %r2, %r3, %r4;\n"
#define BELOW(n) "ld.param.u32 %r5, [" n "]; setp.ge.s32 %p0, %r1, %r5; @%p0 bra DONE;\n"
/* rd: address of 4-byte element `index` of the array in parameter `p`. */
#define ELEMENT(rd, p, index)                                                                                          \
	"ld.param.u64 " rd ", [" p "]; cvta.to.global.u64 " rd ", " rd "; mul.wide.s32 %rd9, " index                   \
	", 4; add.s64 " rd ", " rd ", %rd9;\n"
#define DONE "DONE: ret;\n}\n"

/* p[i] = 0 and a look at flags[flags[i]], which others set meanwhile */
/* clang-format off */
#define WAITING                                                                                                        \
	".visible .entry waits(.param .u64 p, .param .u64 flags, .param .u32 n)\n{\n" INDEX BELOW("n")                  \
	ELEMENT("%rd1", "p", "%r1") "st.global.u32 [%rd1], 0;\n"                                                        \
	ELEMENT("%rd2", "flags", "%r1") "ld.global.u32 %r8, [%rd2];\n"                                                  \
	ELEMENT("%rd3", "flags", "%r8") "ld.volatile.global.u32 %r9, [%rd3];\n" DONE
/* p[i] = table[i] */
#define LOOKING_UP                                                                                                     \
	".visible .entry look_up(.param .u64 p)\n{\n" INDEX ELEMENT("%rd1", "p", "%r1")                                 \
	"mov.u64 %rd3, table; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd3, %rd2;\n"                                    \
	"ld.global.u32 %r8, [%rd3]; st.global.u32 [%rd1], %r8;\n" DONE
/* *(mode ? *table : plain) = 0 */
#define EITHER_WAY                                                                                                     \
	".visible .entry either(.param .u64 table, .param .u64 plain, .param .u32 mode)\n{\n" INDEX                    \
	"ld.param.u64 %rd1, [table]; ld.param.u64 %rd2, [plain]; ld.param.u32 %r5, [mode];\n"                           \
	"setp.eq.u32 %p0, %r5, 0; @%p0 bra PLAIN; ld.global.u64 %rd2, [%rd1];\n"                                        \
	"PLAIN: st.global.u32 [%rd2], 0;\n" DONE TENSORS LAYERS
/* the tensor of a map is written, or read, and p[i] = 0 for i < n */
#define TENSORS                                                                                                        \
	".visible .entry tensor(.param .align 64 .b8 map[128], .param .u64 p, .param .u32 n, .param .u32 reads)\n{\n"   \
	INDEX "mov.b64 %rd1, map; ld.param.u32 %r5, [reads]; setp.ne.u32 %p0, %r5, 0; mov.u32 %r6, 0; @%p0 bra READ;\n" \
	"cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r1}], [%r6]; bra NEXT;\n"                 \
	"READ: cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"                        \
	" [%r6], [%rd1, {%r1}], [%r6];\nNEXT:\n" BELOW("n") ELEMENT("%rd1", "p", "%r1") "st.global.u32 [%rd1], 0;\n" DONE \
	OVERLAPS
/* layers `first` and, one for each block, from there on of a surface are written */
#define LAYERS                                                                                                         \
	".visible .entry draw(.param .u64 surface, .param .u32 first)\n{\n" INDEX                                      \
	"ld.param.u64 %rd1, [surface]; ld.param.u32 %r5, [first]; add.s32 %r6, %r5, %r2;\n"                            \
	"sust.b.a2d.b32.trap [%rd1, {%r6, %r4, %r4, %r4}], {%r4};\n" DONE                                              \
	".visible .entry draw_any(.param .u64 surface, .param .u64 p)\n{\n" INDEX                                      \
	"ld.param.u64 %rd1, [surface]; ld.param.u64 %rd2, [p]; ld.global.u32 %r6, [%rd2];\n"                           \
	"sust.b.a2d.b32.trap [%rd1, {%r6, %r4, %r4, %r4}], {%r4};\n" DONE
/* out[i] = in[i], with griddepcontrol before, between and after the two */
#define OVERLAP(name, before, between, after)                                                                           \
	".visible .entry " name "(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n" INDEX before BELOW("n")         \
	ELEMENT("%rd1", "in", "%r1") ELEMENT("%rd2", "out", "%r1")                                                      \
	"ld.global.u32 %r8, [%rd1];\n" between "st.global.u32 [%rd2], %r8;\n" after DONE
#define OVERLAPS                                                                                                        \
	OVERLAP("early", TRIGGER, "", "") OVERLAP("late", "", "", TRIGGER) OVERLAP("first", TRIGGER GRID_WAIT, "", "")  \
	OVERLAP("middle", GRID_WAIT TRIGGER, "", "") OVERLAP("behind", GRID_WAIT, "", "") OVERLAP("between", "", GRID_WAIT, "") \
	".visible .entry perhaps(.param .u64 out, .param .u64 in, .param .u32 waits)\n{\n" INDEX         \
	"ld.param.u32 %r6, [waits]; setp.eq.u32 %p1, %r6, 0; @%p1 bra GO;\n" GRID_WAIT "GO:\n"                       \
	ELEMENT("%rd1", "in", "%r1") ELEMENT("%rd2", "out", "%r1")                                                      \
	"ld.global.u32 %r8, [%rd1]; st.global.u32 [%rd2], %r8;\n" DONE
#define TRIGGER	  "griddepcontrol.launch_dependents;\n"
#define GRID_WAIT "griddepcontrol.wait;\n"
/* clang-format on */
/* while (*p) *p++ = 0, or backwards: nothing bounds it. */
#define WALK(name, step)                                                                                               \
	".visible .entry " name "(.param .u64 p)\n{\n.reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"           \
	"ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1;\n"                                                     \
	"AGAIN: ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], 0; " step ".s64 %rd1, %rd1, 4;\n"                     \
	"setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN; ret;\n}\n"

#define MODULE(target)                                                                                                                                                                                                                                                                                  \
	".version 8.0\n.target " target "\n.address_size 64\n"                                                                                                                                                                                                                                          \
	".visible .global .align 4 .b8 counters[1024];\n"                                                                                                                                                                                                                                               \
	".visible .global .align 4 .b8 table[2048];\n"                                                                                                                                                                                                                                                  \
	".extern .func outside (.param .b64 x);\n" /* p[first + i] = 0 for i < n */                                                                                                                                                                                                                     \
	".visible .entry fill(.param .u64 p, .param .u32 first, .param .u32 n)\n{\n" INDEX                                                                                                                                                                                                              \
		BELOW("n") "ld.param.u32 %r6, [first]; add.s32 %r7, %r1, %r6;\n" ELEMENT(                                                                                                                                                                                                               \
			"%rd1", "p",                                                                                                                                                                                                                                                                    \
			"%r7") "st.global.u32 "                                                                                                                                                                                                                                                         \
			       "[%rd1], 0;\n" DONE /* out[i] = in[i] */                                                                                                                                                                                                                                 \
			       ".visible .entry "                                                                                                                                                                                                                                                       \
			       "copy(.param .u64 "                                                                                                                                                                                                                                                      \
			       "out, .param .u64 "                                                                                                                                                                                                                                                      \
			       "in, .param .u32 "                                                                                                                                                                                                                                                       \
			       "n)\n{\n" INDEX BELOW("n") ELEMENT("%rd1", "in", "%r1") ELEMENT(                                                                                                                                                                                                         \
				       "%rd2", "out",                                                                                                                                                                                                                                                   \
				       "%r1") "ld.global.u32 %r8, [%rd1]; st.global.u32 [%rd2], %r8;\n" DONE /* p[index[i]]                                                                                                                                                                             \
														= 0 */                                                                                                                                                                                  \
					      ".visible .entry scatter(.param .u64 p, .param .u64 index, "                                                                                                                                                                                              \
					      ".param .u32 n)\n{\n" INDEX BELOW("n") ELEMENT("%rd1", "index", "%r1") "ld.global.u32 %r8, [%rd1];\n" ELEMENT(                                                                                                                                            \
						      "%rd2", "p",                                                                                                                                                                                                                                      \
						      "%r8") "st.global.u32 [%rd2], 0;\n" DONE /* p[index[i] &                                                                                                                                                                                          \
												  255] = 0 */                                                                                                                                                                                           \
							     ".visible .entry masked(.param .u64 p, .param "                                                                                                                                                                                            \
							     ".u64 index, .param .u32 n)\n{\n" INDEX BELOW("n") ELEMENT("%rd1", "index", "%r1") "ld.global.u32 %r8, [%rd1]; and.b32 %r8, %r8, 255;\n" ELEMENT(                                                                                          \
								     "%rd2", "p",                                                                                                                                                                                                                       \
								     "%r8") "st.global.u32 [%rd2], 0;\n" DONE /* atomicAdd(&p[i],                                                                                                                                                                       \
														 1) */                                                                                                                                                                                  \
									    ".visible .entry count(.param "                                                                                                                                                                                             \
									    ".u64 p, .param .u32 "                                                                                                                                                                                                      \
									    "n)\n{\n" INDEX BELOW("n") ELEMENT(                                                                                                                                                                                         \
										    "%rd1", "p",                                                                                                                                                                                                        \
										    "%r1") "red.global.add."                                                                                                                                                                                            \
											   "u32 [%rd1], "                                                                                                                                                                                               \
											   "1;\n" DONE /* p[i]                                                                                                                                                                                          \
													  = 0,                                                                                                                                                                                          \
													  seen                                                                                                                                                                                          \
													  by                                                                                                                                                                                            \
													  whoever                                                                                                                                                                                       \
													  polls                                                                                                                                                                                         \
													  it                                                                                                                                                                                            \
													*/                                                                                                                                                                                              \
											   ".visible .entry "                                                                                                                                                                                           \
											   "signal(.param "                                                                                                                                                                                             \
											   ".u64 p, .param "                                                                                                                                                                                            \
											   ".u32 "                                                                                                                                                                                                      \
											   "n)\n{\n" INDEX BELOW("n") ELEMENT(                                                                                                                                                                          \
												   "%rd1", "p",                                                                                                                                                                                         \
												   "%r1") "st"                                                                                                                                                                                          \
													  ".v"                                                                                                                                                                                          \
													  "ol"                                                                                                                                                                                          \
													  "at"                                                                                                                                                                                          \
													  "il"                                                                                                                                                                                          \
													  "e."                                                                                                                                                                                          \
													  "gl"                                                                                                                                                                                          \
													  "ob"                                                                                                                                                                                          \
													  "al"                                                                                                                                                                                          \
													  ".u"                                                                                                                                                                                          \
													  "32"                                                                                                                                                                                          \
													  " ["                                                                                                                                                                                          \
													  "%r"                                                                                                                                                                                          \
													  "d1"                                                                                                                                                                                          \
													  "],"                                                                                                                                                                                          \
													  " 0"                                                                                                                                                                                          \
													  ";"                                                                                                                                                                                           \
													  "\n" DONE /* struct { int *stale, *used; int n; } by value: used[i] = 0 */                                                                                                                    \
													  ".v"                                                                                                                                                                                          \
													  "is"                                                                                                                                                                                          \
													  "ib"                                                                                                                                                                                          \
													  "le"                                                                                                                                                                                          \
													  " ."                                                                                                                                                                                          \
													  "en"                                                                                                                                                                                          \
													  "tr"                                                                                                                                                                                          \
													  "y "                                                                                                                                                                                          \
													  "me"                                                                                                                                                                                          \
													  "mb"                                                                                                                                                                                          \
													  "er"                                                                                                                                                                                          \
													  "s("                                                                                                                                                                                          \
													  ".p"                                                                                                                                                                                          \
													  "ar"                                                                                                                                                                                          \
													  "am"                                                                                                                                                                                          \
													  " ."                                                                                                                                                                                          \
													  "al"                                                                                                                                                                                          \
													  "ig"                                                                                                                                                                                          \
													  "n "                                                                                                                                                                                          \
													  "8 "                                                                                                                                                                                          \
													  ".b"                                                                                                                                                                                          \
													  "8 "                                                                                                                                                                                          \
													  "s["                                                                                                                                                                                          \
													  "24"                                                                                                                                                                                          \
													  "])"                                                                                                                                                                                          \
													  "\n"                                                                                                                                                                                          \
													  "{"                                                                                                                                                                                           \
													  "\n" INDEX BELOW("s+16") ELEMENT(                                                                                                                                                             \
														  "%r"                                                                                                                                                                                  \
														  "d"                                                                                                                                                                                   \
														  "1",                                                                                                                                                                                  \
														  "s+"                                                                                                                                                                                  \
														  "8",                                                                                                                                                                                  \
														  "%r"                                                                                                                                                                                  \
														  "1") "st.global.u32 [%rd1], 0;\n" DONE /* **table = 0 */                                                                                                                              \
														       ".visible .entry chase(.param .u64 table)\n{\n" INDEX                                                                                                                            \
														       "ld.param.u64 %rd1, [table]; cvta.to.global.u64 %rd1, %rd1; ld.global.u64 %rd2, [%rd1];\n"                                                                                       \
														       "st.global.u32 [%rd2], 0;\n" DONE /* counters[i] = 0 */                                                                                                                          \
															       WALK("forth", "add") WALK(                                                                                                                                               \
																       "back",                                                                                                                                                          \
																       "sub") ".visible .entry variable()\n{\n" INDEX                                                                                                                   \
																	      "mov.u64 %rd1, counters; mul.wide.u32 %rd2, %r4, 4;\n"                                                                                                    \
																	      "add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], 0;\n" DONE /* p[i] = texture(i) */                                                                       \
																	      ".visible .entry fetch(.param .u64 p, .param .u64 texture)\n{\n.reg .f32 %f<8>;\n" INDEX                                                                  \
																		      ELEMENT("%rd1",                                                                                                                                   \
																			      "p",                                                                                                                                      \
																			      "%r1") "ld.param.u64 %rd2, [texture];\n"                                                                                                  \
																				     "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd2, {%r1}]; st.global.f32 [%rd1], %f1;\n" DONE /* whatever `outside` does with p[0] */ \
																				     ".visible .entry wild(.param .u64 p)\n{\n" INDEX                                                                                   \
																				     "ld.param.u64 %rd1, [p];\n{ .param .b64 x;\n"                                                                                      \
																				     "st.param.b64 [x], %rd1; call.uni outside, (x);\n}\n" DONE                                                                         \
																					     WAITING LOOKING_UP                                                                                                         \
																						     EITHER_WAY

const char *test_kernels(size_t *bytes)
{
	static const char text[] = MODULE("sm_90");
	*bytes = sizeof text - 1;
	return text;
}

const char *test_kernels_elsewhere(size_t *bytes)
{
	static const char text[] = MODULE("sm_120");
	*bytes = sizeof text - 1;
	return text;
}

static const struct {
	const char *name;
	uint32_t params;
	unsigned bytes[3];
} layouts[] = {
	{"fill", 3, {8, 4, 4}},	   {"copy", 3, {8, 8, 4}},   {"scatter", 3, {8, 8, 4}}, {"masked", 3, {8, 8, 4}},
	{"count", 2, {8, 4}},	   {"signal", 2, {8, 4}},    {"members", 1, {24}},	{"chase", 1, {8}},
	{"variable", 0, {0}},	   {"fetch", 2, {8, 8}},     {"wild", 1, {8}},		{"waits", 3, {8, 8, 4}},
	{"forth", 1, {8}},	   {"back", 1, {8}},	     {"look_up", 1, {8}},	{"either", 3, {8, 8, 4}},
	{"draw", 2, {8, 4}},	   {"draw_any", 2, {8, 8}},  {"early", 3, {8, 8, 4}},	{"late", 3, {8, 8, 4}},
	{"first", 3, {8, 8, 4}},   {"middle", 3, {8, 8, 4}}, {"behind", 3, {8, 8, 4}},	{"between", 3, {8, 8, 4}},
	{"perhaps", 3, {8, 8, 4}},
};

uint32_t test_tensor_function(struct tb *tb)
{
	static const struct sw_param params[] = {{0, 128}, {128, 8}, {136, 4}, {140, 4}};
	return tb_function_laid(tb, "tensor", 4, params);
}

void test_launch_tensor(struct tb *tb, uint32_t function, uint64_t address, uint64_t p, uint64_t random,
			uint64_t stream)
{
	struct {
		uint64_t address;
		uint32_t flags, strides[5], last[5], box[3];
		uint64_t other[8], p;
		uint32_t n, reads;
	} block = {.address = address, .p = p};
	block.flags = random & 31 ? 2 << 7 | 2 : (uint32_t)(random >> 5 & 3);
	block.last[0] = (uint32_t)(random >> 7 & (random >> 19 & 31 ? 255 : 4095));
	block.n = p ? (uint32_t)(random >> 24 & 63) : 0;
	block.reads = (uint32_t)(random >> 30 & 1);
	tb_launch_block(tb, function, stream, &block, sizeof block);
}

uint32_t test_function(struct tb *tb, const char *name)
{
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (!strcmp(layouts[i].name, name))
			return tb_function(tb, name, layouts[i].params, layouts[i].bytes[0], layouts[i].bytes[1],
					   layouts[i].bytes[2]);
	fprintf(stderr, "no kernel %s\n", name);
	abort();
}

struct sw_rec_launch *test_launch(struct tb *tb, const struct test_call *call, uint64_t stream)
{
	return tb_launch_block(tb, test_function(tb, call->kernel), stream, call->word,
			       call->words * sizeof *call->word);
}

struct tb *with_code(struct tb *tb)
{
	size_t bytes;
	const char *text = test_kernels(&bytes);
	tb->image = tb_image(tb, SW_IMAGE_PTX, NULL, text, bytes);
	return tb;
}
