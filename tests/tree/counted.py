#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages print a count with the noun that agrees with it: through sw_plural() or sw_counted() (base/counted.h).

Looks for formats with a count before a plural ("%zu calls"), and for words that are chosen by "== 1 ?" in place.
"""
import os
import re
import sys

FOLDERS = ["src/detect", "src/merge", "src/pack", "src/preload", "src/query", "src/report", "tools"]
FORMAT = re.compile(r"%(?:zu|u|d|llu|lu|ld) (?:(?:more|other|deeper) )?([a-z]+s)\b(?!=)")
CHOSEN = re.compile(r"== 1\s*\?\s*\"[a-z ]*\"\s*:\s*\"[a-z ]*\"")
# Words that end like a plural, and verbs and units.
NO_PLURALS = {"ns", "ms", "us", "is", "has", "was", "as", "does", "prints", "process"}
# The count is never one.
SEVERAL = [
    "all %zu findings of this cause",  # the leader and its members
    ": %zu findings",                  # one has its facts instead
    ", %llu times",                    # one is "once"
    "%llu pieces",                     # one is "one piece"
    "%zu of %zu processes\\n",         # printed of several processes
    "in all %zu processes that",       # printed of several processes
    "%u runs without holds",           # a constant
    "%d kinds of streams, %d times",   # constants
    "given more than %u times",        # a constant
    "more than %u rules",              # a constant
    "communicator of %u ranks",        # of ranks that differ
    "jobs of %u and of %u ranks",      # of sizes that differ
    "%u of %u ranks %s no trace",      # there are ranks, and not all are there
    "%zu tables are stored",           # one is used
    "edges of %llu findings",          # of two or more
    "loaded from memory, %s of %llu",  # an image has a header
    "%llu operations, %.0f a second",  # of a run that takes seconds
    "missed %u outputs",               # a line that tools/confirm reads
]


def literals(text):
    """Texts of string literals, adjacent ones joined, with PRIu64 as llu."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"\s*PRI[a-z]+\d+\s*"', "llu", text)
    text = re.sub(r'"\s*\n\s*"', "", text)
    return re.findall(r'"((?:[^"\\]|\\.)*)"', text)


def complaints(name, text):
    for literal in literals(text):
        for several in SEVERAL:
            literal = literal.replace(several, "")
        for found in FORMAT.finditer(literal):
            if found.group(1) not in NO_PLURALS:
                yield f"{name}: {found.group(0)!r} in {literal!r}: one of them is no plural"
    for found in CHOSEN.finditer(text.replace("index == 1", "")):
        yield f"{name}: {text[found.start() - 20:found.end() + 20]!r}: sw_plural() chooses words"


def self_test():
    """The patterns find what they are for, and nothing else."""
    for text, expected in [('f("%zu calls", n);', 1), ('f("%" PRIu64\n\t" launches");', 1), ('f("%u deeper frames");', 1),
                           ('n == 1 ? "call" : "calls"', 1), ('f("%zu %s", n, sw_plural(n, "call", "calls"));', 0),
                           ('f("%u ns");', 0), ('f("a=%u chunks=%u");', 0), ('f("%zu call was lost")', 0)]:
        found = list(complaints("self-test", text))
        assert len(found) == expected, (text, found)


def main():
    self_test()
    root = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    found, files = [], 0
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    with open(os.path.join(path, name), encoding="utf-8") as source:
                        found += complaints(os.path.relpath(os.path.join(path, name), root), source.read())
                    files += 1
    print("\n".join(found) + "\n" if found else "", end="")
    print(f"{files - len({f.split(':')[0] for f in found})} passed, {len({f.split(':')[0] for f in found})} failed")
    return 1 if found else 0


sys.exit(main())
