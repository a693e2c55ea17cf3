# SPDX-License-Identifier: Apache-2.0
"""Blocks that forbid calls of CUDA, checked when the calls return: doc/no-waits.md."""
import contextlib
import ctypes
import functools
import inspect
import itertools
import os
import sys
import threading
import traceback

KINDS = ("wait", "alloc", "free", "pin", "load", "pageable")
_OPEN_GATE = 66  # SYNCWATCH_GATE of syncwatch.h
_OURS = os.path.dirname(__file__)
_RUNNERS = (os.sep + "_pytest" + os.sep, os.sep + "pluggy" + os.sep)  # not the program's own lines
_MOST = 100  # calls of a block that are kept with their lines


class ForbiddenCall(RuntimeError):
    """A call that a block forbids.  `calls` has each (at most 100): kind, api, ns, and stack (from the block inwards)."""

    def __init__(self, text="a forbidden call", calls=()):
        super().__init__(text)
        self.calls = list(calls)


class NotChecked(RuntimeError):
    """A block of strict=True that nobody checked."""


for _error in (ForbiddenCall, NotChecked):
    _error.__module__ = "syncwatch"  # where users find them


class _Forbidden(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char_p), ("api", ctypes.c_char_p), ("ns", ctypes.c_ulonglong)]


_TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Forbidden))


class _Gate(ctypes.Structure):
    _fields_ = [("begin", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, _TELL, ctypes.c_void_p)),
                ("end", ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_int, ctypes.POINTER(_Forbidden),
                                         ctypes.POINTER(ctypes.c_ulonglong)))]


_found = None  # the gate; False: there is none
_blocks, _numbers = {}, itertools.count(1)  # blocks that have not ended, by number


def _gate():
    """None where the recorder was not preloaded."""
    global _found
    if _found is None:
        slot = ctypes.POINTER(_Gate)()
        try:
            annotate = ctypes.CDLL(None).syncwatch_annotate
            annotate.argtypes = (ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint,
                                 ctypes.c_char_p)
            annotate.restype = None
            annotate(_OPEN_GATE, ctypes.addressof(slot), ctypes.sizeof(slot), None, 0, None)
        except (AttributeError, OSError):
            pass
        _found = slot.contents if slot else False
    return _found or None


class Call:
    """One call: kind ("wait"), api ("cuStreamSynchronize"), ns of host time, stack of Python, innermost last."""

    def __init__(self, kind, api, ns, stack):
        self.kind, self.api, self.ns, self.stack = kind, api, ns, stack

    def __str__(self):
        took = f"{self.ns / 1e6:.2f} ms" if self.ns >= 1000000 else f"{self.ns / 1e3:.1f} us"
        return f"{self.kind}: {self.api} took {took}"


def _depth(frame):
    n = 0
    while frame:
        n, frame = n + 1, frame.f_back
    return n


def _place(stack):
    return [frame for frame in stack if os.path.dirname(frame.filename) != _OURS and
            not any(part in frame.filename for part in _RUNNERS)]


class _Block:
    """One entry of a block, on one thread."""

    def __init__(self, kinds, at_once):
        self.frame = sys._getframe(2)  # the one that has the block
        self.calls, self.thread, self.at_once = [], threading.get_ident(), at_once
        gate = _gate()
        self.number = next(_numbers)
        _blocks[self.number] = self
        self.token = gate.begin(kinds, _tell, self.number) if gate else -1
        if at_once and self.token > 0:
            # Python code would be what it interrupts first: a function of C asks for it, in a block within.
            self.interrupt = _TELL(functools.partial(ctypes.pythonapi.PyThreadState_SetAsyncExc,
                                                     ctypes.c_ulong(self.thread), ctypes.py_object(ForbiddenCall)))
            gate.begin(kinds, self.interrupt, None)

    def take(self, call):
        if len(self.calls) < _MOST:
            around = _depth(self.frame) - 1
            stack = traceback.StackSummary.from_list(traceback.extract_stack(sys._getframe(2))[around:])
            self.calls.append(Call(call.contents.kind.decode(), call.contents.api.decode(), call.contents.ns, stack))

    def end(self):
        """How many calls were forbidden; below 0: nothing was checked."""
        del _blocks[self.number], self.frame
        if self.token < 1 or threading.get_ident() != self.thread:
            return -1
        n = _gate().end(self.token, None, None)
        if self.at_once:  # one that has not been raised yet must not be raised elsewhere
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), None)
        return n

    def error(self, n, kinds):
        lines = [f"{n} call{'s' if n > 1 else ''} of kind{'s' if len(kinds) > 1 else ''} {', '.join(kinds)} in a block "
                 "that forbids them"]
        told = {}
        for call in self.calls:  # each place once
            place = _place(call.stack)
            key = (call.kind, call.api, tuple((frame.filename, frame.lineno) for frame in place))
            told.setdefault(key, [call, place, 0])[2] += 1
        for call, place, times in told.values():
            lines.append(f"{call}{f' ({times} times)' if times > 1 else ''}")
            lines += ["  " + line for text in traceback.format_list(place[-8:]) for line in text.rstrip().splitlines()]
        return ForbiddenCall("\n".join(lines), self.calls)


@_TELL
def _tell(number, call):
    """Called by the gate when a forbidden call returns, on its thread: one function for all blocks, which are many."""
    block = _blocks.get(number)
    if block:
        block.take(call)


class forbid(contextlib.ContextDecorator):
    """Calls of these kinds are errors in the block, on the thread that runs it.

    kinds     wait, alloc, free, pin, load, pageable, any (doc/no-waits.md)
    at_once   raise at the line after the call, not at the end of the block
    strict    raise NotChecked where the program does not run under syncwatch; else the block runs as it is

    After the block `checked` says whether anybody looked.  An exception of the block itself is passed on as it is.
    """

    def __init__(self, *kinds, at_once=False, strict=False):
        if not kinds:
            raise ValueError("forbid() needs kinds of calls: " + ", ".join(KINDS) + " or any")
        for kind in kinds:
            if kind == "device-wait":
                raise ValueError("device-wait is known to the report alone: syncwatch run --forbid device-wait@...")
            if kind != "any" and kind not in KINDS:
                raise ValueError(f"unknown kind {kind!r}: " + ", ".join(KINDS) + " or any")
        self._words = ",".join(kinds).encode()
        self.kinds, self.at_once, self.strict, self.checked = kinds, at_once, strict, None
        self._blocks = []

    def _recreate_cm(self):
        return forbid(*self.kinds, at_once=self.at_once, strict=self.strict)

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or \
                inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} gives its thread to others while it waits, whose calls would count: "
                            "use 'with syncwatch.forbid(...)' around what does not")
        return super().__call__(function)

    def __enter__(self):
        block = _Block(self._words, self.at_once)
        if block.token < 1 and self.strict:
            raise NotChecked("the program does not run under syncwatch (python -m syncwatch run ...): nothing would be "
                             "checked")
        self._blocks.append(block)
        return self

    def __exit__(self, kind, error, trace):
        __tracebackhide__ = True  # of pytest
        block = self._blocks.pop()
        n = block.end()
        self.checked = n >= 0
        if n < 0 and self.strict and not kind:
            raise NotChecked("the block ended on another thread, or the recorder stopped: nothing was checked")
        if n > 0 and (not kind or (kind is ForbiddenCall and not error.calls)):
            raise block.error(n, self.kinds) from None
        return False
