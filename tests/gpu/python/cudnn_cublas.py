# SPDX-License-Identifier: Apache-2.0
"""For the completeness test: convolutions (cuDNN), matrix products (cuBLAS), copies of all kinds, a graph replay."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(16, 8, 32, 32, device="cuda")
w = torch.randn(16, 8, 3, 3, device="cuda")
for _ in range(3):
    y = F.conv2d(x, w, padding=1)
    z = y.flatten(1) @ y.flatten(1).t()
    z = (z.half() @ z.half()).float()
pinned = torch.empty_like(z, device="cpu").pin_memory()
pinned.copy_(z, non_blocking=True)
torch.cuda.current_stream().synchronize()
pageable = z.cpu()
back = pageable.cuda()
back.zero_()
event = torch.cuda.Event()
event.record()
event.synchronize()
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    back.add_(1)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    q = (x * 2).sum()
for _ in range(4):
    graph.replay()
torch.cuda.synchronize()
print("q", float(q))
