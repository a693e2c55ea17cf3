#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the tree one that a stranger can walk through?  Counts what the layout promises and fails where it does not hold.

usage: structure.py [--print] [TREE]     --print: the numbers as a table, for comparing two trees
"""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys

MOST_FILES = 45
MOST_LINES = 800
MOST_COLUMNS = 120
# Files that may be longer, each with the reason.  Tables (.def) always may.
LONG = {}
# Pairs of rows that say the same twice: may only become fewer.
MOST_TWIN_ROWS = 0
MOST_DRIVER_ROWS = 0

SOURCES = ("src", "include", "tools", "kernels", "tests")
ENDINGS = (".c", ".h", ".S", ".cu", ".py", ".sh", ".def")
MADE = ("tests/golden/traces", "tests/footprint/corpus", "tests/fuzz/corpus")


def files_of(top, *folders):
    for folder in folders:
        for where, inside, names in os.walk(os.path.join(top, folder)):
            inside[:] = sorted(d for d in inside if d not in ("node_modules", "__pycache__"))
            for name in sorted(names):
                path = os.path.relpath(os.path.join(where, name), top)
                if path.endswith(ENDINGS) and not path.startswith(MADE):
                    yield path


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def folders(top):
    found = collections.OrderedDict()
    for path in files_of(top, "src"):
        files, lines = found.get(os.path.dirname(path), (0, 0))
        found[os.path.dirname(path)] = (files + 1, lines + read(top, path).count("\n"))
    return found


def lengths(top):
    """(lines, path) of what is no table, the longest first."""
    return sorted(((read(top, p).count("\n"), p) for p in files_of(top, *SOURCES) if not p.endswith(".def")), reverse=True)


def includes(top):
    graph = {}
    paths = set(files_of(top, "src", "include", "tools"))
    for path in paths:
        graph[path] = []
        for name in re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', read(top, path), flags=re.M):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            for other in (beside, "src/" + name, "include/" + name, name):
                # A table that is included again and again includes nothing; one that includes itself does so on purpose.
                if other in paths and other != path:
                    graph[path].append(other)
                    break
    return graph


def circles(graph):
    """One list of files for each set that includes itself (Tarjan)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            ring = []
            while True:
                ring.append(stack.pop())
                if ring[-1] == node:
                    break
            if len(ring) > 1:
                found.append(sorted(ring))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def tags(top):
    """Tags of the project (sw_...) that are defined in several places: {tag: [place...]}."""
    places = collections.defaultdict(set)
    for path in files_of(top, "src", "include"):
        text = without_comments(read(top, path))
        for tag in re.findall(r"^\s*(?:typedef\s+)?(?:struct|union|enum)\s+(sw_\w+)\s*\{", text, flags=re.M):
            places[tag].add(path)
    return {tag: sorted(where) for tag, where in sorted(places.items()) if len(where) > 1}


def rows(top, path, pattern):
    return re.findall(pattern, read(top, path), flags=re.M) if os.path.exists(os.path.join(top, path)) else []


def twin_rows(top):
    """Rows of cuda.def that repeat another one for the per-thread default stream."""
    symbols = rows(top, "src/api/cuda.def", r"^SW_CU\w*\((\w+)")
    return [s for s in symbols if re.sub(r"_pt[sd][sz]$", "", s) != s and re.sub(r"_pt[sd][sz]$", "", s) in symbols]


def driver_rows(top):
    """Rows of the simulated driver that repeat one of cuda.def."""
    symbols = set(rows(top, "src/api/cuda.def", r"^SW_CU\w*\((\w+)"))
    full = rows(top, "src/simcuda/driver.def", r"^SW_SIM_\w+\(\w+, *\d+, *(\w+)")
    return [s for s in full if s in symbols]


def unmapped(top):
    """Folders of sources without a row in HACKING.md, and rows without a folder."""
    there = {os.path.dirname(path) for path in files_of(top, "src", "tools")}
    there |= {os.path.dirname(folder) for folder in there if folder.count("/") > 1}
    said = set(re.findall(r"^\| `((?:src|tools)(?:/[\w/]+)?)` \|", read(top, "HACKING.md"), flags=re.M))
    return [f"no row: {f}" for f in sorted(there - said)] + [f"no folder: {f}" for f in sorted(said - there - {"src"})]


def unexplained(top):
    """C files that say nowhere what they are for: neither at their top nor in a header of their name."""
    found = []
    for path in files_of(top, "src", "tools"):
        lines = read(top, path).split("\n", 2)
        opens = len(lines) > 1 and lines[1].startswith("/*")
        if path.endswith(".c") and not opens and not os.path.exists(os.path.join(top, path[:-1] + "h")):
            found.append(path)
    return found


# A comment says its subject first: the reader of one comment has not read the one before it.
PRONOUNS = r"(What|Of|The same|Those|It|They|Its|Their|Who)\b"
SPOKEN_OF = ("src", "include", "tools")


def pronouns(top):
    """Comments that begin with a pronoun, or with words that refer to an earlier sentence."""
    found = []
    for path in files_of(top, *SPOKEN_OF):
        mark = "#" if path.endswith((".py", ".sh")) else r"(?:/\*+|//)"
        for number, line in enumerate(read(top, path).split("\n"), 1):
            if re.search(rf"(?:^|\s){mark}\s*{PRONOUNS}", line):
                found.append(f"{path}:{number}: {line.strip()}")
    return found


def documents(top):
    for folder in ("doc", "tests", "."):
        for where, inside, names in os.walk(os.path.join(top, folder)):
            inside[:] = sorted(d for d in inside if folder != "." and d not in ("node_modules", "__pycache__"))
            yield from (os.path.normpath(os.path.relpath(os.path.join(where, n), top)) for n in sorted(names) if n.endswith(".md"))


def prose(top, path):
    """(number, line) of what is not in a block of code."""
    code = False
    for number, line in enumerate(read(top, path).split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, line


def wide_lines(top):
    """Lines over the width that can be broken: neither in a table nor in a block of code, nor one long word."""
    return [
        f"{path}:{number}: {len(line)} columns"
        for path in documents(top)
        for number, line in prose(top, path)
        if len(line) > MOST_COLUMNS
        and not line.lstrip().startswith("|")
        and not line.startswith("    ")
        and " " in line.strip()[:MOST_COLUMNS]
    ]


def anchors(top, path):
    """Names that a link to the document may have behind its #, as Markdown makes them from headings."""
    found = collections.Counter()
    for _, line in prose(top, path):
        heading = re.match(r"#+ +(.*)", line)
        if heading:
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1].strip())
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found[name] += 1
            yield name if found[name] == 1 else f"{name}-{found[name] - 1}"


def dead_links(top):
    """Links to files, or to headings of documents, that are not there."""
    found = []
    for path in documents(top):
        for number, line in prose(top, path):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                name, _, anchor = target.partition("#")
                other = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if re.match(r"[a-z]+:", target):
                    continue
                if not os.path.exists(os.path.join(top, other)):
                    found.append(f"{path}:{number}: no file {target}")
                elif anchor and anchor not in anchors(top, other):
                    found.append(f"{path}:{number}: no heading {target}")
    return found


def missing_files(top):
    """Files and folders that documents name by their whole path, and that are not there."""
    found = []
    for path in documents(top):
        for number, line in prose(top, path):
            for name in re.findall(r"`((?:src|include|tools|kernels|tests|share|packaging|doc)/[\w./-]+)[^`]*`", line):
                whole = os.path.join(top, name)
                if not re.search("[A-Z]{3}", name) and not os.path.exists(whole) and not glob.glob(whole + "[_.]*"):
                    found.append(f"{path}:{number}: {name}")
    return found


def unformatted(top):
    """C files that clang-format would change; None where version 14 is not installed."""
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool or " 14." not in subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout:
        return None
    paths = [p for p in files_of(top, *SOURCES) if p.endswith((".c", ".h"))]
    said = subprocess.run([tool, "--dry-run", *paths], cwd=top, stderr=subprocess.PIPE, text=True, check=False).stderr
    return sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", said, flags=re.M)))


class Results:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, what, wrong):
        """`wrong`: what must not be there, a line each; None: could not be looked for."""
        if wrong is None:
            self.skipped += 1
            print(f"SKIP: {what}")
        elif wrong:
            self.failed += 1
            print(f"FAIL: {what}")
            for line in wrong:
                print(f"  {line}")
        else:
            self.passed += 1


def check(top):
    results = Results()
    results.check(
        f"no folder of src has over {MOST_FILES} files",
        [f"{folder}: {files} files" for folder, (files, _) in folders(top).items() if files > MOST_FILES],
    )
    long = [(lines, path) for lines, path in lengths(top) if lines > MOST_LINES]
    results.check(
        f"no file but tables has over {MOST_LINES} lines",
        [f"{path}: {lines} lines" for lines, path in long if path not in LONG],
    )
    stale = set(LONG) - {path for _, path in long}
    results.check("each exception is needed", [f"{path} is short enough: take it off the list" for path in sorted(stale)])
    results.check("no circles of includes", [" ".join(ring) for ring in circles(includes(top))])
    results.check("each tag has one meaning", [f"{tag}: {' '.join(where)}" for tag, where in tags(top).items()])
    for what, found, most in (
        ("cuda.def repeats no row for the per-thread default stream", twin_rows(top), MOST_TWIN_ROWS),
        ("driver.def repeats no row of cuda.def", driver_rows(top), MOST_DRIVER_ROWS),
    ):
        results.check(what, [f"{len(found)} rows, {most} allowed"] if len(found) > most else [])
    results.check("HACKING.md has a row for each folder", unmapped(top))
    results.check("each .c file says what it is for", unexplained(top))
    results.check("comments begin with their subject, not with a pronoun", pronouns(top))
    results.check(f"lines of documents have at most {MOST_COLUMNS} columns", wide_lines(top))
    results.check("links of documents lead somewhere", dead_links(top))
    results.check("documents name files that exist", missing_files(top))
    wrong = unformatted(top)
    what = "formatted as .clang-format says" + ("" if wrong is not None else ": clang-format 14 is not installed")
    results.check(what, wrong)
    print(f"{results.passed} passed, {results.failed} failed, {results.skipped} skipped")
    return results.failed == 0


def table(top):
    by_folder = folders(top)
    long = [f"{path} ({lines})" for lines, path in lengths(top) if lines > MOST_LINES]
    doubled = tags(top)
    wrong = unformatted(top)
    most = max(by_folder, key=lambda f: by_folder[f][0])
    print(f"folders of src                     {len(by_folder)}")
    print(f"files, lines of src                {sum(f for f, _ in by_folder.values())}, {sum(n for _, n in by_folder.values())}")
    print(f"most files in a folder             {by_folder[most][0]} ({most})")
    print(f"longest file but tables            {'{1} ({0})'.format(*lengths(top)[0])}")
    print(f"files over {MOST_LINES} lines               {len(long)}: {', '.join(long)}")
    print(f"circles of includes                {len(circles(includes(top)))}")
    print(f"tags with several meanings         {len(doubled)}: {', '.join(doubled)}")
    print(f"rows of cuda.def twice             {len(twin_rows(top))}")
    print(f"rows of driver.def as in cuda.def  {len(driver_rows(top))}")
    print(f".c files that say not what for     {len(unexplained(top))}")
    print(f"comments that begin by a pronoun   {len(pronouns(top))}")
    print(f"files clang-format would change    {'not known' if wrong is None else len(wrong)}")
    print()
    for folder, (files, lines) in by_folder.items():
        print(f"{folder:34} {files:3} files {lines:6} lines")


def main(arguments):
    top = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    trees = [a for a in arguments if not a.startswith("-")]
    if "--print" in arguments:
        table(trees[0] if trees else top)
        return 0
    return 0 if check(trees[0] if trees else top) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
