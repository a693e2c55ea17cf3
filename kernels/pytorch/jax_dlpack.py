# SPDX-License-Identifier: Apache-2.0
"""A JAX array goes to PyTorch as a capsule made without a stream: nothing makes PyTorch's stream wait for JAX.

Fix: torch.from_dlpack(array) tells JAX the stream.
"""
import os

from case import fixed, need

need("jax")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import torch
from torch.utils.dlpack import from_dlpack

N = 1 << 22
step = jax.jit(lambda a: jnp.sin(a) * 2 + 1)
x = jnp.ones(N)
y = torch.empty(N, device="cuda")
torch.mul(from_dlpack(step(x)), 2, out=y)
torch.cuda.synchronize()

made = step(x)
t = from_dlpack(made) if fixed else from_dlpack(made.__dlpack__())
torch.mul(t, 2, out=y)
torch.cuda.synchronize()
print("y", float(y[0]))
