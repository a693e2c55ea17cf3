/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of the errors that the simulation gives; others are named by their number's absence, as the driver does
   for codes that it does not know. */
#include "simcuda/sim.h"

#define ERRORS(X)                                                                                                      \
	X(CUDA_SUCCESS, "no error")                                                                                    \
	X(CUDA_ERROR_INVALID_VALUE, "invalid argument")                                                                \
	X(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")                                                                   \
	X(CUDA_ERROR_NOT_INITIALIZED, "initialization error")                                                          \
	X(CUDA_ERROR_DEINITIALIZED, "driver shutting down")                                                            \
	X(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected")                                                  \
	X(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")                                                         \
	X(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid")                                                  \
	X(CUDA_ERROR_INVALID_CONTEXT, "invalid device context")                                                        \
	X(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture")                                 \
	X(CUDA_ERROR_FILE_NOT_FOUND, "file not found")                                                                 \
	X(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")                                                        \
	X(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state")                          \
	X(CUDA_ERROR_NOT_FOUND, "named symbol not found")                                                              \
	X(CUDA_ERROR_NOT_READY, "device not ready")                                                                    \
	X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled")                                    \
	X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled")                                      \
	X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped")    \
	X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region")          \
	X(CUDA_ERROR_NOT_PERMITTED, "operation not permitted")                                                         \
	X(CUDA_ERROR_NOT_SUPPORTED, "operation not supported")                                                         \
	X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing")                   \
	X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture")            \
	X(CUDA_ERROR_STREAM_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences")          \
	X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began")                 \
	X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work")                                    \
	X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream")              \
	X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "operation would make the legacy stream depend on a capturing blocking stream") \
	X(CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream")        \
	X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "attempt to terminate a thread-local capture sequence from another thread") \
	X(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
	X(CUDA_ERROR_UNKNOWN, "unknown error")

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
#define ROW(code, text) {code, #code, text},
	ERRORS(ROW)
#undef ROW
};

static CUresult look_up(CUresult code, const char **out, bool name)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			*out = name ? errors[i].name : errors[i].text;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult code, const char **out)
{
	return look_up(code, out, true);
}

CUresult cuGetErrorString(CUresult code, const char **out)
{
	return look_up(code, out, false);
}
