# SPDX-License-Identifier: Apache-2.0
"""Correct: JAX steps that are given their buffers (donation), loops and scans on the device, values read between them."""
import functools
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=0)
def step(state, x):
    return jax.tree.map(lambda s: jnp.tanh(s @ x) + s, state)


@jax.jit
def scan(x):
    return jax.lax.scan(lambda carry, row: (carry + jnp.sin(row), carry.sum()), jnp.zeros(x.shape[1]), x)


state = {"a": jnp.ones((256, 256)), "b": jnp.zeros((128, 256))}
x = jax.random.normal(jax.random.PRNGKey(0), (256, 256)) / 16
for i in range(8):
    state = step(state, x)
    if i % 3 == 0:
        print(i, float(state["a"][0, 0]))
carry, sums = scan(x)
print("finite", bool(jnp.isfinite(carry).all()), float(sums.sum()))
