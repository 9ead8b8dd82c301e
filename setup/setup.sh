#!/usr/bin/env bash
# Installs what the build and the tests need: Debian packages (as root or with sudo) and pinned wheels in ./.venv.
# Safe to repeat; the second time it only looks. `setup.sh judge` adds what only `make test-full` needs, in build/judge.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r package; do
  [[ -z $package || $package == \#* ]] && continue
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done <setup/apt-packages.txt

if ((${#missing[@]})); then
  install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if ((EUID == 0)); then run=(env DEBIAN_FRONTEND=noninteractive)
  elif sudo -n true 2>/dev/null; then run=(sudo env DEBIAN_FRONTEND=noninteractive)
  else
    echo "These packages are missing, and installing them needs root. Run this line, then make again:" >&2
    echo "  sudo ${install[*]}" >&2
    exit 1
  fi
  echo "installing ${missing[*]}"
  "${run[@]}" apt-get update -qq
  "${run[@]}" "${install[@]}" >setup.log 2>&1 || { tail -n 20 setup.log >&2; exit 1; }
  rm -f setup.log
fi

# The stamp holds the pins that were installed: other pins, or a venv that was cut short, install again.
stamp=.venv/installed-requirements.txt
if ! cmp -s setup/requirements.txt "$stamp"; then
  echo "installing wheels into .venv"
  [[ -x .venv/bin/python ]] || python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r setup/requirements.txt
  cp setup/requirements.txt "$stamp"
fi

# Debian's torch and numpy with the transformers that go with them.
stamp=build/judge/installed-requirements.txt
if [[ ${1:-} == judge ]] && ! cmp -s setup/judge-requirements.txt "$stamp"; then
  echo "installing the judge of transformers into build/judge"
  /usr/bin/python3 -m venv --system-site-packages build/judge
  build/judge/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r setup/judge-requirements.txt
  cp setup/judge-requirements.txt "$stamp"
fi
