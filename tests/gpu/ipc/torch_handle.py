# SPDX-License-Identifier: Apache-2.0
"""Memory that the sender gives back to CUDA (empty_cache) while the receiver, which has opened it by its handle, uses it.

PyTorch's own queues count who still has a tensor.  Programs that pass handles in other ways (a trainer that hands its
weights to an engine) must do that themselves.
Fix: the sender keeps the tensor until the receiver has closed the memory and said so.

Ends with status 77 where PyTorch or a GPU is missing.
"""
import ctypes
import sys

try:
    import torch
    import torch.multiprocessing as mp
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

N = 1 << 24


class Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


def runtime():
    """The libcudart that PyTorch has loaded."""
    torch.zeros(1, device="cuda")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "/libcudart.so" in line}
    return ctypes.CDLL(paths.pop())


def check(status):
    if status:
        raise RuntimeError(f"CUDA error {status}")


def receive(there, back, fixed):
    cudart = runtime()
    y = torch.empty(N, device="cuda")
    handle, memory = Handle.from_buffer_copy(there.get()), ctypes.c_void_p()
    check(cudart.cudaIpcOpenMemHandle(ctypes.byref(memory), handle, 1))
    back.put("open")
    if not fixed:
        there.get()
    check(cudart.cudaMemcpyAsync(ctypes.c_void_p(y.data_ptr()), memory, ctypes.c_size_t(4 * N), 3,
                                 ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))
    torch.cuda.synchronize()
    check(cudart.cudaIpcCloseMemHandle(memory))
    back.put("closed")
    print("y", float(y[0]))


def main():
    fixed = "--fixed" in sys.argv
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        sys.exit(77)
    context = mp.get_context("spawn")
    there, back = context.Queue(), context.Queue()
    child = context.Process(target=receive, args=(there, back, fixed))
    child.start()
    cudart, handle = runtime(), Handle()
    x = torch.ones(N, device="cuda")
    torch.cuda.synchronize()
    check(cudart.cudaIpcGetMemHandle(ctypes.byref(handle), ctypes.c_void_p(x.data_ptr())))
    there.put(bytes(handle))
    back.get()
    if fixed:
        back.get()
    del x
    torch.cuda.empty_cache()
    if not fixed:
        there.put("freed")
        back.get()
    torch.zeros(N, device="cuda")
    torch.cuda.synchronize()
    child.join()
    sys.exit(child.exitcode)


if __name__ == "__main__":
    main()
