# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as streams.py needs, on the simulated CUDA: streams, wait_stream(), memory that is filled."""
import contextlib
import ctypes
import os
import sys

rt = ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
ctypes.CDLL(os.path.join(os.path.dirname(__file__), "..", "libtorch_python.so"))  # what a program of PyTorch is known by
for function in (rt.cudaMemsetAsync, rt.cudaEventRecord, rt.cudaStreamWaitEvent):
    function.argtypes = {"cudaMemsetAsync": [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p],
                         "cudaEventRecord": [ctypes.c_void_p, ctypes.c_void_p],
                         "cudaStreamWaitEvent": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]}[function.__name__]


class cuda:
    current = None

    class Stream:
        def __init__(self, handle=False):
            self.handle = ctypes.c_void_p()
            if handle is False:
                assert rt.cudaStreamCreateWithFlags(ctypes.byref(self.handle), 1) == 0

        def wait_stream(self, other):
            event = ctypes.c_void_p()
            assert rt.cudaEventCreateWithFlags(ctypes.byref(event), 2) == 0
            assert rt.cudaEventRecord(event, other.handle) == 0
            assert rt.cudaStreamWaitEvent(self.handle, event, 0) == 0

    @staticmethod
    def default_stream():
        return cuda.Stream(None)

    @staticmethod
    @contextlib.contextmanager
    def stream(stream):
        before, cuda.current = cuda.current, stream
        yield
        cuda.current = before


def empty():
    memory = ctypes.c_void_p()
    assert rt.cudaMalloc(ctypes.byref(memory), 4096) == 0
    return memory


def fill(memory):
    assert rt.cudaMemsetAsync(memory, 0, 4096, cuda.current.handle if cuda.current else None) == 0


sys.modules["torch"] = sys.modules[__name__]
