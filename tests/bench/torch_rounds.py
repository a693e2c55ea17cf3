# SPDX-License-Identifier: Apache-2.0
"""A program of PyTorch that says how long its first use of everything took, and how long each later round.

usage: torch_rounds.py inference|training|graphed|import [ROUNDS]
  inference  four threads, each on a stream of its own, pass a small transformer with a convolution in front (half precision)
  training   steps of a small GPT: embedding, attention, AdamW
  graphed    steps of training whose blocks are graphed callables; the first one captures them
  import     one call of CUDA after the import
STARTED in the environment: time.monotonic() before the program was started.  SIMULATED: without what needs cuBLAS or cuDNN.
Prints one line of JSON: start_ms (until PyTorch and the device can be used), rounds_ms.
"""
import json
import os
import sys
import threading
import time

BEGUN = float(os.environ.get("STARTED") or time.monotonic())
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

SIMULATED = bool(os.environ.get("SIMULATED"))
THREADS = 4


class Linear(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(outputs, inputs) * 0.02)
        self.bias = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        if SIMULATED:
            return (x.unsqueeze(-2) * self.weight).sum(-1) + self.bias
        return F.linear(x, self.weight, self.bias)


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = Linear(width, 3 * width), Linear(width, width)
        self.up, self.down = Linear(width, 4 * width), Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in self.qkv(x).split(width, 2))
        if SIMULATED:
            scores = torch.softmax((q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1), -1)
            mixed = (scores.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2)
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.before(x))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Model(torch.nn.Module):
    def __init__(self, words, width, heads, blocks, length):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(words, width), torch.nn.Embedding(length, width)
        self.stem = None if SIMULATED else torch.nn.Conv1d(width, width, 3, padding=1)
        self.blocks = torch.nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.last, self.head = torch.nn.LayerNorm(width), Linear(width, words)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        if self.stem:
            x = self.stem(x.transpose(1, 2)).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


def timed(function):
    begin = time.perf_counter()
    function()
    return (time.perf_counter() - begin) * 1e3


def inference(rounds):
    size = (50, 64, 4, 2, 16) if SIMULATED else (1000, 512, 8, 6, 128)
    model = Model(*size).cuda().eval()
    if not SIMULATED:
        model = model.half()
    batches = [torch.randint(0, size[0], (1 + i, size[4])).cuda() for i in range(THREADS)]
    gate = threading.Barrier(THREADS + 1)

    def work(ids):
        stream = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(stream):
            for _ in range(rounds):
                gate.wait()
                for length in (size[4], size[4] // 2, size[4] // 4):
                    probabilities = torch.softmax(model(ids[:, :length]).float(), -1)
                    chosen = probabilities.argmax(-1)
                    (probabilities.clamp(0, 1).log1p().mean() + chosen.double().var()).item()
                gate.wait()

    threads = [threading.Thread(target=work, args=(ids,)) for ids in batches]
    for thread in threads:
        thread.start()

    def one_round():
        gate.wait()
        gate.wait()

    times = [timed(one_round) for _ in range(rounds)]
    for thread in threads:
        thread.join()
    return times


def training(rounds):
    size = (50, 32, 2, 2, 8) if SIMULATED else (2000, 384, 6, 6, 128)
    model = Model(*size).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids = torch.randint(0, size[0], (4, size[4])).cuda()

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(ids).view(-1, size[0]), ids.view(-1))
        loss.backward()
        optimiser.step()
        loss.item()

    return [timed(step) for _ in range(rounds)]


def graphed(rounds):
    width, heads, blocks, batch, length = (32, 2, 1, 2, 8) if SIMULATED else (384, 6, 4, 8, 128)
    x = torch.randn(batch, length, width).cuda()
    model = torch.nn.Sequential(*(Block(width, heads) for _ in range(blocks))).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    callables = []

    def step():
        if not callables:
            callables.append(torch.cuda.make_graphed_callables(model, (x,)))
        optimiser.zero_grad(set_to_none=True)
        loss = callables[0](x).square().mean()
        loss.backward()
        optimiser.step()
        loss.item()

    return [timed(step) for _ in range(rounds)]


def main():
    torch.manual_seed(0)
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    started = (time.monotonic() - BEGUN) * 1e3
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    work = {"inference": inference, "training": training, "graphed": graphed, "import": lambda _: []}[sys.argv[1]]
    print(json.dumps({"start_ms": started, "rounds_ms": work(rounds)}), flush=True)
    print(json.dumps({"left": time.time()}), flush=True)


main()
