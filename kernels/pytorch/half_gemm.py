# SPDX-License-Identifier: Apache-2.0
"""A product of half precision, whose kernel finds its matrices by tensor maps, on one stream; another stream does not wait.

usage: half_gemm.py mm|linear|bmm|scaled used|refilled [--fixed]

used: the other stream reads the product; refilled: it writes a factor anew.
Fix: it waits for the product.
"""
from case import fixed
import sys
import torch

kind, mistake = sys.argv[1:3]
N = 2048
side, main = torch.cuda.Stream(), torch.cuda.current_stream()
x, w = (torch.randn(N, N, device="cuda", dtype=torch.bfloat16) / 64 for _ in range(2))
if kind == "bmm":
    x, w = x.view(4, N // 4, N), torch.randn(4, N, N // 4, device="cuda", dtype=torch.bfloat16)
if kind == "scaled":
    x, w = x.to(torch.float8_e4m3fn), w.to(torch.float8_e4m3fn)
factor = w.view(torch.uint8)
one = torch.ones((), device="cuda")


def product():
    if kind == "linear":
        return torch.nn.functional.linear(x, w)
    if kind == "scaled":
        return torch._scaled_mm(x, w.t(), one, one, out_dtype=torch.bfloat16)
    return torch.bmm(x, w) if kind == "bmm" else torch.mm(x, w)


y = product() * 2  # loads the kernels
factor.fill_(0)
torch.cuda.synchronize()

side.wait_stream(main)
with torch.cuda.stream(side):
    z = product()
if fixed:
    main.wait_stream(side)
if mistake == "used":
    y = z * 2
else:
    factor.fill_(1)
torch.cuda.synchronize()
print("product", float(z.flatten()[0]), float(y.flatten()[0]))
