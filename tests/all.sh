#!/usr/bin/env bash
# Builds everything, checks the tree and runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/build.sh
python3 .ci/check_tree.py
ctest --test-dir build --output-on-failure -j "$(nproc)"
