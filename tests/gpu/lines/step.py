# SPDX-License-Identifier: Apache-2.0
"""Training steps of a GPT-like model: prints the median and the 10th percentile of a step in ms.

usage: step.py STEPS
"""
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
WORDS, WIDTH, LENGTH, LAYERS = 1000, 256, 128, 6


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.1, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        return self.head(self.body(self.word(tokens)))


model = Model().cuda()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False, fused=False)
x, y = (torch.randint(0, WORDS, (8, LENGTH), device="cuda") for _ in range(2))


def step():
    optimiser.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()  # passes back
    optimiser.step()


for _ in range(15):
    step()
torch.cuda.synchronize()
times = []
for _ in range(int(sys.argv[1])):
    begun = time.perf_counter_ns()
    step()
    torch.cuda.synchronize()
    times.append((time.perf_counter_ns() - begun) / 1e6)
times.sort()
print("%.4f %.4f" % (statistics.median(times), times[len(times) // 10]))
