# SPDX-License-Identifier: Apache-2.0
"""Blocks of PyTorch, CuPy, Triton and C++ with one hidden wait, allocation, pin, load or pageable copy, and right twins.

usage: blocks.py blocks      each under syncwatch.forbid (start it under the recorder)
       blocks.py debug_mode  each under torch.cuda.set_sync_debug_mode("error"), without the recorder
       blocks.py generate    a decode loop of a small model, made clean step by step
       blocks.py cost        what a block costs on a decode loop

A line each: name, kinds, what the wrong one and the right one gave; the line that was named must hold "# WRONG".
"""
import linecache
import os
import sys
import threading
import time
import warnings

import torch

MODE = sys.argv[1]
if MODE != "debug_mode":
    import syncwatch

device = torch.device("cuda")
torch.manual_seed(0)
a = torch.randn(512, 512, device=device)
mask = a > 1
counts = torch.randint(0, 3, (64,), device=device)
host = torch.randn(512, 512)
pinned = host.pin_memory()
back = torch.empty(512, 512, pin_memory=True)
event = torch.cuda.Event()
sizes = iter(range(1 << 20, 1 << 30, 1 << 20))


def big():
    """A size that the caching allocator has no block of."""
    return torch.empty(next(sizes) * 64, dtype=torch.uint8, device=device)


def compiled(wrong):
    def step(x):
        y = torch.relu(x) * 2
        if wrong:
            return y * y.sum().item()  # WRONG
        return y * y.sum()
    return step


def load_kernel(name):
    import cupy
    return cupy.RawKernel(f'extern "C" __global__ void {name}(float *p) {{ p[threadIdx.x] = 1; }}', name)


CASES = []


def case(*kinds):
    def add(make):
        CASES.append((make.__name__, kinds, make))
        return make
    return add


@case("wait")
def item(wrong):
    return (lambda: a.sum().item()) if wrong else (lambda: a.sum())  # WRONG


@case("wait")
def if_tensor(wrong):
    def step():
        if not wrong:
            return torch.where(a.sum() > 0, a, -a)
        if a.sum() > 0:  # WRONG
            return a
    return step


@case("wait")
def nonzero(wrong):
    return (lambda: torch.nonzero(mask)) if wrong else (lambda: mask.cumsum(0))  # WRONG


@case("wait")
def boolean_mask(wrong):
    return (lambda: a[mask]) if wrong else (lambda: torch.where(mask, a, 0))  # WRONG


@case("wait")
def repeat_interleave(wrong):
    def step():
        if wrong:
            return torch.repeat_interleave(a[:64, 0], counts)  # WRONG
        return torch.repeat_interleave(a[:64, 0], counts, output_size=192)
    total = int(counts.sum())
    if not wrong:
        return lambda: torch.repeat_interleave(a[:64, 0], counts, output_size=total)
    return step


@case("wait")
def to_cpu(wrong):
    return (lambda: a.cpu()) if wrong else (lambda: back.copy_(a, non_blocking=True))  # WRONG


@case("wait")
def print_tensor(wrong):
    return (lambda: str(a[0, :3])) if wrong else (lambda: str(a.shape))  # WRONG


@case("wait")
def synchronize(wrong):
    return (lambda: torch.cuda.synchronize()) if wrong else (lambda: event.record())  # WRONG


@case("wait")
def event_synchronize(wrong):
    event.record()
    return (lambda: event.synchronize()) if wrong else (lambda: torch.cuda.current_stream().wait_event(event))  # WRONG


@case("wait")
def compiled_step(wrong):
    step = torch.compile(compiled(wrong))
    with torch.no_grad():
        step(a)
        step(a)
    return lambda: step(a)


@case("pageable")
def tensor_of_list(wrong):
    def step():
        if wrong:
            return torch.tensor([1.0, 2.0, 3.0], device=device)  # WRONG
        return torch.full((3,), 2.0, device=device)
    return step


@case("pageable")
def upload(wrong):
    source = host if wrong else pinned
    return lambda: a.copy_(source, non_blocking=True)  # WRONG


@case("pageable")
def download(wrong):
    target = torch.empty(512, 512) if wrong else back
    return lambda: target.copy_(a, non_blocking=True)  # WRONG


@case("alloc")
def new_size(wrong):
    kept = big()
    return (lambda: big()) if wrong else (lambda: kept.zero_())  # WRONG


@case("free")
def empty_cache(wrong):
    big()
    return (lambda: torch.cuda.empty_cache()) if wrong else (lambda: big and None)  # WRONG


@case("pin")
def pin_memory(wrong):
    more = torch.empty((next(sizes) >> 10) + 4321)
    return (lambda: more.pin_memory()) if wrong else (lambda: pinned.fill_(1))  # WRONG


@case("load")
def first_use(wrong):
    import cupy
    first = load_kernel(f"first_{wrong}")
    p = cupy.zeros(32, dtype=cupy.float32)
    if not wrong:
        first((1,), (32,), (p,))
    return lambda: first((1,), (32,), (p,))  # WRONG


@case("wait")
def cupy_get(wrong):
    import cupy
    x = cupy.arange(1000)
    return (lambda: x.get()) if wrong else (lambda: x + 1)  # WRONG


@case("wait")
def triton_then_item(wrong):
    import triton_kernel
    out = torch.zeros(1024, device=device)
    triton_kernel.add_one(out)

    def step():
        triton_kernel.add_one(out)
        if wrong:
            return out[0].item()  # WRONG
    return step


@case("wait")
def custom_operator(wrong):
    import ctypes
    name = "wrong_step" if wrong else "right_step"
    function = getattr(ctypes.CDLL(os.environ["CUSTOM"]), name)
    p = ctypes.c_void_p(a.data_ptr())
    function(p)
    return lambda: function(p)  # WRONG


@case("wait")
def beside_another_thread(wrong):
    """A second thread waits all the time, and may."""
    stop = threading.Event()

    def elsewhere():
        torch.cuda.set_device(0)
        while not stop.is_set():
            torch.cuda.synchronize()

    def step():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        try:
            b = a @ a
            if wrong:
                b.sum().item()  # WRONG
        finally:
            stop.set()
            thread.join()
    return step


def under_forbid(kinds, step):
    """"silent", or where it was found."""
    try:
        with syncwatch.forbid(*kinds, strict=True):
            step()
    except syncwatch.ForbiddenCall as error:
        for call in error.calls:
            for frame in call.stack:
                if "# WRONG" in linecache.getline(frame.filename, frame.lineno):
                    return f"found at the line ({call.api})"
        return f"found elsewhere: {error}"
    return "silent"


def under_debug_mode(_, step):
    torch.cuda.set_sync_debug_mode("error")
    try:
        step()
    except RuntimeError:
        return "found"
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return "silent"


def all_cases():
    check = under_debug_mode if MODE == "debug_mode" else under_forbid
    passed = failed = skipped = 0
    for name, kinds, make in CASES:
        results = []
        for wrong in (True, False):
            try:
                step = make(wrong)
                torch.cuda.synchronize()
                results.append(check(kinds, step))
                torch.cuda.synchronize()
            except (ImportError, KeyError, OSError) as error:
                results.append(f"SKIP: {error}")
        print(f"{name}\t{','.join(kinds)}\t{results[0]}\t{results[1]}", flush=True)
        if any(result.startswith("SKIP") for result in results):
            skipped += 1
        elif results[0].startswith("found at") and results[1] == "silent":
            passed += 1
        else:
            failed += 1
    if MODE == "blocks":
        print(f"{passed} passed, {failed} failed, {skipped} skipped")


class Decoder(torch.nn.Module):
    def __init__(self, width=256, words=1000):
        super().__init__()
        self.words, self.layers = torch.nn.Embedding(words, width), torch.nn.GRU(width, width, 2)
        self.out = torch.nn.Linear(width, words)

    def forward(self, token, state):
        hidden, state = self.layers(self.words(token).unsqueeze(0), state)
        return self.out(hidden[0]), state


def decode(model, steps, wrong, block):
    token, state = torch.zeros(1, dtype=torch.long, device=device), torch.zeros(2, 1, 256, device=device)
    tokens = torch.empty(steps, dtype=torch.long, device=device)
    words = []
    for i in range(steps):
        with block(i):
            logits, state = model(token, state)
            token = logits.argmax(1)
            if wrong == "item":
                words.append(token.item())  # WRONG
            elif wrong == "tensor":
                token = token + torch.tensor([0], device=device)  # WRONG
            tokens[i:i + 1].copy_(token)
    return tokens


@torch.no_grad()
def generate():
    import contextlib
    model = Decoder().to(device)
    for wrong in ("item", "tensor", ""):
        def block(i):
            return syncwatch.forbid("wait", "pageable", "alloc", "load") if i > 2 else contextlib.nullcontext()
        try:
            decode(model, 10, wrong, block)
            print(f"generate\t{wrong or 'clean'}\tsilent")
        except syncwatch.ForbiddenCall as error:
            print(f"generate\t{wrong}\t{str(error).splitlines()[1]}")
            print("\n".join("    " + line for line in str(error).splitlines()))


@torch.no_grad()
def cost():
    import contextlib
    model = Decoder().to(device)
    rounds = {"plain": [], "forbid": []}
    for turn in range(14):
        for how in rounds:
            def block(_, how=how):
                return syncwatch.forbid("any") if how == "forbid" else contextlib.nullcontext()
            torch.cuda.synchronize()
            begun = time.perf_counter()
            decode(model, 200, "", block)
            torch.cuda.synchronize()
            if turn > 3:
                rounds[how].append(time.perf_counter() - begun)
    least = {how: min(times) for how, times in rounds.items()}
    print(f"cost\tplain {least['plain'] * 1e6 / 200:.2f} us a token\tforbid {least['forbid'] * 1e6 / 200:.2f} us\t"
          f"{least['forbid'] / least['plain']:.3f}x")


warnings.simplefilter("ignore")
{"blocks": all_cases, "debug_mode": all_cases, "generate": generate, "cost": cost}[MODE]()
