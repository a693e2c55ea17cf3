# SPDX-License-Identifier: Apache-2.0
"""Records events in every awkward place of Python and writes down where Python says that it was: frames.py OUT.

Each thread has an event of its own.  OUT gets {event: [stack, ...]}, a stack being [[file, function, line], ...],
innermost first.  With a second argument a child is forked first, which writes OUT.child.
"""
import asyncio
import contextlib
import ctypes
import functools
import gc
import importlib.util
import json
import os
import signal
import sys
import tempfile
import threading

released = ctypes.CDLL("libcudart.so.13")  # its functions are called without the GIL
held = ctypes.PyDLL("libcudart.so.13")
local = threading.local()
want = {}


def name(code):
    return getattr(code, "co_qualname", code.co_name)


def stack(frame):
    out = []
    while frame:
        out.append([frame.f_code.co_filename, name(frame.f_code), frame.f_lineno])
        frame = frame.f_back
    return out


def event():
    if not hasattr(local, "event"):
        local.event = ctypes.c_void_p()
        assert released.cudaEventCreate(ctypes.byref(local.event)) == 0
        want[local.event.value] = []
    return local.event


def mark(library=released):
    e = event()
    want[e.value].append(stack(sys._getframe())); library.cudaEventRecord(e, None)  # one line, so that both agree


class Things:
    def __init__(self):
        mark()

    @property
    def prop(self):
        mark()
        return 1

    def __getattr__(self, key):
        mark(held)
        return key

    def method(self):
        return [mark() for _ in range(2)]

    @staticmethod
    def static():
        (lambda: mark(held))()


class Dies:
    def __del__(self):
        mark()


def generator(n):
    for i in range(n):
        mark()
        yield i


def nested(n):
    yield from generator(n)
    mark()


@contextlib.contextmanager
def manager():
    mark()
    yield
    mark()


async def leaf():
    mark()
    await asyncio.sleep(0)
    mark(held)


async def branch():
    await asyncio.gather(leaf(), leaf())
    await leaf()


def deep(n):
    if n:
        return deep(n - 1)
    mark()


def executed():
    # Code objects that are freed at once: the next ones get their addresses, and only their lines differ.
    for i in range(50):
        exec(compile("\n" * (i % 7) + "mark()\n" + "\n" * (i % 3) + "mark()", "<made %d>" % (i % 2), "exec"))
    # The same of functions, with ends of others between.
    for i in range(50):
        space = {"mark": mark}
        exec("\n" * (i % 5) + "def made():\n" + "    x = 1\n" * (i % 4 + 1) + "    mark()\n", space)
        space["made"]()
        del space
        gc.collect() if i % 10 == 0 else None


def collected():
    for _ in range(3):
        a, b = Dies(), Dies()
        a.other, b.other = b, a
        del a, b
        gc.collect()
    d = Dies()
    del d


def called_back():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def less(a, b):
        mark()
        sorted([1], key=lambda x: mark(held))
        return 0
    array = (ctypes.c_int * 2)(1, 2)
    ctypes.CDLL(None).qsort(array, ctypes.c_size_t(2), ctypes.c_size_t(4), compare(less))
    functools.reduce(lambda a, b: mark(), [1, 2, 3])


def imported():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "módulo_\u65e5\u672c.py")
        with open(path, "w", encoding="utf-8") as out:
            out.write("import builtins\n\ndef función():\n    builtins.mark()\n\n\nfunción()\n")
        import builtins
        builtins.mark = mark
        spec = importlib.util.spec_from_file_location("other", path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def handled():
    signal.signal(signal.SIGUSR1, lambda number, frame: mark())
    signal.raise_signal(signal.SIGUSR1)
    mark()


def everything():
    mark()
    mark(held)
    for _ in range(30):  # often enough for the interpreter to specialise
        t = Things()
        t.prop, t.unknown, t.method(), t.static()
    for i in nested(3):
        mark()
    list(generator(2))
    one, two = generator(3), generator(3)
    for a, b in zip(one, two):
        mark()
    with manager():
        mark()
    asyncio.run(branch())
    deep(50)
    executed()
    collected()
    called_back()
    try:
        raise ValueError
    except ValueError:
        mark()
    finally:
        mark()
    mark() if \
        len(sys.argv) > 100 else \
        mark()


def in_threads():
    def loop():
        for _ in range(100):
            deep(3)
            executed() if _ == 50 else mark()
    threads = [threading.Thread(target=loop) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def generated():
    # More lines than are remembered: all are dropped meanwhile, and read again.
    space = {"mark": mark}
    exec("def many():\n" + "    mark()\n" * 13000, space)
    space["many"]()
    deep(40)


def write(path):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(want, out)


def main():
    everything()
    imported()
    handled()
    sys.setrecursionlimit(5000)
    deep(1000)
    deep(1001)
    in_threads()
    generated()
    mark()
    write(sys.argv[1])


def forked():
    child = os.fork()  # before CUDA is used: a child cannot use it afterwards
    if child == 0:
        everything()
        write(sys.argv[1] + ".child")
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status


if len(sys.argv) > 2:
    forked()
main()
