# SPDX-License-Identifier: Apache-2.0
"""A convolutional classifier in JAX: a jitted step with Adam, batches from the host, the runtime's own streams and graphs."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import numpy

from common import iterations, loop

steps = iterations(300)


def forward(w, x):
    for kernel in w[:3]:
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    x = x.reshape(x.shape[0], -1)
    return jax.nn.relu(x @ w[3]) @ w[4]


def loss(w, x, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(forward(w, x)), y[:, None], 1))


@jax.jit
def step(w, m, v, i, x, y):
    value, g = jax.value_and_grad(loss)(w, x, y)
    m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
    v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
    w = [a - 1e-3 * (b / (1 - 0.9**i)) / (jnp.sqrt(c / (1 - 0.999**i)) + 1e-8) for a, b, c in zip(w, m, v)]
    return w, m, v, value


random = numpy.random.default_rng(0)
shapes = [(3, 3, 3, 32), (3, 3, 32, 64), (3, 3, 64, 128), (4 * 4 * 128, 256), (256, 10)]
w = [jnp.asarray(random.standard_normal(s) * 0.05, jnp.float32) for s in shapes]
m, v = [jnp.zeros_like(a) for a in w], [jnp.zeros_like(a) for a in w]
data = random.standard_normal((16, 64, 32, 32, 3)).astype(numpy.float32)
labels = random.integers(0, 10, (16, 64))
with loop():
    for i in range(steps):
        w, m, v, value = step(w, m, v, float(i + 1), data[i % 16], labels[i % 16])
        if i % 50 == 49:
            print("loss", float(value))
    print("finite", bool(jnp.isfinite(value)), jax.devices()[0].platform)
