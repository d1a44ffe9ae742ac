#!/usr/bin/env bash
# Installs the Debian packages that are missing and builds into build/. Arguments are ninja targets.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=$(for p in $(cat .ci/packages); do dpkg -s "$p" >/dev/null 2>&1 || echo "$p"; done)
if [ -n "$missing" ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  # shellcheck disable=SC2086
  apt-get install -q -y --no-install-recommends $missing
fi
cmake -S . -B build -G Ninja
ninja -C build "$@"
