/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/ranks.h"
#include "fake_trace.h"

#include <stdlib.h>
#include <string.h>

struct fake_trace fake_trace;

#define N(table) (sizeof(table) / sizeof((table)[0]))

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

/* One address a line. */
#define LINES_AT 0x402000u

/* The address that a stack holds is one byte after the one that is looked up. */
static const struct {
	uint64_t address;
	struct sw_object_place place;
} places[] = {
	{0x401010, {"_Z4fillPf", "/src/race.cu", 5, false}},
	{0x401020, {"_Z3runIfEvPT_i", "/src/race.cu", 14, true}},
	{0x401020, {"main", "/src/race.cu", 31, false}},
	{0x401030, {"main", "/src/race.cu", 40, false}},
	{0x401040, {"main", "/src/race.cu", 12, false}},
	{0x401050, {"_start", NULL, 0, false}},
	{0x401060, {"cudaMemcpy", NULL, 0, false}},
	{0x401070, {"libcudart_static_0a1b", NULL, 0, false}},
	{0x401080, {"_ZL30__device_stub__Z4fillPfPf", "/tmp/race.cudafe1.stub.c", 9, false}},
	{0x401090, {"_Z5scalePfi", "/src/race.cu", 8, false}},
	{0x4010a0, {"main", "/src/race.cu", 33, false}},
	{0x501010, {"_ZN2at4_ops5copy_4callERNS_6TensorE", NULL, 0, false}},
	{0x501020, {"_ZN3c1010Dispatcher4callEv", NULL, 0, false}},
	{0x501030, {"_ZN5torch8autograd6Engine11thread_mainEv", NULL, 0, false}},
	{0x501040, {"_ZN5torch8autograd6python12PythonEngine11thread_initEv", NULL, 0, false}},
	{0x601010, {"_PyEval_EvalFrameDefault", NULL, 0, false}},
	{0x601020, {"PyObject_Call", NULL, 0, false}},
	{0x701010, {"cudaStreamCreate", NULL, 0, false}},
};

struct sw_debug_object {
	char nothing;
};

struct sw_debug_object *sw_object_open(const struct sw_trace_module *module, enum sw_object_state *state)
{
	(void)module;
	*state = fake_trace.changed ? SW_OBJECT_CHANGED : SW_OBJECT_USABLE;
	return calloc(1, sizeof(struct sw_debug_object));
}

void sw_object_close(struct sw_debug_object *object)
{
	free(object);
}

void sw_object_ahead(const struct sw_trace_module *module, uint64_t address)
{
	(void)module;
	(void)address;
}

const char *sw_object_trouble(const struct sw_debug_object *object)
{
	(void)object;
	return NULL;
}

void sw_object_places(struct sw_debug_object *object, uint64_t address,
		      void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	(void)object;
	if (address >= LINES_AT && address < LINES_AT + FAKE_LINES && !fake_trace.changed)
		each(arg, &(struct sw_object_place){"main", "/src/many.cu", (int)(address - LINES_AT), false});
	for (size_t i = 0; i < N(places) && !fake_trace.changed; i++)
		if (places[i].address == address)
			each(arg, &places[i].place);
}

const char *sw_reader_packer(const struct sw_reader *r)
{
	(void)r;
	return fake_trace.packed ? "1.0" : NULL;
}

const struct sw_trace_names *sw_reader_names(const struct sw_reader *r, const struct sw_trace_module *module)
{
	(void)r, (void)module;
	return NULL;
}

const struct sw_trace_frame *sw_trace_names_at(const struct sw_trace_names *names, uint64_t offset)
{
	(void)names, (void)offset;
	return NULL;
}

/* ---- the trace --------------------------------------------------------------------------------------------------- */

static const struct sw_trace_module modules[] = {
	{.base = 0x400000,
	 .start = 0x400000,
	 .end = 0x500000,
	 .path = "/home/u/race",
	 .gone_seq = UINT64_MAX,
	 .cudart = SW_CUDART_STATIC},
	{.base = 0x700000,
	 .start = 0x700000,
	 .end = 0x800000,
	 .path = "/opt/cuda/lib64/libcudart.so.13",
	 .gone_seq = UINT64_MAX,
	 .cudart = SW_CUDART_SHARED},
	{.base = 0x500000,
	 .start = 0x500000,
	 .end = 0x600000,
	 .path = "/usr/lib/libtorch_python.so",
	 .gone_seq = UINT64_MAX},
	{.base = 0x600000,
	 .start = 0x600000,
	 .end = 0x700000,
	 .path = "/usr/lib/libpython3.11.so.1.0",
	 .gone_seq = UINT64_MAX},
	{.base = 0x800000,
	 .start = 0x800000,
	 .end = 0x900000,
	 .path = "/usr/lib/libcublasLt.so.13",
	 .gone_seq = UINT64_MAX},
	{.base = 0x900000, .start = 0x900000, .end = 0xa00000, .path = "/lib/libc.so.6", .gone_seq = UINT64_MAX},
};

/* All but the first two are mapped only where PyTorch is played. */
static size_t module_count(void)
{
	return fake_trace.torch ? N(modules) : 2;
}

const struct sw_trace_module *sw_reader_module_at(const struct sw_reader *r, size_t index)
{
	(void)r;
	return index < module_count() ? &modules[index] : NULL;
}

const struct sw_trace_module *sw_reader_module(const struct sw_reader *r, uint64_t ip, uint64_t seq)
{
	(void)r, (void)seq;
	for (size_t i = 0; i < module_count(); i++)
		if (ip >= modules[i].start && ip < modules[i].end)
			return &modules[i];
	return NULL;
}

bool sw_reader_has_python(const struct sw_reader *r)
{
	(void)r;
	return fake_trace.python;
}

#define STACK(addresses, cut)                                                                                          \
	{                                                                                                              \
		.depth = N(addresses), .skipped = (cut), .ips = (addresses), .seq = 1                                  \
	}
#define PYTHON(addresses, frames)                                                                                      \
	{                                                                                                              \
		.depth = N(addresses), .ips = (addresses), .seq = 1, .python = (frames), .python_depth = N(frames)     \
	}
const struct sw_trace_stack *sw_reader_stack(const struct sw_reader *r, uint32_t stack)
{
	static const uint64_t fill[] = {0x401081, 0x401011, 0x401021, 0x401051};
	static const uint64_t scale[] = {0x401091, 0x4010a1, 0x401051};
	static const uint64_t copy[] = {0x401071, 0x401061, 0x401031, 0x401051};
	static const uint64_t create[] = {0x701011, 0x401041, 0x401051};
	static const uint64_t python[] = {0x501011, 0x501021, 0x501021, 0x601011, 0x601021, 0x601011};
	static const uint64_t nowhere[] = {0x123456};
	static const uint64_t runtime[] = {0x701011};
	static const uint64_t stripped[] = {0x800020, 0x800030, 0x800040, 0x601011,
					    0x601021, 0x900010, 0x900020, 0x401099};
	static const uint64_t library[] = {0x800020, 0x800030};
	static const uint64_t evaluated[] = {0x401071, 0x401061, 0x501011, 0x601011, 0x601021, 0x601011};
	static const uint64_t plain[] = {0x501011, 0x601021, 0x601021, 0x900010};
	static const uint64_t own[] = {0x401071, 0x401061, 0x401031, 0x601011};
	static const uint64_t autograd[] = {0x401071, 0x401061, 0x501011, 0x501031, 0x501041};
	static const struct sw_trace_python_frame at_copy[] = {
		{"/usr/lib/python3/dist-packages/torch/_tensor.py", "Tensor.copy", 90, 0},
		{"/home/u/train.py", "step", 20, 1},
		{"/home/u/train.py", "<module>", 44, 1}};
	static const struct sw_trace_python_frame at_fill[] = {
		{"/usr/lib/python3/dist-packages/torch/_tensor.py", "Tensor.copy", 90, 0},
		{"/home/u/train.py", "step", 17, 1},
		{"/home/u/train.py", "<module>", 44, 1}};
	static const struct sw_trace_python_frame lost_code[] = {
		{"", "", 0, 0}, {"/usr/lib/python3/dist-packages/torch/_tensor.py", "Tensor.copy", 90, 1}};
	static const struct sw_trace_python_frame at_reduce[] = {
		{"/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", "all_reduce", 3068, 0},
		{"/usr/lib/python3/dist-packages/torch/distributed/c10d_logger.py", "wrapper", 83, 0},
		{"/home/u/train.py", "step", 20, 1},
		{"/home/u/train.py", "<module>", 44, 1}};
	static const struct sw_trace_python_frame at_own[] = {{"/home/u/train.py", "step", 20, 1}};
	static const struct sw_trace_stack stacks[] = {
		[FAKE_AT_FILL] = STACK(fill, 0),
		[FAKE_AT_SCALE] = STACK(scale, 0),
		[FAKE_AT_COPY] = STACK(copy, 2),
		[FAKE_AT_CREATE] = STACK(create, 0),
		[FAKE_AT_PYTHON] = STACK(python, UINT32_MAX),
		[FAKE_AT_NOWHERE] = STACK(nowhere, 0),
		[FAKE_AT_RUNTIME] = STACK(runtime, 0),
		[FAKE_AT_STRIPPED] = STACK(stripped, 0),
		[FAKE_AT_LIBRARY] = STACK(library, 0),
		[FAKE_AT_PY_COPY] = PYTHON(evaluated, at_copy),
		[FAKE_AT_PY_FILL] = PYTHON(evaluated, at_fill),
		[FAKE_AT_PY_PLAIN] = PYTHON(plain, at_copy),
		[FAKE_AT_PY_NONE] = {.ips = plain, .python = at_copy, .python_depth = N(at_copy), .python_cut = true},
		[FAKE_AT_PY_LOST] = PYTHON(evaluated, lost_code),
		[FAKE_AT_PY_OWN] = PYTHON(own, at_own),
		[FAKE_AT_PY_REDUCE] = PYTHON(evaluated, at_reduce),
		[FAKE_AT_PY_WAITING] = {.depth = N(autograd),
					.ips = autograd,
					.seq = 1,
					.python = at_copy,
					.python_depth = N(at_copy),
					.python_waiting = true},
		[FAKE_AT_PY_OTHER] = {.depth = N(library),
				      .ips = library,
				      .seq = 1,
				      .python = at_copy,
				      .python_depth = N(at_copy),
				      .python_waiting = true},
		[FAKE_AT_AUTOGRAD] = STACK(autograd, 0),
	};
	static struct sw_trace_stack lines[FAKE_LINES];
	static uint64_t line_ips[FAKE_LINES];
	(void)r;
	if (stack >= FAKE_AT_LINE && stack < FAKE_AT_LINE + FAKE_LINES) {
		const uint32_t line = stack - FAKE_AT_LINE;
		line_ips[line] = LINES_AT + line + 1;
		lines[line] = (struct sw_trace_stack){.depth = 1, .ips = &line_ips[line], .seq = 1};
		return &lines[line];
	}
	return stack && stack < N(stacks) ? &stacks[stack] : NULL;
}

const struct sw_trace_api *sw_reader_api(const struct sw_reader *r, uint16_t api)
{
	static const struct sw_trace_api apis[] = {
		[FAKE_API_LAUNCH] = {"cuLaunchKernel_ptsz", "cudaLaunchKernel"},
		[FAKE_API_COPY] = {"cuMemcpyHtoD_v2", "cudaMemcpy"},
		[FAKE_API_FREE] = {"cuMemFree_v2", "cudaFree"},
		[FAKE_API_SYNC] = {"cuStreamSynchronize", "cudaStreamSynchronize"},
		[FAKE_API_WAIT] = {"cuStreamWaitEvent", "cudaStreamWaitEvent"},
		[FAKE_API_ALLOC] = {"cuMemAlloc_v2", "cudaMalloc"},
		[FAKE_API_RECORD] = {"cuEventRecord", "cudaEventRecord"},
		[FAKE_API_DRIVER] = {"cuLaunchKernelEx", ""},
	};
	(void)r;
	return api && api < N(apis) ? &apis[api] : NULL;
}

const struct sw_trace_function *sw_reader_function(const struct sw_reader *r, uint32_t id)
{
	static const struct sw_trace_function functions[] = {
		[FAKE_FILL] = {.id = FAKE_FILL, .name = "_Z4fillPf"},
		[FAKE_SCALE] = {.id = FAKE_SCALE, .name = "_Z5scalePfi"},
		[FAKE_PLAIN] = {.id = FAKE_PLAIN, .name = "triton_add_0d1d"},
		[FAKE_LONG] = {.id = FAKE_LONG,
			       .name = "_ZN2ns11elementwiseILi4ENS_30quite_a_long_name_of_a_functorINS1_IfEEEELNS_"
				       "20lambda_argument_typeE4242EEEvT0_S5_PS5_"},
		[FAKE_WORD] = {.id = FAKE_WORD,
			       .name = "sm80_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize2x2x1_cublas"},
		[FAKE_SUM] = {.id = FAKE_SUM,
			      .name = "_ZN2ns11elementwiseILi4ENS_11sum_functorIfEELNS_20lambda_argument_"
				      "typeE4242EEEvT0_S4_PS4_"},
		[FAKE_COPY] = {.id = FAKE_COPY, .name = "_Z5scaleIiEvPT_i"},
		[FAKE_HOSTILE] = {.id = FAKE_HOSTILE, .name = "a\x1b[31m\xff\xed\xa0\x80\"\\</script>\n\xe2\x82\xac"},
	};
	(void)r;
	return id && id < N(functions) ? &functions[id] : NULL;
}

const struct sw_trace_environment *sw_reader_environment(const struct sw_reader *r)
{
	(void)r;
	return NULL;
}

bool sw_rank_of(const struct sw_trace_environment *environment, struct sw_rank *out)
{
	(void)environment;
	(void)out;
	return false;
}

const struct sw_trace_process *sw_reader_process(const struct sw_reader *r)
{
	static const char *const arguments[] = {"./race", "--size", "4096"};
	static const struct sw_trace_process process = {"/home/u/race", "/home/u", 3, arguments, 4711};
	(void)r;
	return fake_trace.process ? fake_trace.process : &process;
}

const struct sw_trace_device *sw_reader_device(const struct sw_reader *r, size_t index)
{
	static const struct sw_trace_device device = {0, 9, 0, 132, 150ull << 30, "NVIDIA H200"};
	(void)r;
	return index == 0 ? &device : NULL;
}

const struct sw_file_header *sw_reader_header(const struct sw_reader *r)
{
	static const struct sw_file_header header = {.pid = 4711, .cuda_driver_version = 13000};
	(void)r;
	return &header;
}

const char *sw_reader_path(const struct sw_reader *r)
{
	(void)r;
	return "syncwatch-race-4711.swt";
}

struct sw_trace_totals sw_reader_totals(const struct sw_reader *r)
{
	(void)r;
	return (struct sw_trace_totals){.closed = !fake_trace.crashed,
					.damaged = fake_trace.damage != NULL,
					.lost = fake_trace.full ? 7 : 0,
					.full = fake_trace.full};
}

const char *sw_reader_notice(const struct sw_reader *r, size_t index)
{
	(void)r;
	return index == 0 ? fake_trace.notice : NULL;
}

const char *sw_reader_damage(const struct sw_reader *r, size_t index)
{
	(void)r;
	return index == 0 ? fake_trace.damage : NULL;
}
