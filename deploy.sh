#!/usr/bin/env bash
# Brings Spotwarden up: on this machine alone (`./deploy.sh local`), or in a Google Cloud project.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=infra/bootstrap.sh
. infra/bootstrap.sh

usage() {
  cat <<'TEXT'
./deploy.sh local [--once]   Run four jobs on the embedded local cloud, each of which loses spot VMs in its own
                             way, comes back, resumes and finishes. Stays up afterwards at a terminal; ends
                             by itself with --once or without one.
./deploy.sh local --story governance [--once]
                             Run seven jobs that waste their VMs, or seem to, and see who is warned, who is
                             stopped and who is let be; two and a half hours in a minute.
./deploy.sh gcp …            Not built yet: deployment to Google Cloud. See README.md, "What is not there yet".
TEXT
}

case "${1:-}" in
  local)
    shift
    bootstrap "$PWD/.venv-local" local
    exec .venv-local/bin/spotwarden local story "$@"
    ;;
  -h | --help) usage ;;
  gcp)
    say "deployment to Google Cloud is not built yet; ./deploy.sh local runs everything on this machine"
    exit 2
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
