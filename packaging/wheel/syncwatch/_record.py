# SPDX-License-Identifier: Apache-2.0
"""When to record: syncwatch_record_start() and its like of syncwatch.h."""
import contextlib
import ctypes

_RECORD, _OPEN, _CLOSE, _ASK = 67, 1, 2, 3  # SYNCWATCH_RECORD


def _order(what):
    state = ctypes.c_ubyte(0)
    try:
        annotate = ctypes.CDLL(None).syncwatch_annotate
    except AttributeError:
        return False  # not under syncwatch
    annotate.argtypes = (ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint, ctypes.c_char_p)
    annotate.restype = None
    annotate(_RECORD, ctypes.addressof(state), ctypes.sizeof(state), None, what, None)
    return bool(state.value)


def record_start():
    """What the process does from its next call on is recorded and judged, whatever the options of `run` say."""
    _order(_OPEN)


def record_stop():
    """From the next call on only what creates, frees or describes something is recorded."""
    _order(_CLOSE)


def is_recording():
    """Is a window open?  False, too, where the program does not run under syncwatch."""
    return _order(_ASK)


@contextlib.contextmanager
def window():
    """Records what happens inside (`syncwatch run --paused`)."""
    record_start()
    try:
        yield
    finally:
        record_stop()
