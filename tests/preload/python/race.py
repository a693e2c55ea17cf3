# SPDX-License-Identifier: Apache-2.0
"""A copy on one stream that reads what another stream sets; --fixed waits for it."""
import ctypes
import sys

rt = ctypes.CDLL("libcudart.so.13")


def check(status):
    assert status == 0, status


def malloc(size):
    pointer = ctypes.c_void_p()
    check(rt.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)))
    return pointer


def stream():
    handle = ctypes.c_void_p()
    check(rt.cudaStreamCreateWithFlags(ctypes.byref(handle), 1))
    return handle


class Worker:
    def fill(self, to, on):
        check(rt.cudaMemsetAsync(to, 0, ctypes.c_size_t(1024), on))  # fills

    def copy(self, to, source, on):
        check(rt.cudaMemcpyAsync(to, source, ctypes.c_size_t(1024), 3, on))  # copies


def main():
    first, second = stream(), stream()
    one, two = malloc(1024), malloc(1024)
    worker = Worker()
    worker.fill(one, first)
    if "--fixed" in sys.argv:
        check(rt.cudaStreamSynchronize(first))
    worker.copy(two, one, second)
    check(rt.cudaDeviceSynchronize())


main()
