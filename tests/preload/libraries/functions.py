#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares src/preload/libraries/functions.def with the headers of the toolkit.

usage: functions.py INCLUDE FUNCTIONS.DEF           fails where a row differs from its declaration
       functions.py --write INCLUDE LIB FUNCTIONS.DEF   writes the rows anew: what INCLUDE declares and LIB exports

A function that the headers do not declare (of an older or a newer toolkit) keeps its row, and is counted.
"""
import os
import re
import subprocess
import sys

HEADERS = {
    "cublas": ["cublas_api.h"],
    "cublasLt": ["cublasLt.h"],
    "cufft": ["cufft.h", "cufftXt.h"],
    "cusparse": ["cusparse.h"],
    "cusolver": ["cusolverDn.h", "cusolverSp.h", "cusolverRf.h"],
    "cudnn": ["cudnn_ops.h", "cudnn_cnn.h", "cudnn_adv.h", "cudnn_graph.h", "cudnn_backend.h"],
}
HANDLES = {"cublasHandle_t", "cublasLtHandle_t", "cufftHandle", "cusparseHandle_t", "cusolverDnHandle_t",
           "cusolverSpHandle_t", "cusolverRfHandle_t", "cudnnHandle_t"}
STATUS = {"cublasStatus_t", "cufftResult", "cusparseStatus_t", "cusolverStatus_t", "cudnnStatus_t"}
# What is neither work nor one of the rows below: it asks, or describes.
LEFT_OUT = re.compile(r"_bufferSize|BufferSize|_buffersize|Get(?!r[ifs])|Version|Property|Set(?!Vector|Matrix|Tensor$)|"
                      r"Logger|Destroy|Create|Estimate|Info|Algo(Init|Check)|QueryPlan|QueryRuntime|Callback|"
                      r"Descriptor$|Callback|Derive|BuildRNN|PopulateCuda|UpdateCuda|ResetPlan|_zeroPivot|XtMalloc|"
                      r"AccessBundledFactors|BatchResetValues$|ExtractBundled")
KINDS = {
    "MAKES": """cublasCreate_v2 cublasLtCreate cufftCreate cufftPlan1d cufftPlan2d cufftPlan3d cufftPlanMany
                cusparseCreate cusolverDnCreate cusolverSpCreate cusolverRfCreate cudnnCreate""",
    "BUILDS": """cufftMakePlan1d cufftMakePlan2d cufftMakePlan3d cufftMakePlanMany cufftMakePlanMany64
                 cufftXtMakePlanMany""",
    "STATE": """cublasSetStream_v2 cublasSetWorkspace_v2 cublasSetPointerMode_v2 cufftSetStream cufftSetWorkArea
                cufftSetAutoAllocation cusparseSetStream cusparseSetPointerMode cusolverDnSetStream cusolverSpSetStream
                cudnnSetStream""",
    "ENDS": """cublasDestroy_v2 cublasLtDestroy cufftDestroy cusparseDestroy cusolverDnDestroy cusolverSpDestroy
               cusolverRfDestroy cudnnDestroy""",
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names.split()}
COPIES = re.compile(r"cublas(Set|Get)(Vector|Matrix)(Async)?(_64)?$")
FLOATS = {"float", "double", "cuComplex", "cuDoubleComplex"}
WIDE = {"size_t", "int64_t", "uint64_t", "long long int", "unsigned long long", "long long"}
# Type names that are pointers although nothing in them says so, by how they end.
POINTERS = re.compile(r"(Handle_t|Desc_t|Descr_t|Descriptor_t|Layout_t|Preference_t|Pack_t|Plan_t|Info_t|Infos_t|Params_t|"
                      r"Stream_t|Graph_t|Callback_t|LogCallback)$")


def letter(argument):
    """h the handle, p pointer, l 64 bits, i 32 bits, f in a vector register, H and I where a handle or a plan is put."""
    if "*" in argument or "[" in argument:
        return "p"
    words = re.sub(r"\b(const|struct|enum)\b", "", argument).split()
    # Without a name in some declarations.
    kind = " ".join(words[:-1]) if len(words) > 1 else words[0]
    if kind in FLOATS:
        return "f"
    if kind in WIDE:
        return "l"
    return "p" if POINTERS.search(kind) else "i"


def declared(include):
    found = {}
    for library, headers in HEADERS.items():
        for header in headers:
            path = os.path.join(include, header)
            if not os.path.exists(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
            text = re.sub(r"//[^\n]*|^\s*#(\\\n|.)*", "", text, flags=re.M)
            for result, name, arguments in re.findall(r"\b(\w+)\s+(?:\w*(?:API|WINAPI)\s+)?(cu\w+)\s*\(([^;{}()]*)\)\s*;", text):
                if result in STATUS:
                    arguments = [a.strip() for a in arguments.split(",")]
                    found[name] = (library, [] if arguments in (["void"], [""]) else arguments)
    return found


def kind_of(name, arguments):
    if name in KIND_OF:
        return KIND_OF[name]
    first = arguments[0].split()[0] if arguments else ""
    if COPIES.match(name) or (first in HANDLES and "*" not in arguments[0] and not LEFT_OUT.search(name)):
        return "WORK"
    return None


def row(name, library, arguments):
    kind = kind_of(name, arguments)
    if not kind:
        return None
    letters = "".join(letter(a) for a in arguments)
    if kind == "MAKES":
        letters = ("I" if arguments[0].split()[0] == "cufftHandle" else "H") + letters[1:]
    elif not COPIES.match(name):
        letters = ("n" if arguments[0].split()[0] == "cufftHandle" else "h") + letters[1:]
    return f'{kind}({library}, {name}, "{letters}")'


def exported(folder):
    names = set()
    for library in HEADERS:
        path = os.path.join(folder, f"lib{library}.so")
        text = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        names |= {line.split()[-1].split("@")[0] for line in text.splitlines()}
    return names


def write(include, folder, path):
    with open(path, encoding="utf-8") as file:
        head = re.match(r"(?s)/\*.*?\*/\n/\*.*?\*/\n", file.read()).group(0)
    names = exported(folder)
    rows = [row(name, *what) for name, what in declared(include).items() if name in names]
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\n".join(r for r in rows if r) + "\n")


def compare(include, path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n") for line in file if re.match(r"[A-Z]+\(", line)]
    found = declared(include)
    failed = unknown = 0
    for text in rows:
        name = re.match(r"[A-Z]+\(\w+, (\w+),", text).group(1)
        if name not in found:
            unknown += 1
        elif text != row(name, *found[name]):
            failed += 1
            print(f"FAIL: {text}: the header says {row(name, *found[name])}")
    if len(set(rows)) != len(rows):
        failed += 1
        print("FAIL: a row is there twice")
    passed = len(rows) - failed - unknown
    print(f"{passed} passed, {failed} failed, {unknown} skipped")
    return failed > 0 or not rows


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write(*sys.argv[2:])
    else:
        sys.exit(compare(*sys.argv[1:]))
