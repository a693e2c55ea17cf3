# SPDX-License-Identifier: Apache-2.0
"""cupy.asarray(tensor) takes the memory by the CUDA array interface; PyTorch's says nothing of streams.

Fix: CuPy works on PyTorch's stream.
"""
from case import fixed, need

need("cupy")
import cupy
import torch

N = 1 << 20
theirs = cupy.cuda.Stream(non_blocking=True)
x = torch.zeros(N, device="cuda")
host = torch.ones(N).pin_memory()
torch.cuda.synchronize()
with theirs:
    y = cupy.asarray(x) * 2
torch.cuda.synchronize()

x.copy_(host, non_blocking=True)
stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream) if fixed else theirs
with stream:
    cupy.multiply(cupy.asarray(x), 2, out=y)
torch.cuda.synchronize()
print("y", float(y[0]))
