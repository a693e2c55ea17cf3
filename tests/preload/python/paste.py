# SPDX-License-Identifier: Apache-2.0
"""The fixes of streams.py: paste.py REPORT.json PYTHON PROGRAM prints the program with the lines that the report says;
with "-" for PYTHON checks that only the stream without a name is left."""
import json
import os
import re
import subprocess
import sys

report, python, program = sys.argv[1:]
with open(report, encoding="utf-8") as file:
    groups = [group for group in json.load(file)["groups"] if group["fix"]["lines"]]
with open(program, encoding="utf-8") as file:
    lines = file.read().splitlines()
fixes = {}
for group in groups:
    line, = group["fix"]["lines"]
    where, at = line["where"], line["place"]["line"]
    assert where == "before" and line["place"]["file"].endswith("/" + os.path.basename(program)), line
    fixes[at] = line["code"], group["fix"]["note"]


def at_line(text):
    return next(n for n, line in enumerate(lines, 1) if text in line)


made_up = fixes.pop(at_line("does not know the name"))
assert re.fullmatch(r"torch\.cuda\.default_stream\(\)\.wait_stream\((stream\d)\)", made_up[0]), made_up
created = at_line("self.copies = torch.cuda.Stream()")
assert re.fullmatch(rf"stream\d is the stream created at {os.path.basename(program)}:{created}", made_up[1]), made_up
if python == "-":
    sys.exit(f"left: {fixes}" if fixes else 0)
# Without the class in a function's name, which 3.11 brought, an attribute may be another object's.
named = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True, text=True, check=True)
loader = "self.copies" if named.stdout == "True\n" else fixes[at_line("needs self.copies")][0].split(".")[0]
want = {at_line("needs the default stream"): "torch.cuda.default_stream().wait_stream(side)",
        at_line("needs local"): "local.wait_stream(torch.cuda.default_stream())",
        at_line("needs self.copies"): f"{loader}.wait_stream(torch.cuda.default_stream())"}
assert {at: code for at, (code, _) in fixes.items()} == want, fixes
for at in sorted(fixes, reverse=True):
    indent = re.match(r" *", lines[at - 1]).group()
    lines.insert(at - 1, indent + fixes[at][0].replace(loader, "self.copies"))
print("\n".join(lines))
