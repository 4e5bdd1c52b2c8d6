#!/usr/bin/env bash
# Brings Spotwarden up: on this machine alone (`./deploy.sh local`), or in a Google Cloud project.
set -euo pipefail
# shellcheck disable=SC2034 # from where files are named
here=$PWD
cd "$(dirname "$0")"
# shellcheck source=infra/bootstrap.sh
. infra/bootstrap.sh

usage() {
  cat <<'TEXT'
./deploy.sh local [--once]   Run four jobs on the embedded local cloud, each of which loses spot VMs in its own
                             way, restarts, resumes and finishes. Stays up afterwards at a terminal; ends
                             by itself with --once or without one.
./deploy.sh local --story governance [--once]
                             Run seven jobs that waste their VMs, or seem to. See which are warned, stopped
                             or left alone; two and a half hours in a minute.
./deploy.sh local --story handover [--once]
                             Take the VM of a training three times, with a notice. It loses no step; its loss is
                             drawn beside that of the same training undisturbed.
./deploy.sh gcp --project P --region R --bucket B --alert-email E [--plan | --destroy] [--yes]
                             Deploy to a Google Cloud project; the first time it only observes. Later --project
                             is enough: options are kept. See docs/deploy/README.md.
    --plan                   show what would change, and change nothing
    --destroy                remove everything but the jobs' bucket
    --enforce | --observe    let it act, or only observe; without either no change
    --job-vm A, --act-as A   a service account of job VMs, which may write to the bucket, or which recreated VMs
                             may be given; each can be repeated
    --viewer W               who may open the report, such as group:ml@example.com; can be repeated
    --mail-from S            the sender of mails, as in 'Spotwarden <spotwarden@example.com>'
    --no-links | --links     mails without links, where an organization forbids public functions; or with links
    --rotate-keys            sign links in mails with a new key; old links stay good
    --prefix F/              the folder of the bucket that holds the jobs
    --policy F               the limits (infra/policy.toml); not kept, give it each time
    --scheduler-region R, --billing-account A, --state-bucket B
    Secrets are read from the environment or from files, or asked for: SPOTWARDEN_SMTP, SPOTWARDEN_SMTP_PASSWORD
    and SPOTWARDEN_HOOKS, or each with _FILE.
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
    shift
    # shellcheck source=infra/deploy/gcp.sh
    . infra/deploy/gcp.sh
    gcp "$@"
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac
