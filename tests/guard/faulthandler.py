# SPDX-License-Identifier: Apache-2.0
"""Fills a pinned buffer while a copy reads it, with Python's handler for SIGSEGV installed; with an argument, crashes."""
import ctypes
import faulthandler
import sys

faulthandler.enable()
cuda = ctypes.CDLL("libcudart.so.13")
host, device, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
size = ctypes.c_size_t(65536)
assert cuda.cudaMallocHost(ctypes.byref(host), size) == 0
assert cuda.cudaMalloc(ctypes.byref(device), size) == 0
assert cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1) == 0
assert cuda.cudaMemcpyAsync(device, host, size, 1, stream) == 0
ctypes.memset(host, 3, 65536)
assert cuda.cudaStreamSynchronize(stream) == 0
if len(sys.argv) > 1:
    ctypes.string_at(8)
