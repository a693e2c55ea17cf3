# SPDX-License-Identifier: Apache-2.0
"""What the scripts share.  Each holds one mistake; with --fixed, the same without it.

A script ends with status 77 where PyTorch, a GPU, or what else it needs is missing.
"""
import importlib
import sys

fixed = "--fixed" in sys.argv


def need(*modules):
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as missing:
            print("skipped:", missing)
            sys.exit(77)


def need_gpus(count):
    torch = importlib.import_module("torch")
    if torch.cuda.device_count() < count:
        print("skipped: fewer GPUs than", count)
        sys.exit(77)


need("torch")
need_gpus(1)
