# SPDX-License-Identifier: Apache-2.0
"""A tensor that goes through a queue of torch.multiprocessing is filled again while the other process may still read it.

The queue orders the receiver's work after the sender's (by an event that both processes know), and nothing orders what
the sender does later.  Fix: the receiver waits for its work before it says that it has read.

Ends with status 77 where PyTorch or a GPU is missing.
"""
import sys

try:
    import torch
    import torch.multiprocessing as mp
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

N = 1 << 24


def receive(tensors, answers, fixed):
    x = tensors.get()
    y = torch.empty_like(x)
    torch.mul(x, 2, out=y)
    if fixed:
        torch.cuda.synchronize()
    answers.put("read")
    tensors.get()
    torch.cuda.synchronize()
    print("y", float(y[0]), float(y[-1]))
    del x
    answers.put("done")


def main():
    fixed = "--fixed" in sys.argv
    if not torch.cuda.is_available():
        print("skipped: no GPU")
        sys.exit(77)
    context = mp.get_context("spawn")
    tensors, answers = context.Queue(), context.Queue()
    child = context.Process(target=receive, args=(tensors, answers, fixed))
    child.start()
    x = torch.ones(N, device="cuda")
    tensors.put(x)
    answers.get()
    x.fill_(3)
    tensors.put("go on")
    answers.get()
    torch.cuda.synchronize()
    child.join()
    sys.exit(child.exitcode)


if __name__ == "__main__":
    main()
