# SPDX-License-Identifier: Apache-2.0
"""Arrays of a pool like CuPy's: one is freed while another stream reads it, and the next one takes its place.

usage: arrays.py FOLDER [--fixed|--kept|--neighbour|--by-hand|--two-fills]
  --fixed      its stream waits for the reader first
  --kept       it is not freed
  --neighbour  what the other stream reads lies next to it
  --by-hand    as --fixed; the block is given back by free() and its object ends later
  --two-fills  instead, the library itself fills one array on two streams
"""
import ctypes
import sys

sys.path.insert(0, sys.argv[1])
rt = ctypes.CDLL("libcudart.so.13")
from cupy.cuda import memory
from cupy.cuda import stream as streams

N = 4000


def check(status):
    assert status == 0, status


def size(n):
    return ctypes.c_size_t(n)


def at(pointer):
    return ctypes.c_void_p(pointer.ptr)


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


def main():
    check(rt.cudaDeviceSynchronize())
    first, second = stream(), stream()
    streams.use(first.value)
    y = memory.alloc(N)
    other = memory.alloc(N)
    x = memory.alloc(N)  # x is made
    view = memory.part(x, 512)
    check(rt.cudaMemsetAsync(at(x), 1, size(N), first))
    check(rt.cudaMemsetAsync(at(other), 1, size(N), first))
    after(second, first)
    if "--two-fills" in sys.argv:
        check(memory.fill(x, N, 0))
        check(memory.fill(x, N, second.value))  # fills again
        check(rt.cudaDeviceSynchronize())
        return
    source = other if "--neighbour" in sys.argv else x
    check(rt.cudaMemcpyAsync(at(y), at(source), size(N), 3, second))  # reads
    if "--fixed" in sys.argv or "--by-hand" in sys.argv:
        after(first, second)
    del source
    place, held = x.ptr, None
    if "--by-hand" in sys.argv:
        held = x.mem
        held.free()
    del view
    if "--kept" not in sys.argv:
        del x  # x is freed
    z = memory.alloc(N)  # z is made
    del held
    check(rt.cudaMemsetAsync(at(z), 2, size(N), first))  # reuses
    check(rt.cudaDeviceSynchronize())
    print("same", z.ptr == place)


main()
