# SPDX-License-Identifier: Apache-2.0
"""Finds unordered work and needless waits in CUDA programs.

The work is done by the command and the object to preload that lie next to this file; this module says where they are.

    python -m syncwatch run python train.py      # record and judge; the same as "syncwatch run"

    with syncwatch.forbid("wait", "pageable"):   # raises ForbiddenCall where the program runs under syncwatch
        step()

    with syncwatch.window():                      # under "syncwatch run --paused": records only this
        step()

    with syncwatch.recorded(json="report.json"):  # or: programs that this one starts are recorded
        subprocess.run(["./app"])
"""
import contextlib
import os

try:
    import ctypes as _
except ImportError as _error:  # a Python that was built without it: the command needs none
    ForbiddenCall = NotChecked = RuntimeError
    _why = f"syncwatch.forbid needs ctypes: {_error}"

    def forbid(*_, **__):
        raise NotChecked(_why)

    def is_recording():
        return False

    record_start = record_stop = is_recording

    @contextlib.contextmanager
    def window():
        yield
else:
    from ._gate import ForbiddenCall, NotChecked, forbid
    from ._record import is_recording, record_start, record_stop, window

__all__ = ["ForbiddenCall", "NotChecked", "active", "command_path", "forbid", "include_path", "is_recording",
           "preload_path", "record_start", "record_stop", "recorded", "window"]
__version__ = "@VERSION@"

_here = os.path.dirname(os.path.abspath(__file__))


def command_path():
    """The compiled command."""
    return os.path.join(_here, "bin", "syncwatch")


def preload_path():
    """The object for LD_PRELOAD."""
    return os.path.join(_here, "lib", "syncwatch", "libsyncwatch.so")


def include_path():
    """The folder of <syncwatch/syncwatch.h>, by which programs declare what they know."""
    return os.path.join(_here, "include")


def active():
    """Was the recorder preloaded into this process?"""
    try:
        with open("/proc/self/maps") as maps:
            return any(line.rstrip().endswith("/libsyncwatch.so") for line in maps)
    except OSError:
        return False


@contextlib.contextmanager
def recorded(**options):
    """Programs that are started inside are recorded, with these options of SYNCWATCH_OPTIONS (json="r.json", all=True).

    The loader separates names by colons and spaces and has no way to quote them: a path that holds one is refused.
    """
    path = preload_path()
    if any(c in path for c in " :"):
        raise ValueError(f"LD_PRELOAD cannot name {path!r}, which has a space or a colon: use 'python -m syncwatch run'")
    words = [name if value is True else f"{name}={value}" for name, value in options.items() if value not in (None, False)]
    set_to = {"LD_PRELOAD": ":".join(filter(None, [path, os.environ.get("LD_PRELOAD")]))}
    if words:
        set_to["SYNCWATCH_OPTIONS"] = ":".join(filter(None, [os.environ.get("SYNCWATCH_OPTIONS"), *words]))
    before = {name: os.environ.get(name) for name in set_to}
    os.environ.update(set_to)
    try:
        yield path
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
