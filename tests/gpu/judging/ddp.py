# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training on two GPUs, a process each: gradients in buckets by NCCL's own stream.  Exit status 77 with fewer GPUs."""
import os
import subprocess
import sys

import torch
from torch import nn

from common import device, iterations, loop


def train(rank):
    cpu = device() == "cpu"
    where = torch.device("cpu") if cpu else torch.device("cuda", rank)
    if not cpu:
        torch.cuda.set_device(where)
    torch.distributed.init_process_group("gloo" if cpu else "nccl", rank=rank, world_size=2)
    layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.1, batch_first=True)
    model = nn.Sequential(nn.Embedding(4000, 256), nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Linear(256, 4000))
    model = nn.parallel.DistributedDataParallel(model.to(where), device_ids=None if cpu else [rank], bucket_cap_mb=4)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)
    with loop():
        for _ in range(iterations(60)):
            tokens = torch.randint(0, 4000, (16, 64), device=where)
            loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
        print("finite", bool(torch.isfinite(loss)))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    if torch.cuda.device_count() < 2 and "--cpu" not in sys.argv:
        sys.exit(77)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29531")
    if "SECOND" in os.environ:
        train(1)
    else:
        second = subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "SECOND": "1"})
        train(0)
        sys.exit(second.wait())
