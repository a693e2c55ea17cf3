# SPDX-License-Identifier: Apache-2.0
"""Records an event before, while and after there is a sub-interpreter; exits with 77 where Python has none."""
import ctypes
import importlib
import sys

for name in ("_interpreters", "_xxsubinterpreters"):
    try:
        interpreters = importlib.import_module(name)
        break
    except ImportError:
        pass
else:
    sys.exit(77)

rt = ctypes.CDLL("libcudart.so.13")
event = ctypes.c_void_p()
rt.cudaEventCreate(ctypes.byref(event))


def mark():
    rt.cudaEventRecord(event, None)  # marks


mark()  # first
try:
    sub = interpreters.create("legacy")
except (TypeError, ValueError):
    sub = interpreters.create(isolated=False)
interpreters.run_string(sub, """
import ctypes
ctypes.CDLL("libcudart.so.13").cudaEventRecord(ctypes.c_void_p(%d), None)
""" % event.value)
mark()
interpreters.destroy(sub)
mark()  # last
