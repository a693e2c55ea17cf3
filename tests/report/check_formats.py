#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates what syncwatch writes for builds, by the ends of the file names: check_formats.py FILE...

.sarif        the schema of SARIF 2.1.0 (formats/sarif-2.1.0.schema.json), and what GitHub's code scanning asks for
              besides: a rule and a physical location for each result, one run
.junit.xml    well-formed; the counts of each suite are those of its cases
.gitlab.json  the members that GitLab requires, fingerprints that differ
.github.txt   each line is one command of GitHub Actions

Exit 77 (skipped) without python3-jsonschema.
"""
import json
import os
import re
import sys
import xml.etree.ElementTree

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "formats", "sarif-2.1.0.schema.json")


def require(condition, what):
    if not condition:
        raise ValueError(what)


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    require(len(keys) == len(set(keys)), f"a member stands twice among {keys}")
    return dict(pairs)


def load(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        return json.load(file, object_pairs_hook=no_duplicates)


def check_sarif(path):
    log = load(path)
    error = jsonschema.exceptions.best_match(jsonschema.Draft4Validator(load(SCHEMA)).iter_errors(log))
    require(error is None, error and f"{error.json_path}: {error.message}")
    run, = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    # Between processes: merge alone knows SW5xx.
    occur = {r["ruleId"] for r in run["results"] if not r["ruleId"].startswith("SW5")}
    golden = os.path.basename(os.path.dirname(os.path.abspath(path))) == "formats"  # without rules (test_ci.c)
    require(golden or sorted(rules) == sorted(occur), "rules: those that occur, each once")
    for rule in run["tool"]["driver"]["rules"]:
        for form in ("text", "markdown"):
            require(f"syncwatch explain {rule['id']}" in rule["help"][form], "help that says where more stands")
        require(all(before == "" or before.startswith("    ") or not code.startswith("    ") for before, code in
                    zip(rule["help"]["markdown"].split("\n"), rule["help"]["markdown"].split("\n")[1:])),
                "a blank line before code")
        require(len(rule["properties"]["tags"]) > 1, "tags")
    require(run["invocations"], "an invocation")
    for result in run["results"]:
        if not golden and not result["ruleId"].startswith("SW5"):
            require(rules[result["ruleIndex"]] == result["ruleId"], "the rule of a result")
        location = result["locations"][0]["physicalLocation"]
        require(location["artifactLocation"]["uri"] and location["region"]["startLine"] >= 1, "a place")
        require(result["partialFingerprints"]["syncwatch/v1"], "a fingerprint")
        sides = [r for r in result.get("relatedLocations", []) if r["id"] <= 2]
        flows = result["codeFlows"][0]["threadFlows"] if sides else []
        require(len(flows) == len(sides), "a thread flow for each side")
        for fix in result.get("fixes", []):
            for replacement in fix["artifactChanges"][0]["replacements"]:
                code = replacement["insertedContent"]["text"].strip()
                require(code in result["message"]["text"], "the message has the fix, too")


def check_junit(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    require(root.tag == "testsuites", "testsuites")
    for suite in root:
        cases = suite.findall("testcase")
        require(int(suite.get("tests")) == len(cases) > 0, "tests")
        require(int(suite.get("failures")) == len(suite.findall("testcase/failure")), "failures")
        float(suite.get("time"))
        require(all(case.get("name") and case.get("classname") for case in cases), "names")


def check_gitlab(path):
    issues = load(path)
    for issue in issues:
        for member in ("description", "check_name", "fingerprint"):
            require(issue[member], member)
        require(re.match(r"SW\d{3} |incomplete$", issue["check_name"]), "a name with the id")
        require(issue["severity"] in ("info", "minor", "major", "critical", "blocker"), "severity")
        require(issue["location"]["path"] and issue["location"]["lines"]["begin"] >= 1, "location")
        require(not issue["location"]["path"].startswith("./"), "GitLab does not know ./")
    fingerprints = [issue["fingerprint"] for issue in issues]
    require(len(fingerprints) == len(set(fingerprints)), "fingerprints that differ")


def check_github(path):
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            require(re.fullmatch(r"::(notice|warning|error) (file=[^,:]+(,line=[1-9]\d*)?,)?title=[^,:]+::.+", line),
                    line)


CHECKS = {".sarif": check_sarif, ".junit.xml": check_junit, ".gitlab.json": check_gitlab, ".github.txt": check_github}
failed = False
for name in sys.argv[1:]:
    check, = [check for end, check in CHECKS.items() if name.endswith(end)]
    try:
        check(name)
    except (ValueError, KeyError, IndexError, TypeError, xml.etree.ElementTree.ParseError) as wrong:
        print(f"{name}: {type(wrong).__name__}: {wrong}")
        failed = True
sys.exit(failed)
