# --- The marker: this node was shut down while its job was running. ---

# write_marker [EARLY [SECONDS]]: a try that takes longer than that is given up. EARLY is "early", or "handed-over" once
# the program has stopped, and what it wrote is uploaded.
write_marker() {
  local early=${1:+, \"early\": true} moment
  [ "$1" != handed-over ] || early+=', "handed_over": true'
  printf -v moment '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  printf '{"job": "%s", "node": "%s", "instance_id": "%s", "zone": "%s", "attempt": %s, "at": "%s"%s}' \
    "$JOB" "$NODE" "$ID" "$ZONE" "$ATTEMPT" "$moment" "$early" >"$STATE/marker.$BASHPID"
  put "$STATE/marker.$BASHPID" "${PREFIX}preempted-jobs/$NODE" "" "${2:-6}"
}

# Whether the job has its status, which is then in REPLY: 0 yes, 1 no, 2 unknown. What an older attempt has written late is
# none: this one goes on.
has_ended() {
  local file=$STATE/status.$BASHPID answer=0
  get "$HERE/metadata/status-code" "$file" "${1:-20}" || return
  older_status "${1:-20}" || answer=$?
  case $answer in
    0) return 1 ;;
    2) return 2 ;;
  esac
  read -r REPLY <"$file"
  return 0
}

# Whether the status is of an older attempt, by its metadata, and then its generation in REPLY: 0 yes, 1 no, 2 unknown. What
# its developer launches by hand after the end is on no record, and has to take the status back first.
older_status() {
  local file=$STATE/described.$BASHPID answer=0 said
  describe "$HERE/metadata/status-code" "$file" "${1:-20}" || answer=$?
  case $answer in
    0) ;;
    1 | 2) return 2 ;; # Gone since we have seen it, or no answer: look again.
    *) return 1 ;;
  esac
  described "$file" attempt || return 1
  said=${REPLY:0:9}
  # This very VM, started again in its place, has written it as what it was then.
  ! described "$file" instance_id || [ "$REPLY" != "$ID" ] || return 1
  [ "$((10#$said))" -lt "$ATTEMPT" ] || return 1
  get "$HERE/metadata/attempts/$ATTEMPT.json" "$file.record" "${1:-20}" || return
  described "$file" '[gG]eneration'
}
