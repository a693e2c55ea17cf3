# SPDX-License-Identifier: Apache-2.0
"""CUDA by way of ctypes, which loads libraries with RTLD_LOCAL."""
import ctypes
import sys

cuda = ctypes.CDLL(sys.argv[1])
data = ctypes.c_void_p()
status = cuda.cudaMalloc(ctypes.byref(data), ctypes.c_size_t(4096)) \
    or cuda.cudaMemset(data, 0, ctypes.c_size_t(4096)) \
    or cuda.cudaDeviceSynchronize() or cuda.cudaFree(data)
print("done" if status == 0 else f"error {status}")
sys.exit(3 if status == 0 else 1)
