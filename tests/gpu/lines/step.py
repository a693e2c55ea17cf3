# SPDX-License-Identifier: Apache-2.0
"""Training steps of a GPT-like model: prints the median of a step in ms.  With LOOP_LIBRARY, recorded, steps with and
without Python lines alternate, four a round: prints the median of both, and by how many per cent the fastest quarter of
the steps is slower with lines, with the interval that holds it with 95%.

usage: step.py STEPS, or ROUNDS LOOP_LIBRARY
"""
import ctypes
import random
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


def cost(on, off):
    """Per cent that the undisturbed steps of one are above those of the other: others only ever make a step longer."""
    low_on, low_off = (statistics.mean(sorted(times)[:len(times) // 4]) for times in (on, off))
    return 100 * (low_on - low_off) / low_off


times = {True: [], False: []}
for n in range(int(sys.argv[1])):
    for on in (True, False, False, True) if n % 2 else (False, True, True, False):  # a drift of the machine cancels out
        assert library.lines(on)
        times[on].append(milliseconds())
library.lines(True)
step()
pairs = list(zip(times[True], times[False]))
again = sorted(cost(*zip(*(random.choice(pairs) for _ in pairs))) for _ in range(1000))  # bootstrap: pairs stay together
print("paired %.3f %.3f %.2f %.2f %.2f" % (statistics.median(times[False]), statistics.median(times[True]),
                                           cost(times[True], times[False]), again[25], again[975]))
