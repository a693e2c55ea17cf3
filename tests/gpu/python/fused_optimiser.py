# SPDX-License-Identifier: Apache-2.0
"""Correct: fused Adam and foreach SGD, each for its own half of the model and on its own stream, joined before the next step."""
import torch
import torch.nn as nn

torch.manual_seed(0)
first = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512)).cuda()
second = nn.Sequential(nn.Linear(512, 256), nn.Tanh(), nn.Linear(256, 1)).cuda()
parts = [(torch.optim.Adam(first.parameters(), lr=1e-3, fused=True), torch.cuda.Stream()),
         (torch.optim.SGD(second.parameters(), lr=1e-2, momentum=0.9, foreach=True), torch.cuda.Stream())]
x = torch.randn(128, 256, device="cuda")
main = torch.cuda.current_stream()
for _ in range(5):
    for optimiser, _ in parts:
        optimiser.zero_grad(set_to_none=False)
    loss = second(first(x)).square().mean()
    loss.backward()
    for optimiser, stream in parts:
        stream.wait_stream(main)
        with torch.cuda.stream(stream):
            optimiser.step()
    for _, stream in parts:
        main.wait_stream(stream)
print("loss is finite", bool(torch.isfinite(loss)))
