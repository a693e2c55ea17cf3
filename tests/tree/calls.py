#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who calls whom: functions of a folder call only folders of earlier layers, as nm finds it in the objects of a build.

layers.sh looks at includes; moving a prototype to another header satisfies it and changes no direction.

usage: calls.py [--print] [BUILD]     --print: all calls between folders, with their number
"""

import collections
import os
import sys

sys.dont_write_bytecode = True
import shape  # noqa: E402  # pylint: disable=wrong-import-position

# Modules: each calls those named here.
MODULES = {
    "base": "",
    "api": "",
    "reader": "base",
    "hb": "base",
    "schedule": "base",
    "image": "base",
    "footprint": "image base",
    "detect": "schedule hb reader footprint image api base",
    "report": "detect reader footprint image api base",
    "pack": "report detect reader footprint image base",
    "query": "report detect reader base",
    "merge": "report detect reader base",
    "simcuda": "image api base",
    "preload": "api base",
    "guard": "preload base",
}
# Folders of a module, the lowest first: each calls those before it, and those of its own line.  "." is the module's own.
FOLDERS = {
    "detect": ["behaviour memory", "model", "libraries waits", "hazards", "kernels", "calls", "graphs", "."],
    "footprint": [".", "instructions", "kernel", "launch"],
    "report": ["symbols", "words", ".", "text json timeline", "html ci diff listing kineto"],
    "preload": ["platform session", "recorder stacks handoff", "intercept", "calls pools"],
    "simcuda": [". memory modules graphs", "runtime"],
}
# Calls against this order, each with its reason.
UPWARD = {
    "sw_gate_option": "the names of gates stand with the options that name them",
}


def place(path):
    """(module, folder in it) of a source."""
    parts = path.split("/")
    return (parts[1], "/".join(parts[2:-1]) or ".") if parts[0] == "src" else ("tools", ".")


def rank(module, folder):
    for number, row in enumerate(FOLDERS[module]):
        if any(folder == name or folder.startswith(name + "/") for name in row.split()):
            return number
    return None


def calls(top, build):
    """{(caller's place, callee's place): {(function, caller)...}}"""
    found = collections.defaultdict(set)
    defined, used = shape.symbols(top, build)
    for name, path in defined.items():
        for user in used[name]:
            if user.startswith("src/") and os.path.dirname(user) != os.path.dirname(path):
                found[place(user), place(path)].add((name, user))
    return found


def forbidden(caller, callee):
    if caller[0] != callee[0]:
        return callee[0] not in MODULES.get(caller[0], "").split()
    if caller[0] not in FOLDERS:
        return False
    above, below = rank(*caller), rank(*callee)
    return above is not None and below is not None and below > above


def main(arguments):
    top = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    given = [a for a in arguments if not a.startswith("-")]
    found = calls(top, given[0] if given else os.environ.get("top_builddir", "."))
    if "--print" in arguments:
        for (caller, callee), names in sorted(found.items()):
            print(f"{'/'.join(caller):24} -> {'/'.join(callee):24} {len(names):4}")
        return 0
    failed = 0
    for (caller, callee), names in sorted(found.items()):
        names = {(name, user) for name, user in names if name not in UPWARD}
        if names and forbidden(caller, callee):
            failed += 1
            for name, user in sorted(names):
                print(f"{user}: {'/'.join(caller)} must not call {name}() of {'/'.join(callee)}")
    if not found:
        print("no objects were found: build first")
        return 1
    print(f"{len(found) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
