#!/usr/bin/env bash
# A stage includes only stages to its left (ARCHITECTURE.md); tests are exempt.
set -euo pipefail
stages=(core stats data masking model loss game vocabulary indices decomposition sampling report audit baselines experiments)
# Promised headers live in include/hifi; each belongs to a stage.
declare -A public=([error]=core [coalition]=core [profile]=core [indices]=core [hifi]=audit)
rank() { for i in "${!stages[@]}"; do [[ ${stages[$i]} == "$1" ]] && { echo "$i"; return; }; done; echo -1; }

status=0
for file in include/hifi/*.h src/*/*.h src/*/*.cc; do
  [[ $file == *_test.cc ]] && continue
  name=$(basename "$file" .h)
  if [[ $file == include/* ]]; then stage=${public[$name]:-}; else stage=$(basename "$(dirname "$file")"); fi
  own=$(rank "$stage")
  if ((own < 0)); then echo "$file: stage \"$stage\" is not in the list of scripts/check_includes.sh"; status=1; continue; fi
  while read -r include; do
    folder=${include%%/*}; base=$(basename "$include" .h)
    [[ $folder == hifi ]] && folder=${public[$base]:-unknown}
    other=$(rank "$folder")
    if ((other < 0 || other > own)); then
      echo "$file includes $include, which is not to its left"; status=1
    fi
  done < <(sed -nE 's/^#include "([^"]+)".*/\1/p' "$file")
done
exit $status
