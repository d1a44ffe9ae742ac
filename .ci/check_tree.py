#!/usr/bin/env python3
"""Checks that no compiler makes: format, include layers, file lengths. Prints each breach; exits 1 when there is one."""
import re
import subprocess
import sys

files = subprocess.run(["git", "ls-files", "*.cc", "*.h", "*.def"], capture_output=True, text=True, check=True).stdout.split()
code = [f for f in files if f.endswith((".cc", ".h"))]
faults = []

# Who may include whom (design 1). "" stands for the folder's own files.
LAYERS = {
    "runtime/base": ["runtime/base"],
    "runtime": ["runtime"],
    "frontend/syntax": ["runtime/base", "runtime/data", "frontend/syntax"],
    "frontend": ["runtime", "frontend"],
    "planner": ["runtime", "frontend", "planner"],
    "api": ["runtime", "frontend", "planner", "api"],
    "cli": ["runtime", "frontend", "api", "cli"],
}
FOLDERS = ("runtime/", "frontend/", "planner/", "api/", "cli/", "gpu/", "tests/")
for f in code:
    layer = max((k for k in LAYERS if f.startswith(k + "/")), key=len, default=None)
    text = open(f, encoding="utf-8").read()
    for include in re.findall(r'#include "([^"]+)"', text):
        if layer and include.startswith(FOLDERS) and not any(include.startswith(a + "/") for a in LAYERS[layer]):
            faults.append(f"{f}: {layer} may not include {include}")
    most = 800 if f.startswith(("runtime/ops/", "gpu/kernels/")) or f.startswith("tests/") else 400
    lines = text.count("\n")
    if lines > most:
        faults.append(f"{f}: {lines} lines, at most {most}")

badly = subprocess.run(["clang-format", "--dry-run", "-Werror", *code], capture_output=True, text=True)
faults += sorted({line.split(":")[0] + ": not formatted" for line in badly.stderr.splitlines() if "error:" in line})
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
