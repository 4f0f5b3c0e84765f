#!/usr/bin/env bash
# Makes .venv from the hash-locked requirements, after the Debian packages that it and the demo need.
# With --tests also what only the tests need. Does nothing that is done already.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(python3-venv python3-dev gcc pkg-config libmariadb-dev mariadb-server-core mariadb-client-core gettext)
if [[ "${1:-}" == "--tests" ]]; then
  packages+=(chromium fonts-noto-cjk git)
fi

say() { printf '\033[1m==> %s\033[0m\n' "$*"; }
fail() { printf '\033[31mSetup stopped: %s\033[0m\n' "$*" >&2; exit 1; }

python=${PYTHON:-python3}
command -v "$python" >/dev/null || fail "python3 is missing. Run: apt-get install python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "Python 3.11 or newer is needed; set PYTHON to one."

installed() { [[ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" == "install ok installed" ]]; }
missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
  done
fi
if ((${#missing[@]})); then
  say "Debian packages: ${missing[*]}"
  root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "not root and no sudo. As root run: apt-get install ${missing[*]}"
    if [[ -t 0 ]]; then
      read -r -p "Install them with sudo? [y/N] " answer
      [[ "$answer" == [yY]* ]] || fail "they are needed. As root run: apt-get install ${missing[*]}"
    else
      sudo -n true 2>/dev/null || fail "sudo needs a password and nobody can type it. As root run: apt-get install ${missing[*]}"
    fi
    root=(sudo)
  fi
  log=$(mktemp)
  if ! { "${root[@]}" apt-get update -q && "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    fail "apt-get could not install the packages; see above. Check the network and /etc/apt/sources.list."
  fi
  rm -f "$log"
fi

stamp=.venv/requirements.sha256
wanted=$(sha256sum requirements-dev.txt | cut -d' ' -f1)
if [[ ! -x .venv/bin/python ]] || ! .venv/bin/python -c '' 2>/dev/null; then
  say "Virtual environment .venv"
  rm -rf .venv
  "$python" -m venv .venv || fail "the virtual environment could not be made. Run: apt-get install python3-venv"
fi
if [[ "$(cat "$stamp" 2>/dev/null || true)" != "$wanted" ]]; then
  say "Python packages, some 120 with their hashes checked; the first time this takes a minute or two"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --use-pep517 -r requirements-dev.txt ||
    fail "pip could not install requirements-dev.txt; see above. Check the network, then run the same again."
  echo "$wanted" >"$stamp"
fi

for catalogue in locale/*/LC_MESSAGES/*.po; do
  [[ -e "$catalogue" ]] || continue
  if [[ "$catalogue" -nt "${catalogue%.po}.mo" ]]; then
    msgfmt --check-format -o "${catalogue%.po}.mo" "$catalogue" || fail "the translations in $catalogue are not valid."
  fi
done
