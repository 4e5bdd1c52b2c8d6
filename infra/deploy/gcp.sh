# shellcheck shell=bash disable=SC2034,SC2154 # the parts of a deployment share their variables
# `./deploy.sh gcp`: looks, plans, asks once, applies, and has the doctor look. Again and again without harm.

for part in arguments checks state secrets terraform; do
  # shellcheck source=/dev/null
  . "infra/deploy/$part.sh"
done

# "Access change propagation": grants that were just made hold everywhere in two minutes as a rule, in seven at times.
PAUSE=120   # seconds between two tries of a first deployment, of which there are
TRIES=3     # as many
PATIENCE=7m # how long the doctor waits for a sign of life; no longer than it must

gcp() {
  umask 077
  keep_secrets
  export CLOUDSDK_CORE_DISABLE_PROMPTS=1
  ((BASH_VERSINFO[0] * 10 + BASH_VERSINFO[1] >= 44)) || refuse "bash is $BASH_VERSION; 4.4 or newer is needed"
  read_arguments "$@"
  work=$PWD/build/deploy/$project
  mkdir -p "$work"
  python=$(find_python)
  check_tools
  check_login
  check_project
  find_state
  fetch_kept
  if [ "$action" = destroy ]; then
    destroy
    return
  fi
  settle_settings
  check_billing
  check_bucket
  check_apis
  check_rights
  stage
  look_at_secrets
  settings merge "$work/settings.json" "$work/settings.json" "${versions[@]}" >/dev/null
  show_plan
  if [ "$action" = plan ]; then
    say "Nothing was changed."
    return
  fi
  if [ -n "$changes" ] || [ ${#fresh[@]} -gt 0 ]; then
    ask "Apply this to $project?"
    carry_out
  else
    say "Everything is up to date."
  fi
  finish
}

# What holds now: what was kept, and what is said. A first deployment observes, whatever is said.
settle_settings() {
  if [ -n "$is_first" ]; then
    [ "$mode" != enforce ] ||
      refuse "a first deployment only observes. Deploy without --enforce and check what it would do. Then use --enforce"
    mode=observe
  fi
  [ -z "$mode" ] || said+=("mode=$mode")
  local told
  told=$(settings merge "$work/kept.json" "$work/settings.json" "project=$project" "${said[@]}") || exit 2
  { read -r region && read -r bucket && read -r prefix && read -r mode && read -r email; } <<<"$told"
}

stage() {
  venv=${SPOTWARDEN_VENV:-}
  if [ -z "$venv" ]; then
    venv=$PWD/.venv-local
    bootstrap "$venv" local
  fi
  "$venv/bin/spotwarden" policy check "$policy" >&2 || refuse "the policy $policy has errors; nothing was changed"
  "$venv/bin/python" infra/staging/stage.py --out "$PWD/build" --policy "$policy" >&2 ||
    refuse "staging failed; nothing was changed"
}

show_plan() {
  tf_folder=infra/terraform
  if [ -n "$has_state" ]; then
    init
  else
    say "There is no gs://$state yet: this is all that a first deployment creates, besides that bucket."
    init_without_state
  fi
  # A look takes no lock: that would be a change of the bucket.
  plan "-lock=$([ "$action" = plan ] && echo false || echo true)"
}

ask() {
  [ -z "$yes" ] || return 0
  [ -t 0 ] || refuse "this is not a terminal. To continue without a question, add --yes"
  local answer
  read -rp "$1 [y/N] " answer
  [[ ${answer,,} == y || ${answer,,} == yes ]] || refuse "nothing was changed"
}

carry_out() {
  local first=("${off[@]}") anew=''
  if [ -z "$has_state" ] || [ -n "$unplaced" ]; then
    anew=1
  fi
  turn_on_first "${first[@]}"
  make_state
  keep_versions
  if [ -n "$anew" ]; then
    tf_folder=infra/terraform
    rm -rf "$work/terraform" "$work/copy"
    init
    [ -z "$unplaced" ] || apply_places || {
      say "An API that was just turned on may need a minute or two: waiting, then trying again."
      sleep "$PAUSE"
      apply_places || refuse "the secrets couldn't be created; see Terraform's messages above, then run this again"
    }
    add_secrets
    plan
  else
    add_secrets
  fi
  # Before, so that one that is broken off can be carried on, or removed, without saying everything again.
  store_kept
  apply_patiently "$anew"
}

# Terraform turns on what it names; to do so it needs these two.
turn_on_first() {
  local api
  for api in "$@"; do
    case "$api" in
      serviceusage.* | cloudresourcemanager.*)
        gcloud services enable "$api" --project="$project" --quiet >&2 ||
          refuse "$api is off and cannot be turned on; you need serviceusage.services.enable"
        ;;
    esac
  done
}

# The first time something that rests on a grant may come before it holds, and the next try finds it.
apply_patiently() {
  local left=$TRIES
  [ -n "$1" ] || left=1
  make_agents
  until apply; do
    ((--left)) ||
      refuse "terraform apply failed. Fix what it reports above, then run this again. Nothing is lost"
    say "New grants may need some minutes to take effect: waiting, then trying again."
    sleep "$PAUSE"
    make_agents
    plan
  done
}

# Google makes its agents when they are first needed, and nobody can be granted anything before he is there ("Create and
# grant roles to service agents"). One that is there already stays as it is.
make_agents() {
  local api
  for api in pubsub logging; do
    post "serviceusage.googleapis.com/v1beta1/projects/$number/services/$api.googleapis.com:generateServiceIdentity" '{}' \
      >/dev/null || say "Google's agent of $api couldn't be requested. Continuing, since it may exist."
  done
}

finish() {
  local answers
  answers=$(tf output -raw answers 2>/dev/null) || answers=''
  say "Deployed to $project, mode $mode. The doctor looks at it:"
  SPOTWARDEN_PROJECT=$project SPOTWARDEN_BUCKET=$bucket SPOTWARDEN_PREFIX=$prefix \
    SPOTWARDEN_NOTICES=$(notices_topic) SPOTWARDEN_ANSWERS=$answers SPOTWARDEN_POLICY=$policy \
    "$venv/bin/spotwarden" doctor --region "$region" --build "$PWD/build" --within "$PATIENCE" \
    --mail-to "$email" ||
    refuse "deployed, but spotwarden doctor found problems. docs/deploy/README.md explains each line"
  [ "$mode" = enforce ] || say "It only observes. To let it act: ./deploy.sh gcp --project $project --enforce"
}

notices_topic() {
  sed -n 's/^  notices: *//p' infra/functions.yaml
}

destroy() {
  [ -n "$has_state" ] && [ -z "$is_first" ] ||
    refuse "gs://$state has no deployment in $project"
  cp "$work/kept.json" "$work/settings.json"
  bucket=$(settings get "$work/settings.json" bucket)
  stage
  tf_folder=infra/terraform
  init
  plan -destroy
  ask "Remove Spotwarden from $project? gs://$bucket and all jobs stay."
  apply || refuse "not everything could be removed. Fix what Terraform reports above, then run this again"
  gcloud storage rm "gs://$state/$KEPT" --quiet >&2 || true
  say "Removed. What stays: gs://$bucket with everything in it (ours is below spotwarden/), gs://$state with the old state,"
  say "the APIs that were turned on, and for some weeks the custom roles, which Google only marks as deleted."
}
