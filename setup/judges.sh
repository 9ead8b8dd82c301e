#!/usr/bin/env bash
# The heavy judges of `make test-full`, in ./.judges beside Debian's torch: transformers, Captum, Quantus. Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=.judges/installed-requirements.txt
if ! cmp -s setup/judges-requirements.txt "$stamp"; then
  echo "installing judges into .judges"
  [[ -x .judges/bin/python ]] || /usr/bin/python3 -m venv --system-site-packages .judges
  # Their own lists ask for a torch of PyPI, which Debian's is in place of: all they need is in the file.
  .judges/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r setup/judges-requirements.txt
  cp setup/judges-requirements.txt "$stamp"
fi
