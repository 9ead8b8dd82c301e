#!/usr/bin/env bash
# Every benchmark, one after the other; each checks its answer before it takes a time.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/bench
for source in benchmarks/*.cc; do
  name=$(basename "$source" .cc)
  echo "== $name"
  "$build/$name"
done
for script in benchmarks/*.py; do
  echo "== $(basename "$script" .py)"
  .venv/bin/python "$script" "$build"
done
