# --- What Compute Engine says of this VM (Google: "View and query VM metadata"). ---

METADATA=${GCE_METADATA_HOST:-metadata.google.internal}

# The state is in memory where it can be, so that a full disk does not take it away. On a laptop, where a VM is a
# process and /run is everybody's, both are in the VM's own folder.
if [ -n "${GCE_METADATA_HOST:-}" ]; then
  STATE=$HOME/.spotwarden WORK=$HOME/spotwarden
else
  STATE=/run/spotwarden WORK=/var/lib/spotwarden
fi

# One value, such as `preempted`; 1 where there is none, 2 where nobody answers.
ask() {
  local path=$1 seconds=${2:-5} status file=$STATE/asked.$BASHPID
  REPLY=""
  if command -v curl >/dev/null; then
    : >"$file"
    status=$(exec curl -s -m "$seconds" -o "$file" -w '%{http_code}' -H 'Metadata-Flavor: Google' \
      "http://$METADATA/computeMetadata/v1/$path" 2>/dev/null)
    IFS= read -r -d '' REPLY <"$file"
  else
    ask_by_hand "$path" "$seconds"
    status=$STATUS
  fi
  case $status in
    200) ;;
    404) return 1 ;;
    *) return 2 ;;
  esac
}

# The same in an image that has no curl: bash speaks HTTP itself.
ask_by_hand() {
  local answer host=${METADATA%:*} port=80
  [[ $METADATA == *:* ]] && port=${METADATA##*:}
  STATUS=000 REPLY=""
  answer=$(
    { exec 9<>"/dev/tcp/$host/$port"; } 2>/dev/null || exit
    printf 'GET /computeMetadata/v1/%s HTTP/1.0\r\nHost: %s\r\nMetadata-Flavor: Google\r\n\r\n' "$1" "$METADATA" >&9
    timeout "$2" cat <&9
    echo .
  )
  answer=${answer%.}
  [[ $answer =~ ^HTTP/[0-9.]+\ ([0-9]+) ]] || return 0
  STATUS=${BASH_REMATCH[1]} REPLY=${answer#*$'\r\n\r\n'}
}

# All that is asked for, each into a file of its own in the folder, by one process; a value that is not set gets no file.
# Fails where the server did not answer to each.
ask_all() {
  local folder=$1 path words=() codes
  shift
  mkdir -p "$folder"
  if ! command -v curl >/dev/null; then
    for path in "$@"; do
      ask "$path"
      case $? in
        0) printf '%s' "$REPLY" >"$folder/${path##*/}" ;;
        2) return 2 ;;
      esac
    done
    return 0
  fi
  for path in "$@"; do
    words+=("http://$METADATA/computeMetadata/v1/$path" -o "$folder/${path##*/}")
  done
  codes=$(curl -s -f -m 20 -w '%{http_code} ' -H 'Metadata-Flavor: Google' "${words[@]}" 2>/dev/null)
  codes=${codes//200 /}
  [ -z "${codes//404 /}" ]
}

# Whether Compute Engine takes this VM: 0 yes, 1 no, 2 unknown.
preempted() {
  ask instance/preempted "${1:-3}" || return 2
  [ "$REPLY" = TRUE ]
}
