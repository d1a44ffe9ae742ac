#!/usr/bin/env bash
# The main job: builds hopline, trains on the digits that the project ships, reads the model back and scores.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash .ci/build.sh hopline
mkdir -p build/digits
build/hopline scripts/examples/digits.dml -nvargs model=build/digits/model
build/hopline scripts/examples/digits-score.dml -nvargs model=build/digits/model
