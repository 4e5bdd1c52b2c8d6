# shellcheck shell=bash disable=SC2034,SC2154 # the parts of a deployment share their variables
# What is kept between two deployments: Terraform's state, and beside it what was said, in a bucket of its own.

KEPT=spotwarden/settings.tfvars.json

# Whether there is a state bucket; one of that name in another project is nobody's that we know.
find_state() {
  local found
  has_state=''
  if found=$(gcloud storage buckets describe "gs://$state" --raw --format='value(projectNumber)' 2>/dev/null); then
    [ "$found" = "$number" ] ||
      refuse "gs://$state is in another project; use another for the state: --state-bucket NAME"
    has_state=1
  fi
}

make_state() {
  [ -z "$has_state" ] || return 0
  say "Creating gs://$state, for Terraform's state."
  gcloud storage buckets create "gs://$state" --project="$project" --location="$region" \
    --uniform-bucket-level-access --public-access-prevention --quiet >&2 ||
    refuse "gs://$state couldn't be created: the name may be taken; choose another with --state-bucket"
  has_state=1
}

# Always, for a run that ended between the two would leave it without.
keep_versions() {
  gcloud storage buckets update "gs://$state" --versioning --quiet >&2
}

# What was said the last time, "{}" where there was none.
fetch_kept() {
  printf '{}\n' >"$work/kept.json"
  is_first=1
  [ -n "$has_state" ] || return 0
  local why
  if why=$(gcloud storage cat "gs://$state/$KEPT" 2>&1 >"$work/fetched.json"); then
    mv "$work/fetched.json" "$work/kept.json"
    is_first=''
    return
  fi
  # What cannot be read is not taken for nothing: a deployment that acts would be made to observe.
  case ${why,,} in
    *"matched no"* | *"not found"* | *404*) ;;
    *) refuse "the settings of the last deployment can't be read from gs://$state: $why" ;;
  esac
}

store_kept() {
  gcloud storage cp "$work/settings.json" "gs://$state/$KEPT" --quiet >&2
}

# settings.py: what was kept, with what is said now.
settings() {
  "$python" -S infra/deploy/settings.py "$@"
}
