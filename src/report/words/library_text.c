/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/library_text.h"

const char *sw_name_library(enum sw_cuda_library library)
{
	static const char *const words[] = {
		[SW_CUDA_NONE] = "a library",
#define SW_LIBRARY_NAME(library, start, name) [SW_CUDA_##library] = (name),
#include "detect/libraries/library_arguments.def"
	};
	return (size_t)library < sizeof words / sizeof *words ? words[library] : words[SW_CUDA_NONE];
}

static const char *noun(const struct sw_library_call *call)
{
	return call->library == SW_CUDA_CUFFT ? "plan" : "handle";
}

const char *sw_name_library_call(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_library_call *call = sw_library_call_of(names, access);
	if (!call)
		return "";
	const char *handle = call->number ? sw_names_format(names, "%s %s %u", sw_name_library(call->library),
							    noun(call), call->number)
					  : sw_name_library(call->library);
	const char *stream =
		access->stream ? sw_names_format(names, ", %s", sw_name_stream(names, access->stream)) : "";
	return sw_names_format(names, "part of %s (%s%s)", call->function, handle, stream);
}

const char *sw_name_workspace(struct sw_names *names, const struct sw_finding *finding)
{
	const struct sw_library_call *a = sw_library_call_of(names, finding->access[0]);
	const struct sw_library_call *b = sw_library_call_of(names, finding->access[1]);
	if (!a || !b || !a->number || !b->number)
		return "a library's workspace";
	if (a->library == b->library && a->number == b->number)
		return sw_names_format(names, "the workspace of %s %s %u", sw_name_library(a->library), noun(a),
				       a->number);
	if (a->library == b->library)
		return sw_names_format(names, "the workspace of %s %ss %u and %u", sw_name_library(a->library), noun(a),
				       a->number, b->number);
	return sw_names_format(names, "the workspace of %s %s %u and %s %s %u", sw_name_library(a->library), noun(a),
			       a->number, sw_name_library(b->library), noun(b), b->number);
}

const char *sw_name_workspace_fix(struct sw_names *names, const struct sw_finding *finding)
{
	const struct sw_library_call *call = sw_library_call_of(names, finding->access[1]);
	switch (call ? call->library : SW_CUDA_NONE) {
	case SW_CUDA_CUBLAS:
		return "a cuBLAS handle for each stream, or cublasSetWorkspace() with another buffer after each "
		       "cublasSetStream()";
	case SW_CUDA_CUFFT:
		return "a cuFFT plan for each stream, or cufftSetWorkArea() with another buffer";
	default:
		return "another buffer in one of the calls";
	}
}
