/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/libraries/library_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/model/model.h"

static const struct {
	enum sw_cuda_library library;
	const char *start;
} libraries[] = {
#define SW_LIBRARY_NAME(library, start, name) {SW_CUDA_##library, start},
#include "detect/libraries/library_arguments.def"
};

static const struct {
	const char *name;
	uint8_t pointer, size; /* indices of the arguments */
	uint8_t unit;	       /* bytes of what the size counts; 0: by the letter of the name */
} workspaces[] = {
#define SW_WORKSPACE(name, pointer, size, unit) {name, pointer, size, unit},
#include "detect/libraries/library_arguments.def"
};

static const char *const without[] = {
#define SW_NO_WORKSPACE(name) name,
#include "detect/libraries/library_arguments.def"
};
#define N(table) (sizeof(table) / sizeof((table)[0]))

/* The library whose functions' names start as this one. */
static enum sw_cuda_library library_by_name(const char *name, size_t length)
{
	for (size_t i = 0; i < N(libraries); i++) {
		const size_t n = strlen(libraries[i].start);
		if (length >= n && !memcmp(name, libraries[i].start, n))
			return libraries[i].library;
	}
	return SW_CUDA_NONE;
}

/* Is it a name of this pattern, in which `?` stands for one letter?  "_64" at its end is ignored. */
static bool library_matches(const char *pattern, const char *name, size_t length)
{
	if (length > 3 && !memcmp(name + length - 3, "_64", 3))
		length -= 3;
	size_t i = 0;
	while (pattern[i] && i < length && (pattern[i] == '?' || pattern[i] == name[i]))
		i++;
	return !pattern[i] && i == length;
}

/* Are the two names equal?  The first one is not terminated. */
static bool is_name(const char *name, size_t length, const char *other)
{
	return length == strlen(other) && !memcmp(name, other, length);
}

/* Does a call that succeeded make the handle that it is about? */
static bool library_makes(const char *name, size_t length)
{
	static const char *const makers[] = {"cublasCreate_v2",	 "cublasLtCreate",   "cufftCreate",
					     "cufftPlan1d",	 "cufftPlan2d",	     "cufftPlan3d",
					     "cufftPlanMany",	 "cusparseCreate",   "cusolverDnCreate",
					     "cusolverSpCreate", "cusolverRfCreate", "cudnnCreate"};
	for (size_t i = 0; i < N(makers); i++)
		if (is_name(name, length, makers[i]))
			return true;
	return false;
}

/* Is it one of cuFFT that plans, whose record has the size of the work area after the arguments? */
static bool library_has_area(const char *name, size_t length)
{
	static const char *const starts[] = {"cufftPlan", "cufftMakePlan", "cufftXtMakePlan"};
	for (size_t i = 0; i < N(starts); i++)
		if (length > strlen(starts[i]) && !memcmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Does the library call set the memory that later calls of its handle work in (*setting)?  cuBLAS,
   "cublasSetWorkspace()": "a user-owned device buffer, which will be used to execute all subsequent calls to the cuBLAS
   library functions (on the currently set stream)"; "The cublasSetStream() function unconditionally resets the cuBLAS
   library workspace back to the default workspace pool", which is safe on any number of streams.  cuFFT,
   "cufftSetWorkArea()": "overrides the work area pointer associated with a plan". */
static bool library_sets(const char *name, size_t length, const uint64_t *word, uint32_t words,
			 struct sw_library_memory *setting)
{
	if (is_name(name, length, "cublasSetWorkspace_v2") && words > 2)
		*setting = (struct sw_library_memory){word[1], word[1] ? word[2] : 0};
	else if (is_name(name, length, "cublasSetStream_v2"))
		*setting = (struct sw_library_memory){0};
	else if (is_name(name, length, "cufftSetWorkArea") && words > 1)
		*setting = (struct sw_library_memory){word[1], word[1] ? SW_LIBRARY_UNKNOWN : 0};
	else
		return false;
	return true;
}

/* Bytes of an element by the letter of cuBLAS in a function's name: S 4, Z 16, D and C 8. */
static uint64_t element_bytes(char letter)
{
	return letter == 'S' ? 4 : letter == 'Z' ? 16 : 8;
}

/* Does the call say itself what it works in (*setting), or need nothing (bytes 0)?  False: it works in what its handle
   has.  Arguments that were not recorded, or make no sense, count as nothing: a conflict is not invented. */
static bool library_workspace_argument(const char *name, size_t length, const uint64_t *word, uint32_t words,
				       struct sw_library_memory *setting)
{
	*setting = (struct sw_library_memory){0};
	for (size_t i = 0; i < N(without); i++)
		if (library_matches(without[i], name, length))
			return true;
	for (size_t i = 0; i < N(workspaces); i++) {
		if (!library_matches(workspaces[i].name, name, length))
			continue;
		if (workspaces[i].pointer >= words || workspaces[i].size >= words)
			return true;
		const char *letter = strchr(workspaces[i].name, '?');
		const uint64_t unit = workspaces[i].unit ? workspaces[i].unit
				      : letter		 ? element_bytes(name[letter - workspaces[i].name])
							 : 1;
		const uint64_t count = word[workspaces[i].size];
		if (word[workspaces[i].pointer] && count <= UINT64_MAX / 32)
			*setting = (struct sw_library_memory){word[workspaces[i].pointer], count * unit};
		return true;
	}
	return false;
}

/* Index of an argument that the function does not have. */
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

/* ---- arguments --------------------------------------------------------------------------------------------------- */

struct call {
	const struct sw_library_open *open;
	uint64_t element; /* bytes, by the letter of its name; 0: it has none */
	struct sw_operands out;
	bool vague;
};

/* The value of an argument; a missing one makes the call's operands unknown (`vague`). */
static uint64_t argument_word(struct call *call, uint8_t index)
{
	if (index < call->open->words)
		return call->open->word[index];
	call->vague = true;
	return 0;
}

/* An argument that is a size or a distance in elements, without its sign; one that fits no memory makes the call
   `vague` (not understood). */
static uint64_t argument_size(struct call *call, uint8_t index)
{
	const int64_t value = (int64_t)argument_word(call, index);
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
		return 1; /* CUDA_R_8F_E4M3, CUDA_R_8F_E5M2 */
	return type < sizeof bytes ? bytes[type] : 0;
}

/* Bytes of an element by the letter in a cuBLAS name (H half, S single ...); 0: none of them. */
static uint64_t letter_bytes(char letter)
{
	static const char letters[] = "HSDCZ";
	static const uint8_t bytes[] = {2, 4, 8, 8, 16};
	const char *at = letter ? strchr(letters, letter) : NULL;
	return at ? bytes[at - letters] : 0;
}

/* Adds memory that the call touches: `count` has the elements of a piece, the pieces and the batches; pieces lie `step`
   elements apart, batches `stride`. */
static void add_operand(struct call *call, uint64_t address, uint64_t element, const uint64_t count[3], uint64_t step,
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

/* Adds a scalar argument if it lies on the device, as the pointer mode says (cuBLAS, "cublasPointerMode_t"). */
static void add_scalar(struct call *call, uint8_t index)
{
	if (index == NO || !call->open->device_scalars)
		return;
	/* Functions with types in their arguments: at least a half. */
	add_operand(call, argument_word(call, index), call->element ? call->element : 2, (uint64_t[]){1, 1, 1}, 1, 1,
		    SW_READ);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Adds matrix `which` of a product, which is stored by columns: rows x columns elements, with its leading dimension as
   the step. */
static void add_matrix(struct call *call, const struct gemm *g, int which, uint64_t rows, uint64_t columns,
		       enum sw_role role)
{
	const uint64_t element =
		g->matrix[which].type == NO ? call->element : type_bytes(argument_word(call, g->matrix[which].type));
	const uint64_t batch = g->batch == NO ? 1 : argument_size(call, g->batch);
	const uint64_t stride = g->matrix[which].stride == NO ? 0 : argument_size(call, g->matrix[which].stride);
	add_operand(call, argument_word(call, g->matrix[which].pointer), element,
		    (uint64_t[]){rows, columns, stride ? batch : 1}, argument_size(call, g->matrix[which].ld), stride,
		    role);
}

/* Adds the operands of a matrix product C = alpha op(A) op(B) + beta C; op may transpose.  Arguments 1 to 5 of all are
   transa, transb, m, n, k; the others are in the table. */
static void gemm_operands(struct call *call, const struct gemm *g)
{
	const bool a = argument_word(call, 1) != 0, b = argument_word(call, 2) != 0;
	const uint64_t m = argument_size(call, 3), n = argument_size(call, 4), k = argument_size(call, 5);
	add_matrix(call, g, 0, a ? k : m, a ? m : k, SW_READ);
	add_matrix(call, g, 1, b ? n : k, b ? k : n, SW_READ);
	add_matrix(call, g, 2, m, n, SW_READ_WRITE);
	add_scalar(call, g->alpha);
	add_scalar(call, g->beta);
}

/* Adds a vector argument of n elements, `step` apart; pointer, step: indexes of arguments. */
static void add_vector(struct call *call, uint8_t pointer, uint64_t n, uint8_t step, enum sw_role role)
{
	add_operand(call, argument_word(call, pointer), call->element, (uint64_t[]){1, n, 1}, argument_size(call, step),
		    1, role);
}

/* Adds the operands of a product of a matrix and a vector, y = alpha op(A) x + beta y.  Numbers: indices of the
   arguments (handle, trans, m, n, alpha, A, lda, x, incx, beta, y, incy). */
static void gemv_operands(struct call *call)
{
	const bool transposed = argument_word(call, 1) != 0;
	const uint64_t m = argument_size(call, 2), n = argument_size(call, 3);
	add_operand(call, argument_word(call, 5), call->element, (uint64_t[]){m, n, 1}, argument_size(call, 6), 1,
		    SW_READ);
	add_vector(call, 7, transposed ? m : n, 8, SW_READ);
	add_vector(call, 10, transposed ? n : m, 11, SW_READ_WRITE);
	add_scalar(call, 4);
	add_scalar(call, 9);
}

/* Adds the operands of a function of one or two vectors. */
static void vector_call(struct call *call, const struct vectors *v)
{
	for (int i = 0; i < 2; i++)
		if (v->vector[i].pointer != NO)
			add_vector(call, v->vector[i].pointer, argument_size(call, v->n), v->vector[i].step,
				   v->vector[i].role);
	add_scalar(call, v->alpha);
}

/* Adds the operands of cufftExecC2C() and the others: transforms of `batch` signals, one after the other, in the basic
   layout; of real signals only half of the complex results are stored (cuFFT, "Data Layout").  In place the real side
   is padded. */
static void fft_operands(struct call *call, const char *function)
{
	const struct sw_library_plan *plan = &call->open->plan;
	/* The letters after "cufftExec" are the types of input and output, as in "R2C" (Z and D: double). */
	const uint64_t scalar = function[9] == 'Z' || function[9] == 'D' ? 8 : 4;
	const bool from_real = function[9] == 'R' || function[9] == 'D';
	const bool to_real = function[11] == 'R' || function[11] == 'D';
	const uint64_t in = argument_word(call, 1), out = argument_word(call, 2);
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
	add_operand(call, in, scalar, (uint64_t[]){from_real ? padded : complex, 1, 1}, 1, 1,
		    in == out ? SW_READ_WRITE : SW_READ);
	if (in != out)
		add_operand(call, out, scalar, (uint64_t[]){to_real ? padded : complex, 1, 1}, 1, 1, SW_WRITE);
	/* cuFFT, "Multidimensional Transforms": out of place, complex to real may overwrite its input. */
	if (in != out && to_real && call->out.n)
		call->out.at[0].role = SW_READ_WRITE;
}

/* Is it a function of cuFFT that runs a plan (cufftExecC2C and alike)? */
static bool is_exec(const char *function)
{
	return strncmp(function, "cufftExec", 9) == 0 && strlen(function) == 12;
}

/* Finds the operands of a function of cuBLAS by the tables; false: it is in none. */
static bool by_table(struct call *call, const char *function, size_t length)
{
	for (size_t i = 0; i < N(gemms); i++)
		if (library_matches(gemms[i].name, function, length)) {
			gemm_operands(call, &gemms[i]);
			return true;
		}
	for (size_t i = 0; i < N(gemvs); i++)
		if (library_matches(gemvs[i], function, length)) {
			gemv_operands(call);
			return true;
		}
	for (size_t i = 0; i < N(vectors); i++)
		if (library_matches(vectors[i].name, function, length)) {
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
		fft_operands(&call, function);
	else if (!by_table(&call, function, strlen(function)))
		call.vague = true;
	if (call.vague)
		call.out.n = 0;
	return call.out;
}

/* Calls that are distinguished by function, handle and workspace; later ones by function and handle, twice as many have
   no name. */
#define MAX_KINDS 65536u
/* Sets of operands: programs compute with the same again and again.  Those of later calls are not known. */
#define MAX_SETS 16384u

struct handle {
	uint32_t number;
	struct sw_library_memory works_in; /* what the program gave it */
	bool device_scalars;
	struct sw_library_plan plan;
};

struct sw_library_state {
	struct sw_map threads;	  /* thread -> struct sw_library_open, index 0: in no call */
	struct sw_map handles;	  /* library and handle -> struct handle */
	struct sw_map alike;	  /* function, handle and workspace -> index in judgement.library_calls + 1 */
	struct sw_map sets_alike; /* content -> number of a set */
	SW_VEC(struct sw_operand_set) sets;
	struct sw_arena arena; /* of sets */
	uint32_t numbers[SW_CUDA_LIBRARIES];
	uint32_t begun; /* calls */
};

struct sw_library_state *sw_library_new(void)
{
	return sw_calloc(1, sizeof(struct sw_library_state));
}

void sw_library_free(struct sw_library_state *library)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&library->threads, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	for (size_t i = 0; (i = sw_map_next(&library->handles, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&library->threads);
	sw_map_free(&library->handles);
	sw_map_free(&library->alike);
	sw_map_free(&library->sets_alike);
	free(library->sets.at);
	sw_arena_free(&library->arena);
	free(library);
}

/* ---- a record's parts -------------------------------------------------------------------------------------------- */

struct parts {
	const struct sw_rec_library *rec;
	const uint64_t *word;
	const char *name; /* not terminated */
	uint32_t words, bytes;
};

/* Finds the parts of a LIBRARY record: arguments and name.  False: the record is damaged. */
static bool take_apart(const struct sw_record *r, struct parts *parts)
{
	const struct sw_rec_library *l = (const struct sw_rec_library *)(const void *)r->rec;
	const uint64_t room = l->h.words * 8u - sizeof *l;
	*parts = (struct parts){.rec = l, .word = (const uint64_t *)(l + 1), .words = l->words, .bytes = l->name_bytes};
	if (l->words > SW_LIBRARY_MAX_WORDS || l->words * sizeof(uint64_t) > room ||
	    l->name_bytes > room - l->words * sizeof(uint64_t))
		return false;
	parts->name = (const char *)(parts->word + l->words);
	return true;
}

/* The state of a library's handle, added if it is new; NULL: a null handle. */
static struct handle *handle_of(struct sw_model *m, enum sw_cuda_library library, uint64_t handle)
{
	if (!handle && library != SW_CUDA_CUFFT) /* whose plans are numbers from 0 */
		return NULL;
	const uint64_t key = sw_hash_u64(handle + (uint64_t)library * UINT64_C(0x9e3779b97f4a7c15));
	struct handle *known = sw_map_ptr(&m->library_calls->handles, key);
	if (known)
		return known;
	known = sw_calloc(1, sizeof *known);
	known->number = ++m->library_calls->numbers[library];
	sw_map_put_ptr(&m->library_calls->handles, key, known);
	return known;
}

/* Forgets all of a handle that is gone, or made again. */
static void forget_handle(struct sw_model *m, enum sw_cuda_library library, uint64_t handle)
{
	const uint64_t key = sw_hash_u64(handle + (uint64_t)library * UINT64_C(0x9e3779b97f4a7c15));
	free(sw_map_ptr(&m->library_calls->handles, key));
	sw_map_delete(&m->library_calls->handles, key);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The description of a call of a library, as findings name it: function, handle, workspace. Equal calls share one. 0:
   there are too many. */
static uint32_t describe_call(struct sw_model *m, const struct parts *parts, enum sw_cuda_library library)
{
	const struct handle *handle =
		library_makes(parts->name, parts->bytes) ? NULL : handle_of(m, library, parts->rec->handle);
	struct sw_library_call call = {
		.library = library,
		.handle = parts->rec->handle,
		.number = handle ? handle->number : 0,
	};
	struct sw_library_memory works_in;
	if (!library_workspace_argument(parts->name, parts->bytes, parts->word, parts->words, &works_in) && handle)
		works_in = handle->works_in;
	if (m->j->library_calls.n < MAX_KINDS) {
		call.workspace = works_in.address;
		call.workspace_bytes = works_in.bytes;
	}
	const uint64_t words[] = {call.library, call.handle, call.number, call.workspace, call.workspace_bytes};
	const uint64_t key = sw_hash_bytes(sw_hash_words(words, sizeof words), parts->name, parts->bytes);
	const uint64_t *index = sw_map_find(&m->library_calls->alike, key);
	if (index)
		return (uint32_t)*index;
	if (m->j->library_calls.n >= 2 * MAX_KINDS)
		return 0;
	call.function = sw_model_name(m, parts->name, parts->bytes);
	*sw_vec_push(&m->j->library_calls) = call;
	*sw_map_put(&m->library_calls->alike, key) = m->j->library_calls.n;
	return (uint32_t)m->j->library_calls.n;
}

/* The call of a library that the thread is in, or the place for one. */
static struct sw_library_open *open_of(struct sw_model *m, uint32_t thread)
{
	struct sw_library_open *open = sw_map_ptr(&m->library_calls->threads, thread);
	if (!open) {
		open = sw_calloc(1, sizeof *open);
		sw_map_put_ptr(&m->library_calls->threads, thread, open);
	}
	return open;
}

/* The number of this set of operands, which equal calls share; 0: it is empty, or there are too many. */
static uint32_t keep_operands(struct sw_library_state *library, const struct sw_operands *operands)
{
	uint64_t key = operands->n;
	for (uint32_t i = 0; i < operands->n; i++) {
		const struct sw_range *range = &operands->at[i];
		const uint64_t words[] = {range->address, range->width,	 range->pitch, range->rows,
					  range->slice,	  range->slices, range->role};
		key = sw_hash_u64(key ^ sw_hash_words(words, sizeof words));
	}
	const uint64_t *number = sw_map_find(&library->sets_alike, key);
	if (number || !operands->n || library->sets.n >= MAX_SETS)
		return number ? (uint32_t)*number : 0;
	struct sw_range *at = sw_arena_alloc(&library->arena, operands->n * sizeof *at);
	memcpy(at, operands->at, operands->n * sizeof *at);
	*sw_vec_push(&library->sets) = (struct sw_operand_set){operands->n, at};
	*sw_map_put(&library->sets_alike, key) = library->sets.n;
	return (uint32_t)library->sets.n;
}

/* Begins a call of a library: the launches that follow on this thread are parts of it, until it ends. */
static void begin_call(struct sw_model *m, const struct sw_record *r, const struct parts *parts)
{
	struct sw_library_open *open = open_of(m, r->thread);
	const enum sw_cuda_library library = library_by_name(parts->name, parts->bytes);
	open->index = describe_call(m, parts, library);
	const struct handle *handle =
		library_makes(parts->name, parts->bytes) ? NULL : handle_of(m, library, parts->rec->handle);
	open->device_scalars = handle && handle->device_scalars;
	open->plan = handle ? handle->plan : (struct sw_library_plan){0};
	open->begin = r->seq;
	open->call = ++m->library_calls->begun;
	open->words = parts->words;
	open->allocations = 0;
	if (parts->words)
		memcpy(open->word, parts->word, parts->words * sizeof *parts->word);
	open->operands = 0;
	if (open->index) {
		const struct sw_operands operands =
			sw_library_operands(open, m->j->library_calls.at[open->index - 1].function);
		open->operands = keep_operands(m->library_calls, &operands);
	}
}

/* Bytes from an address to the end of its allocation; 0: there is none. */
static uint64_t rest_of_block(const struct sw_model *m, uint64_t address)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, address, &offset);
	return block ? block->bytes - offset : 0;
}

void sw_library_allocated(struct sw_model *m, uint32_t thread, uint64_t address, uint64_t bytes)
{
	struct sw_library_open *open =
		m->library_calls->threads.n ? sw_map_ptr(&m->library_calls->threads, thread) : NULL;
	if (open && open->index)
		open->allocated[open->allocations++ % SW_LIBRARY_ALLOCATED] =
			(struct sw_library_memory){address, bytes};
}

/* The work area that a plan of cuFFT allocated for itself: its size is that of cufftGetSize(), which the recorder
   called; bytes 0: none was seen.  cuFFT, "cufftSetStream()": "in order to overlap plans using single plan handle user
   needs to manage work area buffers. Each concurrent plan execution needs it's exclusive work area." */
static struct sw_library_memory own_area(const struct sw_library_open *open, const struct parts *parts)
{
	const uint64_t bytes = parts->words ? parts->word[parts->words - 1] : 0;
	for (uint32_t i = 0; bytes && i < open->allocations && i < SW_LIBRARY_ALLOCATED; i++)
		if (open->allocated[i].bytes == bytes)
			return open->allocated[i];
	return (struct sw_library_memory){0};
}

/* The transform that cufftPlan1d(), 2d, 3d or cufftMakePlan...() describes: the size follows the plan, then the type,
   then the batch.  rank 0: another call. */
static struct sw_library_plan plan_of(const struct parts *parts)
{
	static const char *const names[][2] = {{"cufftPlan1d", "cufftMakePlan1d"},
					       {"cufftPlan2d", "cufftMakePlan2d"},
					       {"cufftPlan3d", "cufftMakePlan3d"}};
	struct sw_library_plan plan = {.batch = 1};
	for (uint32_t rank = 1; rank <= 3; rank++) {
		if ((!library_matches(names[rank - 1][0], parts->name, parts->bytes) &&
		     !library_matches(names[rank - 1][1], parts->name, parts->bytes)) ||
		    parts->words < 4)
			continue;
		plan.rank = rank;
		for (uint32_t i = 0; i < rank; i++)
			plan.n[i] = (uint32_t)parts->word[1 + i];
		if (rank == 1)
			plan.batch = (uint32_t)parts->word[3];
	}
	return plan;
}

/* Ends a call of a library: notes the handle that it made, and what the program set for the handle's later calls. */
static void end_call(struct sw_model *m, const struct sw_record *r, const struct parts *parts)
{
	const enum sw_cuda_library library = library_by_name(parts->name, parts->bytes);
	struct sw_library_memory setting;
	if (library_makes(parts->name, parts->bytes))
		forget_handle(m, library, parts->rec->handle);
	struct handle *handle = handle_of(m, library, parts->rec->handle);
	if (handle && library_has_area(parts->name, parts->bytes)) {
		handle->works_in = own_area(open_of(m, r->thread), parts);
		handle->plan = plan_of(parts);
	}
	if (handle && parts->words > 1 && library_matches("cublasSetPointerMode_v2", parts->name, parts->bytes))
		handle->device_scalars = parts->word[1] == 1; /* CUBLAS_POINTER_MODE_DEVICE */
	if (!handle || !library_sets(parts->name, parts->bytes, parts->word, parts->words, &setting))
		return;
	handle->works_in = setting;
	if (setting.bytes == SW_LIBRARY_UNKNOWN)
		handle->works_in.bytes = rest_of_block(m, setting.address);
}

void sw_library_take(struct sw_model *m, const struct sw_record *r)
{
	struct parts parts;
	if (!take_apart(r, &parts))
		return;
	switch (parts.rec->op) {
	case SW_LIBRARY_BEGIN:
		begin_call(m, r, &parts);
		break;
	case SW_LIBRARY_RETURN:
		open_of(m, r->thread)->index = 0;
		break;
	case SW_LIBRARY_DONE:
		end_call(m, r, &parts);
		break;
	case SW_LIBRARY_GONE:
		forget_handle(m, library_by_name(parts.name, parts.bytes), parts.rec->handle);
		break;
	default: /* of a newer recorder */
		break;
	}
}

/* Records were lost: calls may have returned, and workspaces may have been taken back. */
void sw_library_lost(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->library_calls->threads, i, &slot));)
		((struct sw_library_open *)(uintptr_t)slot.value)->index = 0;
	for (size_t i = 0; (i = sw_map_next(&m->library_calls->handles, i, &slot));) {
		struct handle *handle = (void *)(uintptr_t)slot.value;
		*handle = (struct handle){.number = handle->number};
	}
}

const struct sw_library_open *sw_library_open_of(const struct sw_model *m, uint32_t thread)
{
	const struct sw_library_open *open =
		m->library_calls->threads.n ? sw_map_ptr(&m->library_calls->threads, thread) : NULL;
	return open && open->index ? open : NULL;
}

const struct sw_operand_set *sw_library_operand_set(const struct sw_model *m, uint32_t number)
{
	static const struct sw_operand_set none;
	return number && number <= m->library_calls->sets.n ? &m->library_calls->sets.at[number - 1] : &none;
}
