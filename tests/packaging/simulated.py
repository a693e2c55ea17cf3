# SPDX-License-Identifier: Apache-2.0
"""Calls of the driver by ctypes: what a library for Python makes."""
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
u64 = ctypes.c_ulonglong


def must(status):
    assert status == 0, status


def begin():
    """A stream, device memory, pinned and pageable memory."""
    context, stream, data, pinned = ctypes.c_void_p(), ctypes.c_void_p(), u64(), ctypes.c_void_p()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    must(cuda.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(4096)))
    must(cuda.cuMemAllocHost_v2(ctypes.byref(pinned), ctypes.c_size_t(4096)))
    return stream, data, pinned, ctypes.create_string_buffer(4096)


class Device:
    def __init__(self):
        self.stream, self.data, self.pinned, self.pageable = begin()

    def wait(self):
        must(cuda.cuStreamSynchronize(self.stream))

    def fill(self):
        must(cuda.cuMemsetD8Async(self.data, 0, ctypes.c_size_t(4096), self.stream))

    def upload(self, pinned=True):
        source = self.pinned if pinned else self.pageable
        must(cuda.cuMemcpyHtoDAsync_v2(self.data, source, ctypes.c_size_t(4096), self.stream))

    def alloc(self):
        more = u64()
        must(cuda.cuMemAlloc_v2(ctypes.byref(more), ctypes.c_size_t(4096)))
