/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes the launches of the table on a GPU, through the driver API, for tests that watch what they really touch.
 *
 * usage: launch TABLE IMAGES [--list | KERNEL...]
 *     IMAGES   folder with FILE.fatbin for each file of the table
 *     KERNEL   a name, or LINE of the table for one launch of it; none: all that may be executed
 * For each launch, on stdout, flushed before it starts:
 *     launch LINE KERNEL
 *     buffer NAME ADDRESS BYTES      (module variables: @NAME)
 *     params HEX                     the parameter block
 *     done LINE STATUS               0, or the error of the driver
 * Continues after a kernel that fails; the exit status says so.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table.h"

static void check(CUresult status, const char *what)
{
	const char *text = NULL;

	if (status == CUDA_SUCCESS)
		return;
	cuGetErrorString(status, &text);
	fprintf(stderr, "%s: %s\n", what, text ? text : "unknown error");
	exit(1);
}
#define CHECK(call) check(call, #call)

struct device {
	CUdevice device;
	uint32_t arch;
	CUmodule module; /* of `file` */
	char file[CORPUS_NAME];
	const char *images;
	CUdeviceptr address[64];
	CUarray array[64];
	CUtexObject texture[64]; /* by handle of the launch; surfaces too */
};

static void load_module(struct device *device, const struct corpus_launch *launch)
{
	char *path;

	if (!strcmp(device->file, launch->file))
		return;
	if (device->module)
		CHECK(cuModuleUnload(device->module));
	path = sw_format("%s/%s.fatbin", device->images, launch->file);
	check(cuModuleLoad(&device->module, path), path);
	free(path);
	snprintf(device->file, sizeof device->file, "%s", launch->file);
}

static uint64_t address_of(void *arg, int buffer)
{
	return ((struct device *)arg)->address[buffer];
}

static void make_buffers(struct device *device, const struct corpus_launch *launch)
{
	for (size_t i = 0; i < launch->buffers.n; i++) {
		const struct corpus_buffer *buffer = &launch->buffers.at[i];
		size_t bytes = buffer->bytes;

		if (buffer->name[0] == '@')
			CHECK(cuModuleGetGlobal(&device->address[i], &bytes, device->module, buffer->name + 1));
		else
			CHECK(cuMemAlloc(&device->address[i], bytes));
		printf("buffer %s 0x%llx %zu\n", buffer->name, device->address[i], bytes);
	}
	for (size_t i = 0; i < launch->buffers.n; i++) {
		const struct corpus_buffer *buffer = &launch->buffers.at[i];
		size_t bytes = buffer->bytes;
		void *content;

		if (buffer->name[0] == '@') {
			if (buffer->content == CORPUS_ZERO)
				continue; /* keeps what the module was loaded with */
			CHECK(cuModuleGetGlobal(&device->address[i], &bytes, device->module, buffer->name + 1));
		}
		content = sw_calloc(1, bytes);
		corpus_fill(launch, (int)i, content, bytes, address_of, device);
		CHECK(cuMemcpyHtoD(device->address[i], content, bytes));
		free(content);
	}
}

static uint64_t make_texture(struct device *device, const struct corpus_launch *launch,
			     const struct corpus_handle *handle)
{
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
	CUDA_TEXTURE_DESC how = {.flags = 0};
	CUtexObject object;

	resource.res.linear.devPtr = device->address[handle->buffer];
	resource.res.linear.format = CU_AD_FORMAT_FLOAT;
	resource.res.linear.numChannels = 1;
	resource.res.linear.sizeInBytes = launch->buffers.at[handle->buffer].bytes;
	CHECK(cuTexObjectCreate(&object, &resource, &how, NULL));
	return object;
}

static uint64_t make_surface(struct device *device, const struct corpus_launch *launch,
			     const struct corpus_handle *handle)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {
		.Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
	CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
	size_t at = (size_t)(handle - launch->handles.at);
	CUsurfObject object;

	shape.Width = launch->buffers.at[handle->buffer].bytes / sizeof(float);
	CHECK(cuArray3DCreate(&device->array[at], &shape));
	resource.res.array.hArray = device->array[at];
	CHECK(cuSurfObjectCreate(&object, &resource));
	return object;
}

static void make_map(struct device *device, const struct corpus_handle *handle, CUtensorMap *map)
{
	cuuint64_t size[2] = {handle->size[0], handle->size[1]}, stride[1] = {handle->size[0] * sizeof(float)};
	cuuint32_t box[2] = {handle->box[0], handle->box[1]}, step[2] = {1, 1};

	CHECK(cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
				     (void *)(uintptr_t)device->address[handle->buffer], size, stride, box, step,
				     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
				     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

static void make_objects(struct device *device, const struct corpus_launch *launch, uint8_t *params)
{
	for (size_t i = 0; i < launch->handles.n; i++) {
		const struct corpus_handle *handle = &launch->handles.at[i];
		CUtensorMap map;

		if (handle->kind == CORPUS_MAP) {
			make_map(device, handle, &map);
			memcpy(params + handle->at, &map, sizeof map);
			continue;
		}
		device->texture[i] = handle->kind == CORPUS_TEXTURE ? make_texture(device, launch, handle)
								    : make_surface(device, launch, handle);
		memcpy(params + handle->at, &device->texture[i], 8);
	}
}

static void give_back(struct device *device, const struct corpus_launch *launch)
{
	for (size_t i = 0; i < launch->handles.n; i++) {
		if (launch->handles.at[i].kind == CORPUS_TEXTURE)
			CHECK(cuTexObjectDestroy(device->texture[i]));
		if (launch->handles.at[i].kind == CORPUS_SURFACE) {
			CHECK(cuSurfObjectDestroy(device->texture[i]));
			CHECK(cuArrayDestroy(device->array[i]));
		}
	}
	for (size_t i = 0; i < launch->buffers.n; i++)
		if (launch->buffers.at[i].name[0] != '@')
			CHECK(cuMemFree(device->address[i]));
}

static void launch_kernel(struct device *device, const struct corpus_launch *launch, uint8_t *params)
{
	CUlaunchAttribute attributes[2];
	CUlaunchConfig config = {
		.gridDimX = launch->grid[0],
		.gridDimY = launch->grid[1],
		.gridDimZ = launch->grid[2],
		.blockDimX = launch->block[0],
		.blockDimY = launch->block[1],
		.blockDimZ = launch->block[2],
		.sharedMemBytes = launch->shared,
		.attrs = attributes,
	};
	void *pointers[sizeof launch->param / sizeof *launch->param];
	CUfunction function;

	CHECK(cuModuleGetFunction(&function, device->module, launch->kernel));
	if (launch->shared > 48 * 1024)
		CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					 (int)launch->shared));
	if (launch->cluster) {
		attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		attributes[config.numAttrs].value.clusterDim.x = launch->cluster;
		attributes[config.numAttrs].value.clusterDim.y = 1;
		attributes[config.numAttrs++].value.clusterDim.z = 1;
	}
	if (launch->cooperative) {
		attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
		attributes[config.numAttrs++].value.cooperative = 1;
	}
	for (size_t i = 0; i < launch->n_params; i++)
		pointers[i] = params + launch->param[i].offset;
	CHECK(cuLaunchKernelEx(&config, function, pointers, NULL));
}

static void open_device(struct device *device)
{
	CUcontext context;
	int major, minor;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device->device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device->device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device->device));
	CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device->device));
	device->arch = (uint32_t)(10 * major + minor);
}

/* false: it failed on the device; the next one finds a new context. */
static bool execute(struct device *device, const struct corpus_launch *launch)
{
	_Alignas(128) uint8_t params[CORPUS_MAX_BLOCK];
	CUresult status;

	load_module(device, launch);
	printf("launch %d %s\n", launch->line, launch->kernel);
	make_buffers(device, launch);
	corpus_params(launch, params, address_of, device);
	make_objects(device, launch, params);
	printf("params ");
	for (size_t i = 0; i < launch->param_bytes; i++)
		printf("%02x", params[i]);
	putchar('\n');
	fflush(stdout);
	launch_kernel(device, launch, params);
	status = cuCtxSynchronize();
	printf("done %d %d\n", launch->line, (int)status);
	fflush(stdout);
	if (status == CUDA_SUCCESS) {
		give_back(device, launch);
		return true;
	}
	/* The context is of no use any more, and everything in it is lost with it. */
	CHECK(cuDevicePrimaryCtxReset(device->device));
	device->module = NULL;
	device->file[0] = '\0';
	open_device(device);
	return false;
}

static bool is_wanted(const struct corpus_launch *launch, char **names, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], launch->kernel) || atoi(names[i]) == launch->line)
			return true;
	return n == 0;
}

int main(int argc, char **argv)
{
	struct corpus_table table = {0};
	struct device device = {0};
	bool list, failed = false;

	if (argc < 3) {
		fprintf(stderr, "usage: %s TABLE IMAGES [--list | KERNEL...]\n", argv[0]);
		return 2;
	}
	list = argc > 3 && !strcmp(argv[3], "--list");
	device.images = argv[2];
	corpus_read(argv[1], &table);
	if (!list)
		open_device(&device);
	for (size_t i = 0; i < table.n; i++) {
		const struct corpus_launch *launch = table.at[i];

		if (list)
			printf("%d %s%s\n", launch->line, launch->kernel, launch->never ? " never" : "");
		else if (!launch->never && launch->arch <= device.arch && is_wanted(launch, argv + 3, argc - 3))
			failed |= !execute(&device, launch);
	}
	corpus_free(&table);
	return failed;
}
