#!/usr/bin/env bash
# scripts/fuzz.sh BUILD SECONDS: every fuzz target of BUILD for so many seconds. A failure leaves its input in
# BUILD/fuzz_NAME.failure; `BUILD/fuzz_NAME 0 BUILD/fuzz_NAME.failure` tries it again.
set -euo pipefail
build=$(realpath "$1")
seconds=$2
cd "$(dirname "$0")/.."
# What a parser allocates must be bounded by the file; the plug-in of the tables leaks at exit by design.
export ASAN_OPTIONS=max_allocation_size_mb=2048:allocator_may_return_null=0:detect_leaks=0
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT

"$build/hifi" demo --keep "$seeds/demo" --quiet >/dev/null
run=("$build/hifi" explain --model "$seeds/demo/model.json" --data "$seeds/demo/data.csv" --target y --background mean --quiet)
"${run[@]}" --features unique,copy_a --exact --out "$seeds/exact.hifi"
"${run[@]}" --policy paper --budget 4000 --out "$seeds/paper.hifi"

small() { find tests/fixtures/"$1" -type f -size -40k \( "${@:2}" \) | sort; }
declare -A files=(
  [xgboost]="$(small xgboost -name '*.json' -o -name '*.ubj')"
  [lightgbm]="$(small lightgbm -name '*.txt')"
  [onnx]="$(small onnx -name '*.onnx')"
  [run_file]="$seeds/exact.hifi $seeds/paper.hifi"
  [tables]="tests/fixtures/xgboost/rows.csv"
  [planted]=""
)
for target in xgboost lightgbm onnx run_file tables planted; do
  # shellcheck disable=SC2086
  "$build/fuzz_$target" "$seconds" ${files[$target]}
done
