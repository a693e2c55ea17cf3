#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts how finely the tree is cut: functions and headers that exist for one user, files, lines.

usage: shape.py [--list] BUILD [TREE]

Prints a line for each folder of src and one for all. Users are files of src and tools, not tests. Exported functions
are those that nm finds in the objects of BUILD, which must be built. --list: names each function and header that has
fewer than two users, with its user.
"""

import collections
import os
import re
import subprocess
import sys

LIMIT = 800  # lines of a file, as structure.py


def sources(top, folders, endings):
    for folder in folders:
        for where, _, names in os.walk(os.path.join(top, folder)):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(where, name), top)


def source_of(path, top, build):
    """The source of an object: automake puts the target's name and a hyphen before the file's."""
    where, name = os.path.split(os.path.relpath(path, build))
    stem = os.path.join(where, name[:-2].split("-", 1)[-1])
    return stem + (".c" if os.path.exists(os.path.join(top, stem + ".c")) else ".S")


def symbols(top, build):
    """({function: source that defines it}, {function: sources that refer to it})"""
    objects = [os.path.join(build, p) for p in sources(build, ("src", "tools"), ".o")]
    defined, used = {}, collections.defaultdict(set)
    nm = subprocess.run(["nm", "-A", *objects], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    for line in nm.stdout.splitlines():
        path, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        source = source_of(path, top, build)
        if not name.startswith("sw_") or not os.path.exists(os.path.join(top, source)):
            continue
        if kind == "T" and source.startswith("src/"):
            defined.setdefault(name, source)
        elif kind == "U":
            used[name].add(source)
    return defined, {name: used[name] - {defined[name]} for name in defined}


def header_users(top):
    """{header of src: files of src, include and tools that include it}"""
    paths = set(sources(top, ("src", "include", "tools"), (".c", ".h", ".S", ".def")))
    users = {p: set() for p in paths if p.startswith("src/") and p.endswith(".h")}
    for path in paths:
        with open(os.path.join(top, path), encoding="utf-8") as file:
            names = re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', file.read(), flags=re.M)
        for name in names:
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            for other in (beside, "src/" + name, name):
                if other in users:
                    users[other].add(path)
                    break
    # The file that implements a header is no user of it.
    return {p: {u for u in who if os.path.splitext(u)[0] != os.path.splitext(p)[0]} for p, who in users.items()}


def lines_of(top, path):
    with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
        return file.read().count("\n")


def main(arguments):
    listing = "--list" in arguments
    paths = [a for a in arguments if not a.startswith("-")]
    if not paths:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build = paths[0]
    top = paths[1] if len(paths) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

    columns = ("files", "lines", "at limit", "exported", "one user", "no user", "headers", "<= 1 user")
    rows = collections.defaultdict(collections.Counter)
    names = []

    def count(path, column, many=1):
        rows[os.path.dirname(path)][column] += many
        rows["all"][column] += many

    for path in sources(top, ("src",), (".c", ".h", ".S", ".def")):
        lines = lines_of(top, path)
        count(path, "files")
        count(path, "lines", lines)
        if lines > 0.95 * LIMIT and not path.endswith(".def"):
            count(path, "at limit")
    defined, used = symbols(top, build)
    for name, path in defined.items():
        count(path, "exported")
        if len(used[name]) < 2:
            count(path, "one user" if used[name] else "no user")
            names.append(f"{path} {name} {' '.join(used[name])}")
    for path, who in header_users(top).items():
        count(path, "headers")
        if len(who) < 2:
            count(path, "<= 1 user")
            names.append(f"{path} {' '.join(who)}")

    if listing:
        print("\n".join(sorted(names)))
        return 0
    print(f"{'':24}" + "".join(f"{column:>10}" for column in columns))
    for folder in sorted(rows):
        print(f"{folder:24}" + "".join(f"{rows[folder][column]:10}" for column in columns))
    share = 100 * rows["all"]["one user"] / max(1, rows["all"]["exported"])
    print(f"{share:.0f} % of the exported functions of src have one user")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
