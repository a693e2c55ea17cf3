#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates reports: check_schema.py SCHEMA REPORT...

The schema is made strict first (no members that it does not describe), so that a member which the writer adds without
describing it fails here.  Exit 77 (skipped) without python3-jsonschema.
"""
import json
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f"a member stands twice among {keys}")
    return dict(pairs)


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def strict(node):
    if isinstance(node, dict):
        if "properties" in node:
            node.setdefault("additionalProperties", False)
        for value in node.values():
            strict(value)
    elif isinstance(node, list):
        for value in node:
            strict(value)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    strict(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = False
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8", errors="strict") as file:
            report = json.load(file, object_pairs_hook=no_duplicates, parse_constant=no_constant)
        for error in validator.iter_errors(report):
            print(f"{path}: {error.json_path}: {error.message}")
            failed = True
    return failed


sys.exit(main())
