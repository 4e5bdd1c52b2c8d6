# shellcheck shell=bash disable=SC2034,SC2154 # the parts of a deployment share their variables
# Secrets: their values are in this shell and in Secret Manager, and nowhere else. They reach gcloud on its standard
# input, never on a command line, and Terraform only hears of the numbers of their versions.

SIGNING=SPOTWARDEN_SIGNING_KEYS
OLD_KEYS=2 # links in old mails stay good for so many rotations

# The environment variables of the manifest that are secrets.
secret_names() {
  grep -oE '^ +- SPOTWARDEN_[A-Z_]+$' infra/functions.yaml | tr -d ' -' | sort -u
}

# No tool that is started from here inherits one, and no trace of this shell shows one.
keep_secrets() {
  local name
  case $- in
    *x*)
      set +x
      say "Tracing is turned off: it would show secrets."
      ;;
  esac
  for name in $(secret_names); do
    export -n "${name?}"
  done
}

secret_id() {
  local id=${1,,}
  printf '%s' "${id//_/-}"
}

# What is to be done about each secret: sets `versions` (for Terraform), `fresh` (values to add), `unplaced`.
# A new version's number is foretold, so that the plan that is shown is the one that is applied.
look_at_secrets() {
  local name current newest value
  versions=() unplaced=''
  declare -gA fresh=() expected=()
  for name in $(secret_names); do
    current='' newest=0
    if is_placed "$name"; then
      current=$(newest_version "$name" --filter=state:enabled)
      newest=$(newest_version "$name")
    else
      unplaced=1
    fi
    value=$(given "$name" "$current")
    if [ "$name" = "$SIGNING" ] && { [ -z "$current" ] || [ -n "$rotate" ]; } && [ -z "$value" ]; then
      value=$(new_keys "$current")
    fi
    if [ -n "$value" ] && [ "$value" != "$(secret_value "$name" "$current")" ]; then
      fresh[$name]=$value
      current=$((${newest:-0} + 1))
      expected[$name]=$current
      say "Secret $(secret_id "$name"): version $current is new."
    fi
    [ -z "$current" ] || versions+=("secret_versions.$name=$current")
  done
}

# Whether it has a place. What cannot be told is not taken for a no: new signing keys would end all links that were sent.
is_placed() {
  local said
  [[ " ${off[*]} " != *" secretmanager.googleapis.com "* ]] || return 1
  said=$(gcloud secrets describe "$(secret_id "$1")" --project="$project" --format='value(name)' 2>&1) && return
  case ${said,,} in
    *not_found* | *"not found"*) return 1 ;;
    *) refuse "the secret $(secret_id "$1") cannot be looked at; you need secretmanager.secrets.get: $said" ;;
  esac
}

newest_version() {
  gcloud secrets versions list "$(secret_id "$1")" --project="$project" "${@:2}" \
    --sort-by=~createTime --limit=1 --format='value(name.basename())' 2>/dev/null ||
    refuse "the versions of $(secret_id "$1") cannot be listed; you need secretmanager.versions.list"
}

secret_value() {
  [ -n "$2" ] || return 0
  gcloud secrets versions access "$2" --secret="$(secret_id "$1")" --project="$project" 2>/dev/null || true
}

# The value that was given: NAME in the environment, or the file that NAME_FILE names; else, the first time and at a
# terminal, what is typed.
given() {
  local name=$1 current=$2 file=${1}_FILE value=''
  if [ -n "${!name:-}" ]; then
    value=${!name}
  elif [ -n "${!file:-}" ]; then
    [ -r "$(from_here "${!file}")" ] || refuse "$file names ${!file}, which can't be read"
    value=$(<"$(from_here "${!file}")")
  elif [ -z "$current" ] && [ "$name" != "$SIGNING" ] && [ "$action" = deploy ] && [ -z "$yes" ] && [ -t 0 ]; then
    read -rsp "$name (nothing for none; docs/notices says what it looks like): " value
    say ''
  fi
  printf '%s' "$value"
}

# A new key in front: it signs, and the old ones still verify.
new_keys() {
  local old='' last=0 key
  if [ -n "$1" ]; then
    old=$(secret_value "$SIGNING" "$1")
    [ -n "$old" ] || refuse "the signing keys cannot be read, so they cannot be rotated; you need secretmanager.versions.access"
    last=$(tr ',' '\n' <<<"$old" | sed -n 's/^k\([0-9]*\):.*/\1/p' | sort -n | tail -1)
    old=,$(tr ',' '\n' <<<"$old" | head -"$OLD_KEYS" | paste -sd, -)
  fi
  key=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')
  # An empty key would sign as well, and everybody could.
  [[ $key =~ ^[A-Za-z0-9_-]{43}=$ ]] || refuse "couldn't create a signing key: head, base64 or tr of this machine fails; nothing was deployed"
  printf 'k%d:%s%s' $((${last:-0} + 1)) "$key" "$old"
}

add_secrets() {
  local name added
  for name in "${!fresh[@]}"; do
    added=$(printf '%s' "${fresh[$name]}" |
      gcloud secrets versions add "$(secret_id "$name")" --project="$project" --data-file=- \
        --format='value(name.basename())' --quiet) ||
      refuse "no version of $(secret_id "$name") could be added; you need secretmanager.versions.add"
    [ "$added" = "${expected[$name]}" ] ||
      refuse "someone else added a version of $(secret_id "$name") meanwhile ($added, not ${expected[$name]}); run this again"
  done
}
