# SPDX-License-Identifier: Apache-2.0
"""Tensors of a caching allocator: one is freed while another stream reads it, and the next one takes its place.

usage: tensors.py FOLDER [--fixed|--kept|--neighbour] [--record]
  --fixed      its own stream waits for the reader first
  --kept       it is not freed
  --neighbour  what the other stream reads lies next to it
  --record     record_stream() is called for the other stream; with --fixed that is not needed
"""
import ctypes
import os
import sys

rt = ctypes.CDLL("libcudart.so.13")
base = ctypes.CDLL(os.path.join(sys.argv[1], "libc10.so"))
ctypes.CDLL("libcudart.so.13", mode=ctypes.RTLD_GLOBAL)
allocator = ctypes.CDLL(os.path.join(sys.argv[1], "libc10_cuda.so"))
allocator.allocator_take.restype = ctypes.c_void_p
N = 4000


def check(status):
    assert status == 0, status


def size(n):
    return ctypes.c_size_t(n)


def stream():
    handle = ctypes.c_void_p()
    check(rt.cudaStreamCreateWithFlags(ctypes.byref(handle), 1))
    return handle


def after(waiting, working):
    event = ctypes.c_void_p()
    check(rt.cudaEventCreateWithFlags(ctypes.byref(event), 2))
    check(rt.cudaEventRecord(event, working))
    check(rt.cudaStreamWaitEvent(waiting, event, 0))
    check(rt.cudaEventDestroy(event))


class Tensor:
    def __init__(self, n):
        self.at = ctypes.c_void_p(allocator.allocator_take(size(n)))  # allocates

    def free(self):
        allocator.allocator_give_back(self.at)  # frees


def main():
    memory = ctypes.c_void_p()
    check(rt.cudaMalloc(ctypes.byref(memory), size(1 << 20)))
    allocator.allocator_keep(memory, size(1 << 20))
    allocator.allocator_on_host()
    first, second = stream(), stream()
    allocator.allocator_current(first)
    y = Tensor(N)
    other = Tensor(N)
    x = Tensor(N)  # x is made
    check(rt.cudaMemsetAsync(x.at, 1, size(N), first))
    check(rt.cudaMemsetAsync(other.at, 1, size(N), first))
    after(second, first)
    source = other if "--neighbour" in sys.argv else x
    check(rt.cudaMemcpyAsync(y.at, source.at, size(N), 3, second))  # reads
    if "--fixed" in sys.argv:
        after(first, second)
    if "--record" in sys.argv:
        allocator.allocator_record_stream(x.at, second)
    if "--kept" not in sys.argv:
        x.free()  # x is freed
    z = Tensor(N)  # z is made
    check(rt.cudaMemsetAsync(z.at, 2, size(N), first))  # reuses
    check(rt.cudaDeviceSynchronize())
    print("calls", ctypes.c_int64.in_dll(base, "reported_calls").value, "bytes",
          ctypes.c_int64.in_dll(base, "reported_bytes").value, "same", z.at.value == x.at.value)


main()
