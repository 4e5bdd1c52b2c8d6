# shellcheck shell=bash disable=SC2034,SC2154 # the parts of a deployment share their variables
# Terraform, as a deployment uses it: its working files are below build/, its state in the state bucket.

tf() {
  local plain=''
  [ -t 2 ] || plain=-no-color
  TF_DATA_DIR="$work/terraform" TF_IN_AUTOMATION=1 TF_CLI_ARGS=$plain terraform -chdir="${tf_folder:-infra/terraform}" "$@"
}

init() {
  tf init -input=false -reconfigure -backend-config="bucket=$state" -backend-config=prefix=spotwarden >&2 ||
    refuse "terraform init failed; see its messages above"
}

# Before there is a state bucket: from a copy whose state is a file that nobody keeps. Nothing is made.
init_without_state() {
  local copy="$work/copy/infra"
  rm -rf "$work/copy" "$work/terraform"
  mkdir -p "$copy"
  cp -R infra/terraform "$copy/terraform"
  cp infra/functions.yaml "$copy/functions.yaml"
  printf 'terraform {\n  backend "local" {}\n}\n' >"$copy/terraform/state_override.tf"
  tf_folder=$copy/terraform
  tf init -input=false >&2 || refuse "terraform init failed; see its messages above"
}

# Plans into a file; sets `changes` where there is anything to do.
plan() {
  local status=0
  changes=''
  tf plan -input=false -detailed-exitcode -var-file="$work/settings.json" -var="build=$PWD/build" \
    -out="$work/plan" "$@" >&2 || status=$?
  case $status in
    0) ;;
    2) changes=1 ;;
    *) refuse "terraform plan failed; see its messages above" ;;
  esac
}

apply() {
  tf apply -input=false "$work/plan" >&2
}

# The places of secrets come first: what is in them is added before anything asks for it.
apply_places() {
  tf apply -input=false -auto-approve -var-file="$work/settings.json" -var="build=$PWD/build" \
    -target=google_secret_manager_secret.secret >&2
}
