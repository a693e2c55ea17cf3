# SPDX-License-Identifier: Apache-2.0
"""CuPy: generated elementwise kernels, reductions, products, transforms, sorting, a kernel of one's own, two streams, changing sizes."""
import cupy

from common import iterations, loop

rounds = iterations(250)
scale = cupy.RawKernel(r"""
extern "C" __global__ void scale(const float *x, float *y, int n, float a)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] = a * x[i];
}
""", "scale")
soft = cupy.ElementwiseKernel("T x, T t", "T y", "y = x > t ? x - t : x < -t ? x + t : 0", "soft")
main, side = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
with main:
    random = cupy.random.default_rng(0)
total = 0.0
with loop():
    for i in range(rounds):
        n = 4096 + 997 * (i % 23)
        with main:
            x = random.standard_normal(n, dtype=cupy.float32)
            y = cupy.empty_like(x)
            scale((32,), (128,), (x, y, cupy.int32(n), cupy.float32(0.5)))
            z = soft(y, cupy.float32(0.1)) + cupy.sqrt(cupy.abs(x)) * 2
            a = z[: 64 * 60].reshape(64, 60)
            product = a @ a.T
            order = cupy.argsort(z)
            largest = z[order[-10:]].sum() + cupy.cumsum(z)[-1]
            spectrum = cupy.abs(cupy.fft.rfft(z)).max()
            ready = main.record()
        side.wait_event(ready)
        with side:
            counts = cupy.bincount((cupy.abs(x) * 10).astype(cupy.int32), minlength=64)
            chosen = cupy.where(product > 0, product, -product).mean(axis=0)
            done = side.record()
        main.wait_event(done)
        with main:
            result = chosen.sum() + largest + spectrum + counts.max()
            if i % 25 == 24:
                total += float(result)
    main.synchronize()
    print("finite", total == total)
