/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/libraries/library_operands.h"

#include <string.h>

#define NO 255

static const struct gemm {
	const char *name;
	struct {
		uint8_t pointer, type, ld, stride;
	} matrix[3];
	uint8_t batch, alpha, beta;
} gemms[] = {
#define SW_GEMM(name, a, at, lda, sa, b, bt, ldb, sb, c, ct, ldc, sc, batch, alpha, beta)                              \
	{name, {{a, at, lda, sa}, {b, bt, ldb, sb}, {c, ct, ldc, sc}}, batch, alpha, beta},
#include "detect/libraries/library_operands.def"
};

static const char *const gemvs[] = {
#define SW_GEMV(name) name,
#include "detect/libraries/library_operands.def"
};

static const struct vectors {
	const char *name;
	uint8_t n;
	struct {
		uint8_t pointer, step;
		enum sw_role role;
	} vector[2];
	uint8_t alpha;
} vectors[] = {
#define SW_VECTORS(name, n, x, incx, role_x, y, incy, role_y, alpha)                                                   \
	{name, n, {{x, incx, role_x}, {y, incy, role_y}}, alpha},
#include "detect/libraries/library_operands.def"
};
#define N(table) (sizeof(table) / sizeof((table)[0]))

/* ---- arguments --------------------------------------------------------------------------------------------------- */

struct call {
	const struct sw_library_open *open;
	uint64_t element; /* bytes, by the letter of its name; 0: it has none */
	struct sw_operands out;
	bool vague;
};

static uint64_t word(struct call *call, uint8_t index)
{
	if (index < call->open->words)
		return call->open->word[index];
	call->vague = true;
	return 0;
}

/* A size or a distance in elements: what does not fit any memory is not understood. */
static uint64_t size(struct call *call, uint8_t index)
{
	const int64_t value = (int64_t)word(call, index);
	const uint64_t distance = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	if (distance > UINT64_C(1) << 40)
		call->vague = true;
	return call->vague ? 0 : distance;
}

/* Bytes of cudaDataType (library_types.h); 0: a type that is not known. */
static uint64_t type_bytes(uint64_t type)
{
	static const uint8_t bytes[] = {4, 8, 2, 1, 8, 16, 4, 2, 1, 2, 4, 8, 4, 8, 2, 4};
	if (type == 28 || type == 29)
		return 1; /* 8-bit floats */
	return type < sizeof bytes ? bytes[type] : 0;
}

static uint64_t letter_bytes(char letter)
{
	static const char letters[] = "HSDCZ";
	static const uint8_t bytes[] = {2, 4, 8, 8, 16};
	const char *at = letter ? strchr(letters, letter) : NULL;
	return at ? bytes[at - letters] : 0;
}

/* `count` pieces of `width` elements, `step` elements apart, the same `batch` times. */
static void add(struct call *call, uint64_t address, uint64_t element, const uint64_t count[3], uint64_t step,
		uint64_t stride, enum sw_role role)
{
	const uint64_t size[3] = {count[0] * element, count[1], count[2]};
	if (!element || count[0] > UINT64_C(1) << 40 || call->out.n >= SW_LIBRARY_OPERANDS)
		call->vague = true;
	if (call->vague || !address || !count[0] || !count[1] || !count[2])
		return;
	call->out.at[call->out.n++] =
		sw_range_box(address, size, step * element, stride * element, role, SW_EV_DIRECTION);
}

/* Scalars lie on the device where the pointer mode says so (cuBLAS, "cublasPointerMode_t"). */
static void add_scalar(struct call *call, uint8_t index)
{
	if (index == NO || !call->open->device_scalars)
		return;
	/* Of functions with types in their arguments: at least a half. */
	add(call, word(call, index), call->element ? call->element : 2, (uint64_t[]){1, 1, 1}, 1, 1, SW_READ);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* By columns: rows x columns, or transposed. */
static void add_matrix(struct call *call, const struct gemm *g, int which, uint64_t rows, uint64_t columns,
		       enum sw_role role)
{
	const uint64_t element =
		g->matrix[which].type == NO ? call->element : type_bytes(word(call, g->matrix[which].type));
	const uint64_t batch = g->batch == NO ? 1 : size(call, g->batch);
	const uint64_t stride = g->matrix[which].stride == NO ? 0 : size(call, g->matrix[which].stride);
	add(call, word(call, g->matrix[which].pointer), element, (uint64_t[]){rows, columns, stride ? batch : 1},
	    size(call, g->matrix[which].ld), stride, role);
}

static void gemm(struct call *call, const struct gemm *g)
{
	const bool a = word(call, 1) != 0, b = word(call, 2) != 0;
	const uint64_t m = size(call, 3), n = size(call, 4), k = size(call, 5);
	add_matrix(call, g, 0, a ? k : m, a ? m : k, SW_READ);
	add_matrix(call, g, 1, b ? n : k, b ? k : n, SW_READ);
	add_matrix(call, g, 2, m, n, SW_READ_WRITE);
	add_scalar(call, g->alpha);
	add_scalar(call, g->beta);
}

static void add_vector(struct call *call, uint8_t pointer, uint64_t n, uint8_t step, enum sw_role role)
{
	add(call, word(call, pointer), call->element, (uint64_t[]){1, n, 1}, size(call, step), 1, role);
}

static void gemv(struct call *call)
{
	const bool transposed = word(call, 1) != 0;
	const uint64_t m = size(call, 2), n = size(call, 3);
	add(call, word(call, 5), call->element, (uint64_t[]){m, n, 1}, size(call, 6), 1, SW_READ);
	add_vector(call, 7, transposed ? m : n, 8, SW_READ);
	add_vector(call, 10, transposed ? n : m, 11, SW_READ_WRITE);
	add_scalar(call, 4);
	add_scalar(call, 9);
}

static void vector_call(struct call *call, const struct vectors *v)
{
	for (int i = 0; i < 2; i++)
		if (v->vector[i].pointer != NO)
			add_vector(call, v->vector[i].pointer, size(call, v->n), v->vector[i].step, v->vector[i].role);
	add_scalar(call, v->alpha);
}

/*
 * cuFFT, "cufftExecC2C()" and the others: transforms of `batch` signals, one after the other, in the basic layout; of
 * real signals only half of the complex results are stored ("Data Layout").  In place the real side is padded.
 */
static void fft(struct call *call, const char *function)
{
	const struct sw_library_plan *plan = &call->open->plan;
	const uint64_t scalar = function[9] == 'Z' || function[9] == 'D' ? 8 : 4;
	const bool from_real = function[9] == 'R' || function[9] == 'D';
	const bool to_real = function[11] == 'R' || function[11] == 'D';
	const uint64_t in = word(call, 1), out = word(call, 2);
	uint64_t all = plan->batch, half = plan->batch;
	for (uint32_t i = 0; i < plan->rank; i++) {
		const bool last = i + 1 == plan->rank;
		all *= plan->n[i];
		half *= last ? plan->n[i] / 2 + 1 : plan->n[i];
	}
	if (!plan->rank || all > UINT64_C(1) << 36) {
		call->vague = true;
		return;
	}
	const uint64_t complex = (from_real || to_real ? half : all) * 2, padded = in == out ? half * 2 : all;
	add(call, in, scalar, (uint64_t[]){from_real ? padded : complex, 1, 1}, 1, 1,
	    in == out ? SW_READ_WRITE : SW_READ);
	if (in != out)
		add(call, out, scalar, (uint64_t[]){to_real ? padded : complex, 1, 1}, 1, 1, SW_WRITE);
	/* cuFFT, "Multidimensional Transforms": out of place, complex to real may overwrite its input. */
	if (in != out && to_real && call->out.n)
		call->out.at[0].role = SW_READ_WRITE;
}

static bool is_exec(const char *function)
{
	return strncmp(function, "cufftExec", 9) == 0 && strlen(function) == 12;
}

static bool by_table(struct call *call, const char *function, size_t length)
{
	for (size_t i = 0; i < N(gemms); i++)
		if (sw_library_matches(gemms[i].name, function, length)) {
			gemm(call, &gemms[i]);
			return true;
		}
	for (size_t i = 0; i < N(gemvs); i++)
		if (sw_library_matches(gemvs[i], function, length)) {
			gemv(call);
			return true;
		}
	for (size_t i = 0; i < N(vectors); i++)
		if (sw_library_matches(vectors[i].name, function, length)) {
			vector_call(call, &vectors[i]);
			return true;
		}
	return false;
}

struct sw_operands sw_library_operands(const struct sw_library_open *open, const char *function)
{
	struct call call = {.open = open};
	if (strncmp(function, "cublas", 6) == 0)
		call.element = letter_bytes(function[6]);
	if (is_exec(function))
		fft(&call, function);
	else if (!by_table(&call, function, strlen(function)))
		call.vague = true;
	if (call.vague)
		call.out.n = 0;
	return call.out;
}
