# shellcheck shell=bash disable=SC2034,SC2154 # the parts of a deployment share their variables
# What must be so before a deployment: tools, who is logged in, the project, its billing, the bucket, rights.
# Everything is only looked at. Each refusal says what to do.

TERRAFORM_AT_LEAST=9 # of 1.x
TRY_AGAIN='then run this again'

# What whoever deploys needs on the project, one for each kind of thing that is made
# ("Method: projects.testIamPermissions" gives back those that he has).
RIGHTS=(
  artifactregistry.repositories.create
  cloudfunctions.functions.create
  cloudscheduler.jobs.create
  iam.roles.create
  iam.serviceAccounts.actAs
  iam.serviceAccounts.create
  iam.serviceAccounts.setIamPolicy
  logging.logMetrics.create
  logging.sinks.create
  monitoring.alertPolicies.create
  monitoring.dashboards.create
  monitoring.notificationChannels.create
  pubsub.subscriptions.create
  pubsub.topics.create
  pubsub.topics.setIamPolicy
  resourcemanager.projects.setIamPolicy
  run.services.setIamPolicy
  secretmanager.secrets.create
  secretmanager.secrets.setIamPolicy
  secretmanager.versions.add
  serviceusage.services.enable
  storage.buckets.create
)

check_tools() {
  command -v terraform >/dev/null 2>&1 ||
    refuse "terraform is missing; install 1.$TERRAFORM_AT_LEAST or newer (https://developer.hashicorp.com/terraform/install), $TRY_AGAIN"
  command -v gcloud >/dev/null 2>&1 ||
    refuse "gcloud is missing; install it (https://cloud.google.com/sdk/docs/install), $TRY_AGAIN"
  command -v curl >/dev/null 2>&1 || refuse "curl is missing; install it, $TRY_AGAIN"
  local version minor
  version=$(terraform version -json | sed -n 's/.*"terraform_version": *"\([^"]*\)".*/\1/p')
  minor=${version#*.}
  minor=${minor%%.*}
  [[ $version == 1.* && $minor -ge $TERRAFORM_AT_LEAST ]] ||
    refuse "terraform is ${version:-of an unknown version}; 1.$TERRAFORM_AT_LEAST or newer is needed, and none of 2.x"
}

check_login() {
  local account
  account=$(gcloud auth list --filter=status:ACTIVE --format='value(account)' 2>/dev/null) || account=''
  [ -n "$account" ] || refuse "no account is logged in. Run: gcloud auth login, $TRY_AGAIN"
  token=$(gcloud auth application-default print-access-token 2>/dev/null) || token=''
  [ -n "$token" ] ||
    refuse "Terraform has no credentials; run: gcloud auth application-default login, $TRY_AGAIN"
  say "Deploying as $account."
}

check_project() {
  local found
  found=$(gcloud projects describe "$project" --format='value(projectNumber,lifecycleState)' 2>/dev/null) ||
    refuse "unknown project $project, or you may not see it. Ask for the role Viewer on it (roles/viewer), or name another"
  number=${found%%[[:space:]]*}
  [[ $found == *ACTIVE ]] || refuse "the project $project is about to be deleted (${found##*[[:space:]]})"
}

check_billing() {
  local billing
  if ! billing=$(gcloud billing projects describe "$project" --format='value(billingEnabled)' 2>/dev/null); then
    say "Can't check whether billing is on (billing.resourceAssociations.list). Without billing, functions can't be created."
    return
  fi
  [[ ${billing,,} == true ]] ||
    refuse "billing is off for $project; link an account: gcloud billing projects link $project --billing-account=…, $TRY_AGAIN"
}

# The APIs that Terraform names and the project does not have on. It turns them on; two of them it needs before it can.
check_apis() {
  local on needed
  on=$(gcloud services list --enabled --project="$project" --format='value(config.name)' 2>/dev/null) ||
    refuse "can't list the APIs of $project; you need serviceusage.services.list (roles/serviceusage.serviceUsageAdmin)"
  needed=$(grep -oE '"[a-z]+\.googleapis\.com"' infra/terraform/services.tf | tr -d '"' | grep -v billingbudgets)
  off=()
  local api
  for api in serviceusage.googleapis.com $needed; do
    [[ $'\n'$on$'\n' == *$'\n'$api$'\n'* ]] || off+=("$api")
  done
  [ ${#off[@]} -eq 0 ] || say "APIs that are off and get turned on: ${off[*]}"
}

check_bucket() {
  local found
  if ! found=$(gcloud storage buckets describe "gs://$bucket" --raw --format='value(projectNumber)' 2>&1); then
    case "$found" in
      *403* | *ermission*) refuse "you have no access to gs://$bucket; you need storage.buckets.get and storage.buckets.setIamPolicy on it (roles/storage.admin)" ;;
      *) refuse "there is no bucket gs://$bucket; it holds the jobs, and is never created or deleted here: gcloud storage buckets create gs://$bucket --project=$project --location=$region --uniform-bucket-level-access" ;;
    esac
  fi
  [ "$found" = "$number" ] ||
    refuse "gs://$bucket is in another project (number $found; $project is $number). Use a bucket of the jobs' project"
}

# The token goes in on standard input: a command line can be read by everybody on this machine.
post() {
  printf 'header = "Authorization: Bearer %s"\n' "$token" |
    curl --silent --show-error --fail --config - --header 'Content-Type: application/json' \
      --data "$2" "https://$1" 2>/dev/null
}

check_rights() {
  local held missing=() right
  held=$(
    post "cloudresourcemanager.googleapis.com/v1/projects/$project:testIamPermissions" \
      "{\"permissions\": [$(printf '"%s",' "${RIGHTS[@]}" | sed 's/,$//')]}"
  ) || {
    say "Your rights on $project can't be checked yet (cloudresourcemanager.googleapis.com may be off). Continuing."
    return
  }
  for right in "${RIGHTS[@]}"; do
    [[ $held == *"\"$right\""* ]] || missing+=("$right")
  done
  [ ${#missing[@]} -eq 0 ] ||
    refuse "you lack on $project: ${missing[*]}; roles/owner has all, docs/deploy/README.md names smaller ones"
}
