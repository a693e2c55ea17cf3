# SPDX-License-Identifier: Apache-2.0
"""Training steps of a GPT-like model: prints the median of a step in ms.  With LOOP_LIBRARY, recorded, steps with and
without Python lines alternate: prints the median of both, and of the differences between neighbours in per cent of a
step with the interval that holds it with 95%.

usage: step.py STEPS [LOOP_LIBRARY]
"""
import ctypes
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


def milliseconds():
    begun = time.perf_counter_ns()
    step()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - begun) / 1e6


for _ in range(15):
    milliseconds()
if len(sys.argv) < 3:
    print("bare %.3f" % statistics.median(milliseconds() for _ in range(int(sys.argv[1]))))
    sys.exit()
library = ctypes.PyDLL(sys.argv[2])
times = {True: [], False: []}
for n in range(int(sys.argv[1])):
    for on in (True, False) if n % 2 else (False, True):  # what comes second is not always the same
        assert library.lines(on)
        times[on].append(milliseconds())
library.lines(True)
step()
off = statistics.median(times[False])
differences = sorted(100 * (a - b) / off for a, b in zip(times[True], times[False]))
middle, half = len(differences) // 2, int(0.98 * len(differences) ** 0.5) + 1  # of the median: ranks n/2 -+ 1.96 sqrt(n)/2
print("paired %.3f %.3f %.2f %.2f %.2f" % (off, statistics.median(times[True]), differences[middle],
                                           differences[max(middle - half, 0)], differences[min(middle + half, len(differences) - 1)]))
