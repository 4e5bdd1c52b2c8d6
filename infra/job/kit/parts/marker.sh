# --- The marker: this node was shut down while its job was running. ---

# write_marker [EARLY [SECONDS]]: a try that takes longer than that is given up.
write_marker() {
  local early=$1 moment
  printf -v moment '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  printf '{"job": "%s", "node": "%s", "instance_id": "%s", "zone": "%s", "attempt": %s, "at": "%s"%s}' \
    "$JOB" "$NODE" "$ID" "$ZONE" "$ATTEMPT" "$moment" "${early:+, \"early\": true}" >"$STATE/marker.$BASHPID"
  put "$STATE/marker.$BASHPID" "${PREFIX}preempted-jobs/$NODE" "" "${2:-6}"
}

# Whether the job has its status, which is then in REPLY: 0 yes, 1 no, 2 unknown.
has_ended() {
  local file=$STATE/status.$BASHPID
  get "$HERE/metadata/status-code" "$file" "${1:-20}" || return
  read -r REPLY <"$file"
  return 0
}
