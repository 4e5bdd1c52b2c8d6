# shellcheck shell=bash
# Sourced by deploy.sh and tests/run: `bootstrap FOLDER EXTRA…` makes a virtual environment from the lock.
# uv does it where it is installed; Python's own venv and pip do otherwise.

say() { printf '%s\n' "$*" >&2; }

# The first Python of at least 3.11 that really starts (version managers put names on PATH that do not).
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  say "Python 3.11 or newer is needed and was not found on PATH; install it, or name it: PYTHON=/path/to/python3 $0"
  return 1
}

make_venv() {
  local folder=$1 python=$2
  rm -rf "$folder"
  if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --no-config --python "$python" "$folder"
  elif ! "$python" -m venv "$folder"; then
    say "this Python cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv"
    return 1
  fi
}

install() {
  local folder=$1 lock=$2
  if command -v uv >/dev/null 2>&1; then
    uv pip install --quiet --python "$folder/bin/python" --require-hashes -r "$lock"
    uv pip install --quiet --python "$folder/bin/python" --no-deps --no-build-isolation -e "$root"
  else
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e "$root"
  fi
}

bootstrap() {
  local folder=$1 python stamp
  shift
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  python=$(find_python)
  stamp="$(cat "$root/requirements.lock" "$root/pyproject.toml" "${BASH_SOURCE[0]}" | cksum) $root"
  if [ "$(cat "$folder/.made-from" 2>/dev/null)" = "$stamp" ]; then
    return
  fi
  say "Setting up $folder; this takes a minute the first time."
  make_venv "$folder" "$python"
  "$python" "$root/infra/staging/subset.py" "$root/requirements.lock" "$root/pyproject.toml" "$@" >"$folder/requirements.txt"
  install "$folder" "$folder/requirements.txt"
  printf '%s\n' "$stamp" >"$folder/.made-from"
}
