#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts a folder into a wheel: the same bytes each time (names sorted, one date, modes 644 and 755).

usage: pack.py STAGE DIST VERSION TAG README LICENSES
  STAGE holds what goes into site-packages; LICENSES is a folder of licence texts
"""
import base64
import hashlib
import os
import sys
import time
import zipfile

DESCRIPTION = "Finds races and needless waits in CUDA programs, without recompiling them"


def metadata(version, readme):
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    fields = [
        ("Metadata-Version", "2.1"), ("Name", "syncwatch"), ("Version", version), ("Summary", DESCRIPTION),
        ("License", "Apache-2.0"), ("Keywords", "cuda,gpu,race,synchronization,profiler"),
        ("Classifier", "Environment :: Console"), ("Classifier", "Environment :: GPU :: NVIDIA CUDA"),
        ("Classifier", "License :: OSI Approved :: Apache Software License"),
        ("Classifier", "Operating System :: POSIX :: Linux"), ("Classifier", "Programming Language :: C"),
        ("Classifier", "Topic :: Software Development :: Debuggers"),
        ("Requires-Python", ">=3.6"), ("Description-Content-Type", "text/markdown"),
    ]
    return "".join(f"{name}: {value}\n" for name, value in fields) + "\n" + text


def main(stage, dist, version, tag, readme, licenses):
    info = f"syncwatch-{version}.dist-info"
    files = {}  # name in the wheel: (content, executable)
    for folder, _, names in os.walk(stage):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                files[os.path.relpath(path, stage)] = (file.read(), os.access(path, os.X_OK))
    for name in os.listdir(licenses):
        with open(os.path.join(licenses, name), "rb") as file:
            files[f"{info}/licenses/{name}"] = (file.read(), False)
    wheel = f"Wheel-Version: 1.0\nGenerator: syncwatch ({version})\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    for name, text in (("METADATA", metadata(version, readme)), ("WHEEL", wheel),
                       ("entry_points.txt", "[console_scripts]\nsyncwatch = syncwatch.__main__:main\n"
                                             "[pytest11]\nsyncwatch = syncwatch.pytest_plugin\n")):
        files[f"{info}/{name}"] = (text.encode(), False)
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    rows = []
    path = os.path.join(dist, f"syncwatch-{version}-py3-none-{tag}.whl")
    with zipfile.ZipFile(path + ".tmp", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        def put(name, content, executable):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            out.writestr(entry, content)
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):
            content, executable = files[name]
            put(name, content, executable)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(content)}\n")
        put(f"{info}/RECORD", ("".join(rows) + f"{info}/RECORD,,\n").encode(), False)
    os.replace(path + ".tmp", path)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
