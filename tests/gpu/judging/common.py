# SPDX-License-Identifier: Apache-2.0
"""What the programs share: --length (a factor of the iterations), the device, and how long the loop took."""
import argparse
import contextlib
import os
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def iterations(count):
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=float, default=1.0)
    return max(2, round(count * parser.parse_known_args()[0].length))


def device():
    """The CPU only to try the programs where there is no GPU."""
    import torch

    torch.manual_seed(0)
    return "cuda" if torch.cuda.is_available() else "cpu"


@contextlib.contextmanager
def loop():
    begun = time.perf_counter()
    yield
    print(f"loop_s {time.perf_counter() - begun:.3f}", flush=True)
