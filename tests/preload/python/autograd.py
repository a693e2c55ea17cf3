# SPDX-License-Identifier: Apache-2.0
"""Backward passes on a thread that runs no Python: autograd.py LIBRARY FOLDER OUT.

FOLDER gets a torch/autograd/graph.py, as PyTorch has it.  OUT gets the stacks that the thread's calls should have: those
of the thread that waits, if it waits in that file.  null: no matter.  Then the thread calls on while nobody waits, and
frames come and go under its eyes.
"""
import ctypes
import functools
import importlib.util
import json
import os
import sys
import threading

library, folder, out = sys.argv[1:4]
rt = ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
engine = ctypes.CDLL(library)
event = ctypes.c_void_p()
# A thread that is over: the first thread may get what the recorder kept of it.
early = threading.Thread(target=lambda: rt.cudaEventCreate(ctypes.byref(event)))
early.start()
early.join()
assert rt.cudaEventCreate(ctypes.byref(event)) == 0
want = []


def stack(frame):
    names = []
    while frame:
        names.append([frame.f_code.co_filename, getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_lineno])
        frame = frame.f_back
    return names


def module(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as source:
        source.write(text)
    spec = importlib.util.spec_from_file_location("graph", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


TEXT = "def run_backward(note, run):\n    note(); run()\n"
graph = module(os.path.join(folder, "torch", "autograd", "graph.py"), TEXT)
other = module(os.path.join(folder, "other", "graph.py"), TEXT)


def note():
    want.append(stack(sys._getframe(1)))


run = functools.partial(engine.run, event)  # no frame of Python between


def backward():
    graph.run_backward(note, run)


def step(n):
    if n:
        return step(n - 1)
    backward()
    for _ in sorted([1], key=lambda x: backward()):  # through C
        backward()
    backward()


def generator():
    backward()
    yield 1


rt.cudaEventRecord(event, None)
want.append(None)  # this thread's own
step(0)
step(12)
other.run_backward(lambda: want.append([]), run)  # it waits, but not in PyTorch
step(3)
list(generator())  # a generator's frame lies elsewhere: only those within it
want[-1] = {"first": want[-1][:2]}
step(300)  # deeper than the first chunk of frames: none, or the right one
want[-4:] = [[w, []] for w in want[-4:]]
with open(out, "w", encoding="utf-8") as result:
    json.dump(want, result)


def deep(n, *more):
    return deep(n - 1, *more, n) if n else sum(more)


engine.start(event, 20000)
while engine.busy():
    deep(10), deep(150), exec("def f(x):\n return [f(x - 1) for _ in (1,)] if x else []\nf(20)")
engine.run(event)
