# shellcheck shell=bash disable=SC2034,SC2154 # the parts of a deployment share their variables
# What `./deploy.sh gcp` was told: read and checked before anything is asked of Google.

# Says what is wrong and what to do about it, and ends.
refuse() {
  say "deploy.sh: $*"
  exit 1
}

misuse() {
  say "deploy.sh: $*"
  say "Run ./deploy.sh --help for usage."
  exit 2
}

read_arguments() {
  project='' action=deploy yes='' rotate='' mode='' links='' state=''
  policy=infra/policy.toml
  said=()
  while [ $# -gt 0 ]; do
    case "$1" in
      --plan | --destroy) set_action "${1#--}" ;;
      --enforce | --observe) set_mode "${1#--}" ;;
      --links) set_links true ;;
      --no-links) set_links false ;;
      --rotate-keys) rotate=1 ;;
      --yes) yes=1 ;;
      -h | --help)
        usage
        exit 0
        ;;
      --project | --region | --bucket | --alert-email | --prefix | --mail-from | --job-vm | --act-as | \
        --viewer | --scheduler-region | --billing-account | --state-bucket | --policy)
        [ $# -ge 2 ] || misuse "$1 needs a value"
        read_value "$1" "$2"
        shift
        ;;
      --*=*) misuse "write a space, not '=', between ${1%%=*} and its value" ;;
      *) misuse "unknown option $1" ;;
    esac
    shift
  done
  [ -n "$project" ] || misuse "--project is missing, for example: --project my-project"
  state=${state:-$project-spotwarden-state}
}

set_action() {
  [ "$action" = deploy ] || misuse "--plan and --destroy can't be used together"
  action=$1
}

set_mode() {
  [ -z "$mode" ] || misuse "--enforce and --observe can't be used together"
  mode=$1
}

set_links() {
  [ "${links:-$1}" = "$1" ] || misuse "--links and --no-links can't be used together"
  links=$1
  said+=("links=$1")
}

# A file as whoever deploys names it: this script works in a folder of its own.
from_here() {
  case $1 in
    /*) printf '%s' "$1" ;;
    *) printf '%s/%s' "$here" "$1" ;;
  esac
}

read_value() {
  local flag=$1 value=$2
  case "$flag" in
    --project) project=$value ;;
    --state-bucket) state=$value ;;
    --policy) policy=$(from_here "$value") ;;
    --alert-email) said+=("alert_email=$value") ;;
    --mail-from) said+=("mail_from=$value") ;;
    --job-vm) said+=("job_vms=$value") ;;
    --act-as) said+=("act_as=$value") ;;
    --viewer) said+=("viewers=$value") ;;
    --scheduler-region) said+=("scheduler_region=$value") ;;
    --billing-account) said+=("billing_account=$value") ;;
    *) said+=("${flag#--}=$value") ;;
  esac
  check_value "$flag" "$value"
}

check_value() {
  local flag=$1 value=$2 fits like
  case "$flag" in
    --project) fits='^[a-z][a-z0-9-]{4,28}[a-z0-9]$' like="a project's id, such as my-project-123" ;;
    --region | --scheduler-region) fits='^[a-z]+-[a-z]+[0-9]+$' like='a region without a zone, such as us-central1' ;;
    --bucket | --state-bucket) fits='^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$' like="a bucket's name, without gs:// and without a folder" ;;
    --prefix) fits='^([A-Za-z0-9._-]+/)*$' like='a path that ends in /, such as users/' ;;
    --alert-email | --job-vm | --act-as) fits='^[^@[:space:],]+@[^@[:space:],]+$' like='one mail address' ;;
    --viewer) fits='^(user|group|domain|serviceAccount):[^[:space:],]+$' like='a person as IAM writes one, such as group:ml@example.com' ;;
    --mail-from) fits='^[^@]+@[^@[:space:],]+$' like="a sender, such as 'Spotwarden <spotwarden@example.com>'" ;;
    --billing-account) fits='^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$' like='a billing account, such as 012345-6789AB-CDEF01' ;;
    *) return 0 ;;
  esac
  [[ $value =~ $fits ]] || misuse "$flag is '$value'; it is $like"
}
