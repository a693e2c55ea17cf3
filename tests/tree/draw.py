#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws functions of src and tools at random, for a reader who judges whether each explains itself.

usage: draw.py SEED [COUNT [TREE]]     COUNT: 40

Prints each function with the comments before it and, of a function that a header declares, the comment there.  The
reader decides: clear (what it does and why, from what is printed), context (clear after reading its file or header), or a
riddle.  The list of functions is sorted, so a seed draws the same ones from equal trees.
"""

import os
import random
import re
import sys

DEFINITION = re.compile(r"^(?!typedef|struct \w+ \{|enum|union|#|else|extern)[A-Za-z_][^;{}=]*?\b(\w+)\([^;{}]*\)\n\{\n", flags=re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def comment_before(text, at):
    """The comment that ends in the line before `at`, or ""."""
    before = text[:at]
    found = re.search(r"(?:\A|\n)(/\*(?:(?!\*/).)*\*/)\n\Z", before, flags=re.S)
    return found.group(1) + "\n" if found else ""


def files(top, ending):
    """All files of src and tools whose names end so, in order."""
    for folder in ("src", "tools"):
        for where, _, names in sorted(os.walk(os.path.join(top, folder))):
            yield from (os.path.join(where, name) for name in sorted(names) if name.endswith(ending))


def functions(top):
    """[(path, name, start, end)...] of all C files."""
    found = []
    for path in files(top, ".c"):
        text = read(path)
        for match in DEFINITION.finditer(text):
            end = text.index("\n}\n", match.end() - 1) + 3
            found.append((path, match.group(1), match.start(), end))
    return found


def declared(top, name):
    """The comment and prototype of an exported function, from the header that declares it."""
    pattern = re.compile(rf"^[A-Za-z_][^;{{}}=#]*?\b{name}\([^;{{}}]*\);", flags=re.M)
    for header in files(top, ".h"):
        text = read(header)
        match = pattern.search(text) if name in text else None
        if match:
            # A comment may be for several declarations that follow it: the reader sees them, up to this one.
            comments = list(re.finditer(r"^/\*.*?\*/\n", text[: match.start()], flags=re.S | re.M))
            shown = text[comments[-1].start() : match.end()] if comments else match.group(0)
            return f"{os.path.relpath(header, top)}:\n{shown}\n"
    return ""


def main(arguments):
    if not arguments:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    top = arguments[2] if len(arguments) > 2 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    drawn = random.Random(arguments[0]).sample(functions(top), int(arguments[1]) if len(arguments) > 1 else 40)
    for number, (path, name, start, end) in enumerate(drawn, 1):
        text = read(path)
        print(f"==== {number} {os.path.relpath(path, top)}:{text.count(chr(10), 0, start) + 1}")
        if name.startswith("sw_"):
            print(declared(top, name), end="")
        print(comment_before(text, start) + text[start:end])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
