# SPDX-License-Identifier: Apache-2.0
"""A PyTorch tensor is handed to JAX without a copy, and changed in place while JAX still reads it.

JAX waits for PyTorch where it takes the tensor; nothing makes PyTorch wait for JAX.
Fix: wait for JAX's result before the tensor is changed.
"""
import os

from case import fixed, need

need("jax")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import torch

# It must still run when the tensor is changed: JAX's callback after it tells the host, which then orders the two by luck.
N = 1 << 28
step = jax.jit(lambda a: jnp.sin(jnp.sin(jnp.sin(jnp.sin(a) * 2) * 2) * 2) + 1)
x = torch.ones(N, device="cuda")
torch.cuda.synchronize()
shared = jax.dlpack.from_dlpack(x)
step(shared).block_until_ready()
x.fill_(2)
torch.cuda.synchronize()

y = step(shared)
if fixed:
    y.block_until_ready()
x.fill_(3)
torch.cuda.synchronize()
print("y", float(y[0]))
