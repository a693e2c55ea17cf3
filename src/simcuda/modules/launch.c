/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches: timed no-ops with their parameters kept. */
#include "simcuda/sim.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH_NS    5000u   /* a kernel without work */
#define WAVE_THREADS 270336u /* threads that a large device holds at once: 132 processors of 2048 */
#define WAVE_NS	     1000u
#define MAX_THREADS  1024u
#define MAX_SHARED   (227u << 10)
#define MAX_GRID_YZ  65535u

struct rule {
	char *pattern;
	uint64_t ns;
};
static SW_VEC(struct rule) rules;

/* "2ms", "50us", "100ns", "1s"; 0 for anything else. */
static uint64_t parse_ns(const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *unit;
	double value = strtod(text, &unit);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(unit, units[i].unit) && value > 0 && value * units[i].ns < 1e13)
			return (uint64_t)(value * units[i].ns);
	return 0;
}

/* Reads GLOB=TIME rules, separated by colons, from the environment. */
void sw_sim_duration_start(void)
{
	const char *env = getenv("SYNCWATCH_SIM_KERNEL_TIME");
	if (!env)
		return;
	char *copy = sw_strdup(env), *rest = copy;
	for (char *item; (item = strsep(&rest, ":"));) {
		char *equals = strrchr(item, '=');
		uint64_t ns = equals ? parse_ns(equals + 1) : 0;
		if (ns)
			*sw_vec_push(&rules) = (struct rule){sw_strndup(item, (size_t)(equals - item)), ns};
		else if (*item)
			fprintf(stderr, "syncwatch: SYNCWATCH_SIM_KERNEL_TIME: '%s' is not GLOB=TIME (as spin*=2ms)\n",
				item);
	}
	free(copy);
}

/* The function's own name in a mangled one: "spin" of "_ZN2ns4spinEi"; the name itself when it is not mangled. */
static void base_name(const char *mangled, char *out, size_t room)
{
	const char *p = mangled, *found = mangled;
	size_t length = strlen(mangled);
	if (!strncmp(p, "_Z", 2)) {
		for (p += 2; *p == 'N' || *p == 'L' || *p == 'K'; p++)
			;
		while (isdigit((unsigned char)*p)) {
			char *name;
			unsigned long n = strtoul(p, &name, 10);
			if (!n || n > strlen(name))
				break;
			found = name;
			length = n;
			p = name + n;
			p += *p == 'L';
		}
	}
	snprintf(out, room, "%.*s", (int)length, found);
}

/* The time that SYNCWATCH_SIM_KERNEL_TIME gives to kernels of this name, mangled or without its parameters; 0: none. */
uint64_t sw_sim_duration_of(const char *mangled)
{
	char base[256];
	base_name(mangled, base, sizeof base);
	for (size_t i = 0; i < rules.n; i++)
		if (!fnmatch(rules.at[i].pattern, mangled, 0) || !fnmatch(rules.at[i].pattern, base, 0))
			return rules.at[i].ns;
	return 0;
}

/* Duration of one launch in ns. */
static uint64_t launch_duration(const struct sw_sim_function *f, const unsigned grid[3], const unsigned block[3])
{
	if (f->ns)
		return f->ns;
	uint64_t threads = (uint64_t)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
	return LAUNCH_NS + (threads + WAVE_THREADS - 1) / WAVE_THREADS * WAVE_NS;
}

/* Is the launch within the limits of the device? */
static CUresult check_geometry(const unsigned grid[3], const unsigned block[3], unsigned shared_bytes)
{
	for (int i = 0; i < 3; i++)
		if (!grid[i] || !block[i])
			return CUDA_ERROR_INVALID_VALUE;
	if ((uint64_t)block[0] * block[1] * block[2] > MAX_THREADS || block[2] > 64 || grid[0] > 0x7fffffffu ||
	    grid[1] > MAX_GRID_YZ || grid[2] > MAX_GRID_YZ || shared_bytes > MAX_SHARED)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* The packed block that `extra` names, NULL when there is none. */
static const void *packed_block(void **extra, size_t *bytes)
{
	const void *block = NULL;
	*bytes = 0;
	for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			block = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			*bytes = *(size_t *)extra[1];
		else
			return NULL;
	}
	return block;
}

/* Parameters are read during the call, as the real driver does: what the pointers point to may change afterwards. */
static void keep_params(struct sw_sim_launch *l, void **params, void **extra)
{
	const struct sw_sim_function *f = l->function;
	size_t extra_bytes;
	const void *block = packed_block(extra, &extra_bytes);
	l->param_bytes = f->param_bytes > extra_bytes ? f->param_bytes : extra_bytes;
	l->params = sw_calloc(1, l->param_bytes + 1);
	l->pointers = sw_calloc(f->params + 1, sizeof *l->pointers);
	if (block)
		memcpy(l->params, block, extra_bytes);
	for (size_t i = 0; i < f->params; i++) {
		l->pointers[i] = (char *)l->params + f->param[i].offset;
		if (!block && params)
			memcpy(l->pointers[i], params[i], f->param[i].bytes);
	}
}

/* Makes work of a launch, after the checks of a real launch; `params` or `extra` has the parameters, which are kept. */
CUresult sw_sim_launch_work(CUfunction handle, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
			    void **params, void **extra, struct sw_sim_work **out)
{
	struct sw_sim_function *f = sw_sim_function_get(handle);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	CUresult result = check_geometry(grid, block, shared_bytes);
	if (!result && (params ? extra != NULL : f->params && !extra))
		result = CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_KERNEL, launch_duration(f, grid, block));
	work->launch.function = f;
	work->launch.shared_bytes = shared_bytes;
	memcpy(work->launch.grid, grid, sizeof work->launch.grid);
	memcpy(work->launch.block, block, sizeof work->launch.block);
	keep_params(&work->launch, params, extra);
	*out = work;
	return CUDA_SUCCESS;
}

/* Launches on a stream of the current context; loads the kernel first if this is its first use. */
static CUresult launch_kernel(CUfunction handle, const CUlaunchConfig *c, void **params, void **extra)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	struct sw_sim_work *work;
	const unsigned grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ},
		       block[3] = {c->blockDimX, c->blockDimY, c->blockDimZ};
	CUresult result = sw_sim_stream_find(c->hStream, &s);
	if (!result && s->object.ctx != sw_sim_ctx_current())
		result = CUDA_ERROR_INVALID_HANDLE;
	if (!result)
		result = sw_sim_launch_work(handle, grid, block, c->sharedMemBytes, params, extra, &work);
	if (result)
		return result;
	sw_sim_function_load(work->launch.function, s->object.ctx);
	struct sw_sim_event *events[2];
	size_t n = 0;
	for (unsigned i = 0; i < c->numAttrs; i++)
		work->launch.overlaps |= c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
					 c->attrs[i].value.programmaticStreamSerializationAllowed;
	for (unsigned i = 0; i < c->numAttrs && n < 2; i++) {
		CUevent event = c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
					? c->attrs[i].value.programmaticEvent.event
				: c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
					? c->attrs[i].value.launchCompletionEvent.event
					: NULL;
		if (event && !(events[n++] = sw_sim_object_get(event, SW_SIM_EVENT))) {
			sw_sim_work_put(work);
			return CUDA_ERROR_INVALID_HANDLE;
		}
	}
	/* Such events may fire before the kernel ends; here they do when it may start. */
	for (size_t i = 0; i < n && !s->capture; i++)
		sw_sim_op_set(&events[i]->op, sw_sim_stream_enqueue(s, NULL));
	return sw_sim_submit(s, work, NULL);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	return config ? launch_kernel(f, config, params, extra) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
	return launch_kernel(f, &(CUlaunchConfig){gx, gy, gz, bx, by, bz, shared_bytes, stream, NULL, 0}, params,
			     extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				   unsigned bz, unsigned shared_bytes, CUstream stream, void **params)
{
	return launch_kernel(f, &(CUlaunchConfig){gx, gy, gz, bx, by, bz, shared_bytes, stream, NULL, 0}, params, NULL);
}
