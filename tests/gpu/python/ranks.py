# SPDX-License-Identifier: Apache-2.0
"""Correct: two ranks on two GPUs.

usage: ranks.py fsdp|tensor|pipeline      ends with status 77 with fewer GPUs
"""
import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda()


def train(net, rounds=5):
    optimiser = torch.optim.AdamW(net.parameters())
    for _ in range(rounds):
        loss = net(torch.randn(64, 256, device="cuda")).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print("loss is finite", bool(torch.isfinite(loss)))


def fsdp(_):
    from torch.distributed.fsdp import fully_shard
    net = torch.nn.Sequential(*(model() for _ in range(3)))
    for layer in net:
        fully_shard(layer)
    train(fully_shard(net))


def tensor(_):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cuda", (2,))
    train(parallelize_module(model(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()}))


def pipeline(rank):
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
    stage = PipelineStage(model(), rank, 2, torch.device("cuda", rank))
    schedule = ScheduleGPipe(stage, 4, loss_fn=torch.nn.functional.mse_loss)
    for _ in range(3):
        x = torch.randn(64, 256, device="cuda")
        schedule.step(x) if rank == 0 else schedule.step(target=x)
    print("done")


def work(rank, kind, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    {"fsdp": fsdp, "tensor": tensor, "pipeline": pipeline}[kind](rank)
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    if torch.cuda.device_count() < 2:
        sys.exit(77)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    mp.spawn(work, args=(sys.argv[1], number), nprocs=2)
