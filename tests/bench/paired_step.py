# SPDX-License-Identifier: Apache-2.0
"""What recording adds to a training step of PyTorch, by pairs in one process: run it with the recorder preloaded.

Blocks of steps alternate between the recorder's wrappers and the driver's own functions.  CUDA runtimes keep the pointers that
they asked for in writable data; each that leads to a wrapper is exchanged for the function of that name in libcuda and back.

usage: paired_step.py [PAIRS [STEPS_A_BLOCK]]       PAIRED_BODY: a Python file that defines step() and wait()
"""
import ctypes
import os
import re
import statistics
import struct
import sys
import time

BODY = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(6) for m in (torch.nn.Linear(512, 512), torch.nn.ReLU())]).cuda()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False, fused=False)
x = torch.randn(64, 512, device="cuda")
y = torch.randn(64, 512, device="cuda")
wait = torch.cuda.synchronize
def step():
    optimiser.zero_grad(set_to_none=True)
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimiser.step()
"""


def mappings():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            fields = line.split(maxsplit=5)
            low, high = (int(word, 16) for word in fields[0].split("-"))
            yield low, high, fields[1], int(fields[2], 16), fields[5].strip() if len(fields) > 5 else ""


def functions(path):
    """name -> value of the functions that an object exports."""
    with open(path, "rb") as file:
        elf = file.read()
    offset, = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * size) for i in range(count)]
    found = {}
    for section in sections:
        if section[1] != 11:  # SHT_DYNSYM
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
            if index and info & 15 == 2:
                found[elf[names + name:elf.index(b"\0", names + name)].decode()] = value
    return found


def loaded(name):
    """(base, path) of the object whose file name begins so."""
    for low, _, _, offset, path in mappings():
        if os.path.basename(path).startswith(name) and offset == 0:
            return low, os.path.realpath(path)
    sys.exit(f"{name} is not loaded")


def slots():
    """(address, wrapper, the driver's function) of each pointer to a wrapper in the writable data of loaded objects."""
    ours, own = loaded("libsyncwatch.so")
    theirs, driver = loaded("libcuda.so")
    wrappers, real = functions(own), functions(driver)
    exchange = {ours + value: theirs + real[name] for name, value in wrappers.items() if name in real}
    prefixes = {struct.pack("<Q", address)[3:] for address in exchange}
    pattern = re.compile(b"|".join(re.escape(prefix) for prefix in prefixes))
    result, file, end = [], "", 0
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for low, high, rights, _, path in mappings():
            file = path or (file if low == end else "")  # what is not initialised follows the file's own pages
            end = high
            if not rights.startswith("rw-p") or not file.startswith("/") or "libsyncwatch" in file or "libcuda.so" in file:
                continue
            try:
                memory.seek(low)
                content = memory.read(high - low)
            except OSError:
                continue
            for hit in pattern.finditer(content):
                at = hit.start() - 3
                if at >= 0 and at % 8 == 0:
                    word, = struct.unpack_from("<Q", content, at)
                    if word in exchange:
                        result.append((low + at, word, exchange[word]))
    return result


class Trace:
    """Bytes of records that the trace has so far."""

    def __init__(self):
        found = re.search(r"(?:^|:)trace=([^:]*)", os.environ.get("SYNCWATCH_OPTIONS", ""))
        self.file = open(found.group(1), "rb", buffering=0) if found else None

    def bytes(self):
        if not self.file:
            return 0
        header = os.pread(self.file.fileno(), 4096, 0)
        chunk, = struct.unpack_from("<I", header, 20)
        count, = struct.unpack_from("<Q", header, 88)
        return sum(struct.unpack("<I", os.pread(self.file.fileno(), 4, 4096 + i * chunk + 12))[0] for i in range(count))


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    names = {}
    body = os.environ.get("PAIRED_BODY")
    exec(open(body, encoding="utf-8").read() if body else BODY, names)
    step, wait = names["step"], names["wait"]
    for _ in range(30):
        step()
    wait()
    found, trace = slots(), Trace()
    if not found:
        sys.exit("no pointer to a wrapper found: nothing is recorded")

    # Some of these words lie in memory that is something else by now: only what still is such a pointer is exchanged.
    words = [(ctypes.c_uint64.from_address(address), wrapper, real) for address, wrapper, real in found]

    def block(recorded):
        for word, wrapper, real in words:
            if word.value == (real if recorded else wrapper):
                word.value = wrapper if recorded else real
        step()
        wait()
        start = time.perf_counter_ns()
        for _ in range(steps):
            step()
        wait()
        return (time.perf_counter_ns() - start) / steps

    times, ratios, grown = ([], []), [], [0, 0]
    for i in range(pairs + 5):
        pair = [0, 0]
        for k in range(2):
            recorded = (i + k) & 1
            before = trace.bytes() if i in (3, 4) else 0
            pair[recorded] = block(recorded)
            if i in (3, 4):
                grown[recorded] += trace.bytes() - before
        if i >= 5:
            ratios.append(pair[1] / pair[0])
            for side in range(2):
                times[side].append(pair[side])
    quarters = statistics.quantiles(ratios, n=4)
    print(f"# {len(found)} pointers exchanged; bytes recorded a step: {grown[1] / 2 / (steps + 1):.0f} on, {grown[0] / 2 / (steps + 1):.0f} off")
    print("# step\tbare us\trecorded us\tratio: median of pairs\t25 %\t75 %\tratio of medians\tof minima")
    print(f"step\t{statistics.median(times[0]) / 1e3:.1f}\t{statistics.median(times[1]) / 1e3:.1f}\t{quarters[1]:.4f}\t{quarters[0]:.4f}\t"
          f"{quarters[2]:.4f}\t{statistics.median(times[1]) / statistics.median(times[0]):.4f}\t{min(times[1]) / min(times[0]):.4f}")


main()
