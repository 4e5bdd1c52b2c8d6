# shellcheck shell=bash
# Sourced by deploy.sh and tests/run: `bootstrap FOLDER EXTRA…` makes a virtual environment from the lock.
# uv does it where it is installed; Python's own venv and pip do otherwise.

say() { printf '%s\n' "$*" >&2; }

# The first Python of at least 3.11 that really starts (version managers put names on PATH that do not).
find_python() {
  local candidate found
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    [ -n "$candidate" ] || continue
    if found=$("$candidate" -S -c 'import sys; sys.version_info < (3, 11) and sys.exit(1); print(getattr(sys, "_base_executable", "") or sys.executable)' 2>/dev/null); then
      printf '%s\n' "$found"
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

# Every second package of a list of requirements, from the first (1) or the second (0) on.
half() { awk -v which="$1" '/^[^ ]/ {count++} count % 2 == which' "$2"; }

# The lock names every package that there must be: nothing else is looked for.
pip_install() {
  local folder=$1
  shift
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$@"
}

# The locked pip comes first, for an older one takes twice as long to choose among many wheels; then half the
# packages on each of two cores.
install_by_pip() {
  local folder=$1 lock=$2 first second failed=0
  awk '/^[^ ]/ {wanted = /^pip==/} wanted' "$lock" >"$folder/pip.txt"
  pip_install "$folder" --require-hashes -r "$folder/pip.txt" || return 1
  half 1 "$lock" >"$folder/first.txt"
  half 0 "$lock" >"$folder/second.txt"
  pip_install "$folder" --no-compile --require-hashes -r "$folder/first.txt" &
  first=$!
  pip_install "$folder" --no-compile --require-hashes -r "$folder/second.txt" &
  second=$!
  wait "$first" || failed=1
  wait "$second" || failed=1
  [ "$failed" = 0 ] && pip_install "$folder" --no-build-isolation -e "$root"
}

install() {
  local folder=$1 lock=$2
  if command -v uv >/dev/null 2>&1; then
    uv pip install --quiet --python "$folder/bin/python" --require-hashes -r "$lock"
    uv pip install --quiet --python "$folder/bin/python" --no-deps --no-build-isolation -e "$root"
  else
    install_by_pip "$folder" "$lock"
  fi
}

# On all cores, and without what few processes start with. Some packages carry files that this Python cannot read.
compile() {
  "$1/bin/python" -m compileall -qq -j 0 -x '/(mypy|mypyc|pip|playwright|pygments|setuptools)/' "$1/lib" || true
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
  compile "$folder"
  printf '%s\n' "$stamp" >"$folder/.made-from"
}
