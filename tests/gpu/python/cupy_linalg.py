# SPDX-License-Identifier: Apache-2.0
"""Correct: CuPy's transforms, sorting and linear algebra (cuFFT, CUB, cuSOLVER, cuBLAS, cuSPARSE), on two streams that are ordered."""
import cupy
import cupyx.scipy.sparse

cupy.random.seed(0)
side = cupy.cuda.Stream(non_blocking=True)
for n in (64, 200, 64):
    a = cupy.random.standard_normal((n, n))
    spectrum = cupy.fft.ifft2(cupy.fft.fft2(a)).real
    order = cupy.argsort(a.ravel())
    u, s, v = cupy.linalg.svd(a)
    w = cupy.linalg.eigvalsh(a @ a.T)
    x = cupy.linalg.solve(a + n * cupy.eye(n), cupy.ones(n))
    sparse = cupyx.scipy.sparse.csr_matrix(cupy.where(a > 1, a, 0))
    side.wait_event(cupy.cuda.get_current_stream().record())
    with side:
        y = sparse @ cupy.ones(n)
        z = cupy.unique(order)
        done = side.record()
    cupy.cuda.get_current_stream().wait_event(done)
    print(n, bool(cupy.isfinite(u.sum() + s.sum() + v.sum() + w.sum() + x.sum() + y.sum() + spectrum.sum() + z.sum())))
