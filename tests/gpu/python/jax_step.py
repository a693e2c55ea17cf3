# SPDX-License-Identifier: Apache-2.0
"""Correct: a jitted training step in JAX, whose runtime uses several streams of its own and command buffers (graphs)."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


@jax.jit
def step(w, x, y):
    return w - 0.1 * jax.grad(loss)(w, x, y)


key = jax.random.PRNGKey(0)
w = jax.random.normal(key, (256, 256))
x = jax.random.normal(key, (128, 256))
y = jnp.zeros((128, 256))
for _ in range(10):
    w = step(w, x, y)
print("finite", bool(jnp.isfinite(w).all()), jax.devices()[0].platform)
