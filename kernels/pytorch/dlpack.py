# SPDX-License-Identifier: Apache-2.0
"""A PyTorch tensor goes to CuPy as a bare DLPack capsule: CuPy does not learn which stream still writes it.

Fix: cupy.from_dlpack(tensor) passes CuPy's stream to PyTorch, which makes it wait.
"""
from case import fixed, need

need("cupy")
import cupy
import torch
from torch.utils.dlpack import to_dlpack

N = 1 << 20
bare = getattr(cupy, "fromDlpack", cupy.from_dlpack)
theirs = cupy.cuda.Stream(non_blocking=True)
x = torch.zeros(N, device="cuda")
host = torch.ones(N).pin_memory()
with theirs:
    y = cupy.from_dlpack(x) * 2  # loads the kernel, fills the pool
torch.cuda.synchronize()

x.copy_(host, non_blocking=True)
with theirs:
    a = cupy.from_dlpack(x) if fixed else bare(to_dlpack(x))
    cupy.multiply(a, 2, out=y)
torch.cuda.synchronize()
print("y", float(y[0]))
