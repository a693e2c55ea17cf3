/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules and libraries: named kernels and variables of a code image.
 *
 * Loading is lazy as in the driver since CUDA 12.2: code goes to the device at the first use of a kernel, and that
 * holds back the other streams (measured on H200, driver 580.159.04, CUDA 13.0: "first launch of a kernel, on nb2 (lazy
 * load)", "first cudaFuncGetAttributes of a kernel").  CUDA_MODULE_LOADING=EAGER loads at once.
 */
#include "simcuda/modules/module.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image/bytes.h"
#include "image/image.h"
#include "image/ptx.h"

static void sim_module_kernel(struct sw_sim_module *m, const char *name, size_t params, const struct sw_param *param,
			      size_t param_bytes);
static struct sw_sim_variable *sim_module_variable(struct sw_sim_module *m, const char *name);

/* ---- variables --------------------------------------------------------------------------------------------------- */

/* Module-level variables of cubins and PTX.  The bytes come from the program: every read is bounded. */

/* Adds a variable that is not there yet; `value`: its initial bytes, empty for zeros. */
static void add_variable(struct sw_sim_module *m, const char *name, uint64_t size, struct sw_bytes value)
{
	if (!size || size > SW_IMAGE_MAX_BYTES || sim_module_variable(m, name))
		return;
	struct sw_sim_variable *v = sw_vec_push(&m->variables);
	*v = (struct sw_sim_variable){.name = sw_strdup(name), .size = size};
	if (value.n == size) {
		v->bytes = sw_alloc(size);
		memcpy(v->bytes, value.at, size);
	}
}

struct cubin {
	struct sw_bytes all;
	Elf64_Ehdr head;
};

/* Header of a section; zeros if it is not within the image. */
static Elf64_Shdr section_header(const struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = {0};
	uint64_t at = c->head.e_shoff + (uint64_t)index * sizeof s;
	if (index < c->head.e_shnum && sw_bytes_hold(c->all, at, sizeof s))
		memcpy(&s, c->all.at + at, sizeof s);
	return s;
}

/* Bytes of a section, as far as they are within the image. */
static struct sw_bytes section_content(const struct cubin *c, const Elf64_Shdr *s)
{
	return s->sh_type == SHT_NOBITS ? (struct sw_bytes){0} : sw_bytes_of(c->all, s->sh_offset, s->sh_size);
}

/* Adds the variable of a symbol, if it is one: __device__ and __managed__ variables are objects in .nv.global*,
   __constant__ ones in .nv.constant3. */
static void add_symbol(struct sw_sim_module *m, const struct cubin *c, const Elf64_Sym *symbol, struct sw_bytes strings)
{
	Elf64_Shdr names = section_header(c, c->head.e_shstrndx), home = section_header(c, symbol->st_shndx);
	const char *where = sw_bytes_string(section_content(c, &names), home.sh_name);
	const char *name = sw_bytes_string(strings, symbol->st_name);
	if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && name && where &&
	    (!strncmp(where, ".nv.global", 10) || !strcmp(where, ".nv.constant3")))
		add_variable(m, name, symbol->st_size,
			     sw_bytes_of(section_content(c, &home), symbol->st_value, symbol->st_size));
}

/* Adds all variables of a cubin's symbol tables. */
static void cubin_variables(struct sw_sim_module *m, struct sw_bytes all)
{
	struct cubin c = {.all = all};
	if (!sw_bytes_hold(all, 0, sizeof c.head))
		return;
	memcpy(&c.head, all.at, sizeof c.head);
	for (uint32_t i = 0; i < c.head.e_shnum; i++) {
		Elf64_Shdr table = section_header(&c, i), strings = section_header(&c, table.sh_link);
		struct sw_bytes symbols = section_content(&c, &table);
		for (uint64_t at = 0; table.sh_type == SHT_SYMTAB && sw_bytes_hold(symbols, at, sizeof(Elf64_Sym));
		     at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;
			memcpy(&symbol, symbols.at + at, sizeof symbol);
			add_symbol(m, &c, &symbol, section_content(&c, &strings));
		}
	}
}

/* Bytes of a fundamental type by its number of bits (".b8", ".f64"); 0 for other words. */
static uint64_t type_bytes(const struct sw_ptx_lexer *l)
{
	static const char *const types[] = {".b8",  ".u8",  ".s8",  ".b16", ".u16", ".s16", ".f16", ".b32",
					    ".u32", ".s32", ".f32", ".b64", ".u64", ".s64", ".f64", ".b128"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (sw_ptx_is(l, types[i]))
			return strtoul(types[i] + 2, NULL, 10) / 8;
	return 0;
}

/* Reads the declaration of a variable: {.global | .const} [.align N] [.attribute(...)] type name {"[" count "]"} [=
   ...] ;  Initial values are left zero. */
static void ptx_variable(struct sw_sim_module *m, struct sw_ptx_lexer *l)
{
	char *name = NULL;
	uint64_t bytes = 0, number;
	bool skip = false;
	while (sw_ptx_next(l) && !sw_ptx_is(l, ";") && !sw_ptx_is(l, "=")) {
		uint64_t type = type_bytes(l);
		if (sw_ptx_is(l, "(") || sw_ptx_is(l, ")"))
			skip = sw_ptx_is(l, "(");
		else if (skip)
			continue;
		else if (type)
			bytes = type;
		else if (sw_ptx_is(l, ".align"))
			sw_ptx_next(l);
		else if (sw_ptx_number(l, SW_IMAGE_MAX_BYTES, &number))
			bytes = bytes * number < SW_IMAGE_MAX_BYTES ? bytes * number : 0;
		else if (*l->word != '.' && *l->word != '[' && *l->word != ']' && !name)
			name = sw_strndup(l->word, l->n);
	}
	if (name)
		add_variable(m, name, bytes, (struct sw_bytes){0});
	free(name);
}

/* Adds the variables of PTX text that are declared outside of functions. */
static void ptx_variables(struct sw_sim_module *m, struct sw_bytes text)
{
	struct sw_ptx_lexer l = sw_ptx_lexer(text.at, text.n);
	for (unsigned depth = 0; sw_ptx_next(&l);) {
		if (sw_ptx_is(&l, "{"))
			depth++;
		else if (sw_ptx_is(&l, "}"))
			depth -= depth > 0;
		else if (!depth && (sw_ptx_is(&l, ".global") || sw_ptx_is(&l, ".const")))
			ptx_variable(m, &l);
	}
}

/* The variables of a cubin or of PTX text; those already known stay as they are. */
static void sim_image_variables(struct sw_sim_module *m, const void *image, size_t size)
{
	struct sw_bytes all = {image, size};
	enum sw_image_kind kind = sw_image_kind_of(image, size);
	if (kind == SW_IMAGE_ELF)
		cubin_variables(m, all);
	else if (kind == SW_IMAGE_PTX)
		ptx_variables(m, all);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* A file's bytes followed by a zero, malloc'ed; NULL. */
static void *sim_image_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return NULL;
	char *bytes = NULL;
	long n = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
	if (n > 0 && !fseek(f, 0, SEEK_SET)) {
		bytes = sw_calloc((size_t)n + 1, 1);
		if (fread(bytes, 1, (size_t)n, f) != (size_t)n) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(f);
	return bytes;
}

/* For sw_image_kernels(): adds a kernel of the image. */
static int add_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	sim_module_kernel(arg, kernel->name, kernel->params, kernel->param, kernel->param_bytes);
	return 0;
}

/* For sw_fatbin_walk(): the variables of one image of a fat binary. */
static int add_entry(void *arg, const struct sw_fatbin_entry *entry)
{
	void *content;
	size_t bytes;
	if ((entry->kind != SW_IMAGE_ELF && entry->kind != SW_IMAGE_PTX) ||
	    sw_fatbin_extract(entry, &content, &bytes, NULL))
		return 0;
	sim_image_variables(arg, content, bytes);
	free(content);
	return 0;
}

/* Size of a cubin according to its headers: its tables are after everything else. */
static size_t cubin_bytes(const void *image)
{
	Elf64_Ehdr h;
	memcpy(&h, image, sizeof h);
	uint64_t sections = h.e_shoff + (uint64_t)h.e_shnum * sizeof(Elf64_Shdr),
		 segments = h.e_phoff + (uint64_t)h.e_phnum * sizeof(Elf64_Phdr),
		 end = sections > segments ? sections : segments;
	return end < SW_IMAGE_MAX_BYTES ? end : 0;
}

/* Fills functions and variables from a cubin, fatbin (wrapped or not) or PTX; false when it could not be read. */
static bool sim_image_read(struct sw_sim_module *m, const void *image)
{
	uint64_t target = sw_fatbin_wrapper_target(image);
	const void *bytes = target ? (const void *)(uintptr_t)target : image;
	struct sw_error error;
	size_t size = sw_fatbin_bytes(bytes, SW_IMAGE_MAX_BYTES);
	if (size) {
		sw_fatbin_walk(bytes, size, add_entry, m, NULL);
	} else {
		size = memcmp(bytes, ELFMAG, SELFMAG) ? strnlen(bytes, SW_IMAGE_MAX_BYTES) : cubin_bytes(bytes);
		sim_image_variables(m, bytes, size);
	}
	/* Any architecture will do: nothing is executed. */
	if (!sw_image_kernels(bytes, size, 0, add_kernel, m, &error))
		return true;
	fprintf(stderr, "syncwatch: simulated CUDA: %s: parameters of its kernels are unknown\n", error.text);
	return false;
}

struct sw_sim_function *sw_sim_function_get(const void *handle)
{
	return sw_sim_object_get(handle, SW_SIM_FUNCTION);
}

/* Loads a kernel, which holds up the context as CUDA's lazy loading does; nothing if it is loaded. */
void sw_sim_function_load(struct sw_sim_function *f, struct sw_sim_ctx *ctx)
{
	if (f->loaded)
		return;
	f->loaded = true;
	if (sw_sim.eager)
		return;
	/* The host's share of it: 0.10 to 0.15 ms in the measurements named above. */
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	sw_sim_ctx_barrier(ctx);
}

/* A new kernel of a module, whose parameters are not known yet. */
static struct sw_sim_function *function_add(struct sw_sim_module *m, const char *name)
{
	struct sw_sim_function *f = sw_calloc(1, sizeof *f);
	f->name = sw_strdup(name);
	f->module = m;
	f->ns = sw_sim_duration_of(name);
	f->max_dynamic_shared = 48 << 10;
	f->carveout = -1;
	sw_sim_object_add(f, SW_SIM_FUNCTION, NULL);
	*sw_vec_push(&m->functions) = f;
	return f;
}

/* Adds a kernel whose layout is known. */
static void sim_module_kernel(struct sw_sim_module *m, const char *name, size_t params, const struct sw_param *param,
			      size_t param_bytes)
{
	struct sw_sim_function *f = function_add(m, name);
	f->known = true;
	f->params = params;
	f->param_bytes = param_bytes;
	f->param = sw_calloc(params + 1, sizeof *f->param);
	if (params)
		memcpy(f->param, param, params * sizeof *param);
}

/* Loads a module or, without a context, a library. */
static struct sw_sim_module *load_module(enum sw_sim_kind kind, struct sw_sim_ctx *ctx, const void *image)
{
	struct sw_sim_module *m = sw_calloc(1, sizeof *m);
	sw_sim_object_add(m, kind, ctx);
	m->readable = sim_image_read(m, image);
	return m;
}

/* Ends a module with its kernels' handles and the memory of its variables. */
static void unload_module(struct sw_sim_module *m)
{
	for (size_t i = 0; i < m->functions.n; i++) {
		sw_sim_object_remove(m->functions.at[i]);
		/* Graph nodes and pending launches may still name the function: the object stays, only its handle ends.
		 */
	}
	for (size_t i = 0; i < m->variables.n; i++) {
		struct sw_sim_variable *v = &m->variables.at[i];
		for (int d = 0; d < sw_sim.devices; d++) {
			struct sw_sim_alloc *a = v->address[d] ? sw_sim_alloc_find(v->address[d]) : NULL;
			if (a && a->fixed && a->base == v->address[d])
				sw_sim_alloc_release(a);
		}
		free(v->name);
		free(v->bytes);
	}
	free(m->functions.at);
	free(m->variables.at);
	sw_sim_object_remove(m);
	free(m);
}

/* For sw_sim_object_each(): unloads a module. */
static void unload_each(void *object, void *arg)
{
	(void)arg;
	unload_module(object);
}

/* For sw_sim_object_each(): a context has ended, in which the library's kernels were loaded and its variables had
   memory. */
static void forget_loaded(void *object, void *arg)
{
	struct sw_sim_module *m = object;
	const struct sw_sim_ctx *ctx = arg;
	for (size_t i = 0; i < m->functions.n; i++)
		m->functions.at[i]->loaded = false;
	/* The context's allocations are released with it, variables included. */
	for (size_t i = 0; i < m->variables.n; i++)
		m->variables.at[i].address[ctx->device->index] = 0;
}

/* A context ends: its modules are unloaded, and what libraries loaded into it is forgotten. */
void sw_sim_module_clear(struct sw_sim_ctx *ctx)
{
	sw_sim_object_each(SW_SIM_MODULE, ctx, unload_each, NULL);
	sw_sim_object_each(SW_SIM_LIBRARY, NULL, forget_loaded, ctx);
}

/* The kernel of that name; NULL: none.  Where the image could not be read any name is believed. */
static struct sw_sim_function *find_kernel(struct sw_sim_module *m, const char *name)
{
	for (size_t i = 0; i < m->functions.n; i++)
		if (!strcmp(m->functions.at[i]->name, name))
			return m->functions.at[i];
	return m->readable ? NULL : function_add(m, name);
}

/* The variable of that name; NULL: none. */
static struct sw_sim_variable *sim_module_variable(struct sw_sim_module *m, const char *name)
{
	for (size_t i = 0; i < m->variables.n; i++)
		if (!strcmp(m->variables.at[i].name, name))
			return &m->variables.at[i];
	return NULL;
}

/* Address and size of a variable in a context, which gets its memory at the first question. */
static CUresult find_variable(struct sw_sim_module *m, const char *name, struct sw_sim_ctx *ctx, CUdeviceptr *address,
			      size_t *bytes)
{
	struct sw_sim_variable *v = sim_module_variable(m, name);
	if (!v)
		return CUDA_ERROR_NOT_FOUND;
	uint64_t *placed = &v->address[ctx->device->index];
	if (!*placed) {
		struct sw_sim_alloc *a = sw_sim_alloc_device(ctx->device, v->size);
		if (!a)
			return CUDA_ERROR_OUT_OF_MEMORY;
		a->fixed = true;
		*placed = a->base;
		if (v->bytes)
			memcpy(sw_sim_backing(a->base), v->bytes, v->size);
	}
	if (address)
		*address = *placed;
	if (bytes)
		*bytes = v->size;
	return CUDA_SUCCESS;
}

/* ---- modules ---- */

/* Reads the image's kernels and variables; each gets a handle now, and is loaded when it is first used. */
CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out || !image)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUmodule)load_module(SW_SIM_MODULE, sw_sim_ctx_current(), image);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options, void **values)
{
	(void)n, (void)options, (void)values;
	return cuModuleLoadData(out, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
	return cuModuleLoadData(out, image);
}

CUresult cuModuleLoad(CUmodule *out, const char *path)
{
	void *image = path ? sim_image_file(path) : NULL;
	if (!image)
		return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
	CUresult result = cuModuleLoadData(out, image);
	free(image);
	return result;
}

CUresult cuModuleUnload(CUmodule handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_MODULE);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	/* Unloading waits for the context's work: doc/confirm.md, "Measured", row "calls that wait for the hold". */
	sw_sim_ctx_wait(sw_sim_ctx_current());
	unload_module(m);
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_MODULE);
	if (!m || !out || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	struct sw_sim_function *f = find_kernel(m, name);
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*out = (CUfunction)f;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_MODULE);
	if (!m || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	return find_variable(m, name, sw_sim_ctx_current(), address, bytes);
}

/* ---- libraries: modules without a context ---- */

/* As cuModuleLoadData(), for all contexts; options of the compiler have no effect. */
CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit, void **jit_values, unsigned jit_n,
			   CUlibraryOption *options, void **values, unsigned n)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	(void)jit, (void)jit_values, (void)jit_n, (void)options, (void)values, (void)n;
	if (!out || !image)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUlibrary)load_module(SW_SIM_LIBRARY, NULL, image);
	return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit, void **jit_values, unsigned jit_n,
			       CUlibraryOption *options, void **values, unsigned n)
{
	void *image = path ? sim_image_file(path) : NULL;
	if (!image)
		return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
	CUresult result = cuLibraryLoadData(out, image, jit, jit_values, jit_n, options, values, n);
	free(image);
	return result;
}

CUresult cuLibraryUnload(CUlibrary handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	unload_module(m);
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !out || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	struct sw_sim_function *f = find_kernel(m, name);
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*out = (CUkernel)f;
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !count)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*count = (unsigned)m->functions.n;
	return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned n, CUlibrary handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !kernels)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	for (size_t i = 0; i < n && i < m->functions.n; i++)
		kernels[i] = (CUkernel)m->functions.at[i];
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	return find_variable(m, name, sw_sim_ctx_current(), address, bytes);
}

/* A managed variable: one allocation for all devices, made at the first question. */
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name)
{
	CUdeviceptr fresh;
	size_t size = 0;
	sw_sim_lock();
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	struct sw_sim_variable *v = m && name ? sim_module_variable(m, name) : NULL;
	bool placed = v && v->managed;
	if (v)
		size = v->size;
	sw_sim_unlock();
	if (!v)
		return m ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
	CUresult result = placed ? CUDA_SUCCESS : cuMemAllocManaged(&fresh, size, CU_MEM_ATTACH_GLOBAL);
	if (result)
		return result;
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!placed) {
		v->managed = fresh;
		if (v->bytes)
			memcpy((void *)(uintptr_t)fresh, v->bytes, size);
	}
	if (address)
		*address = v->managed;
	if (bytes)
		*bytes = size;
	return CUDA_SUCCESS;
}
