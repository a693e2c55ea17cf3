# SPDX-License-Identifier: Apache-2.0
"""Prints, for code of the standard library, its line table and what Python makes of it, for python_lines to compare:
FORMAT FIRST_LINE TABLE OFFSET:LINE ..."""
import ctypes
import glob
import os
import sys

line_of = ctypes.pythonapi.PyCode_Addr2Line
line_of.argtypes = [ctypes.py_object, ctypes.c_int]
line_of.restype = ctypes.c_int


def show(code):
    version = sys.version_info[:2]
    table = code.co_lnotab if version < (3, 10) else code.co_linetable
    lines = ("%d:%d" % (at, line_of(code, at)) for at in range(0, len(code.co_code), 2))
    print(1 if version < (3, 10) else 2 if version < (3, 11) else 3, code.co_firstlineno, table.hex() or "-", *lines)
    for const in code.co_consts:
        if isinstance(const, type(code)):
            show(const)


odd = "\n\n\ndef f(\n  a):\n  return [\n" + "\n" * 300 + " a,\n" + "    b,\n" * 70 + "]\n" + "\n" * 40000 + "f(\n1)\n"
show(compile(odd, "odd", "exec"))
show(compile("x = " + " + ".join("a%d" % i for i in range(400)), "long", "exec"))
for path in sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))[:60]:
    with open(path, encoding="utf-8", errors="replace") as source:
        show(compile(source.read(), path, "exec"))
