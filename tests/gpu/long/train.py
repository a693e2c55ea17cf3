# SPDX-License-Identifier: Apache-2.0
"""A training loop with batches that a side stream uploads, for SECONDS; at STEP one upload is not waited for.

usage: train.py SECONDS [STEP [END]]
  STEP  the step with the race (0: none); its time is printed as "race SECONDS_SINCE_EPOCH"
  END   how it ends: exit (default), segv, kill, cuda-error, exception, status

Prints "steps N step_ms MEDIAN" before it ends.
"""
import ctypes
import os
import signal
import statistics
import sys
import time

import torch

seconds, race_at = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
end = sys.argv[3] if len(sys.argv) > 3 else "exit"
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(6) for m in (torch.nn.Linear(512, 512), torch.nn.ReLU())]).cuda()
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False, fused=False)
copies = torch.cuda.Stream()
host = [torch.randn(256, 512).pin_memory() for _ in range(2)]
batch = [torch.empty(256, 512, device="cuda") for _ in range(2)]
uploaded = [torch.cuda.Event() for _ in range(2)]
used = [torch.cuda.Event() for _ in range(2)]
target = torch.randn(256, 512, device="cuda")


def upload(slot):
    with torch.cuda.stream(copies):
        copies.wait_event(used[slot])
        batch[slot].copy_(host[slot], non_blocking=True)
        uploaded[slot].record()


def train(slot, wait):
    if wait:
        torch.cuda.current_stream().wait_event(uploaded[slot])
    optimiser.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(model(batch[slot]), target)
    loss.backward()  # reads the batch as well
    used[slot].record()
    optimiser.step()
    return loss


begin, step, times = time.monotonic(), 0, []
upload(0)
while time.monotonic() - begin < seconds:
    step += 1
    t = time.monotonic()
    upload(step % 2)
    racy = step == race_at
    loss = train((step - 1) % 2, not racy)
    if racy:
        print(f"race {time.time():.3f}", flush=True)
    if step % 50 == 0:
        loss.item()
    times.append(time.monotonic() - t)
    if len(times) > 100000:
        del times[::2]
torch.cuda.synchronize()
print(f"steps {step} step_ms {statistics.median(times) * 1e3:.4f}", flush=True)
if end == "segv":
    os.kill(os.getpid(), signal.SIGSEGV)
elif end == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif end == "cuda-error":
    driver = ctypes.CDLL("libcuda.so.1")
    print("status", driver.cuMemsetD8_v2(ctypes.c_uint64(16), 0, ctypes.c_size_t(1 << 20)), flush=True)
elif end == "exception":
    raise RuntimeError("the loss is not a number")
elif end == "status":
    sys.exit(3)
