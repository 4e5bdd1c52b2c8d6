# --- The end: the output, the status, the VM, in this order. ---

# The program has ended by itself: its output, then the status, then the VM goes. Never the status before the output.
finish() {
  local status=$1 answer=0
  say "the program ended with status $status"
  save_output || answer=$?
  [ "$answer" = 1 ] && return
  if [ "$answer" != 0 ]; then
    say "the output could not be uploaded; it is in $OUTPUT on this VM, which is not deleted"
    [ "$status" != 0 ] || status=74
  fi
  beat ",\"exit\":$status"
  write_status "$status"
  case $? in
    0) ;;
    1) return ;;
    *) answer=2 ;;
  esac
  : >"$STATE/done"
  [ "$answer" != 0 ] || leave
}

save_output() {
  local cutoff
  [ -n "$PROGRAM" ] || return 0
  whole_until
  cutoff=$REPLY
  patiently "$PATIENCE" save_once "$cutoff"
}

save_once() {
  may_write || return
  upload_output "$PATIENCE" "$1"
}

# Whoever has written a status before this VM was right; 1 where a newer attempt has taken over.
write_status() {
  local answer=0
  echo "$1" >"$STATE/code"
  patiently "$PATIENCE" status_once || answer=$?
  case $answer in
    0 | 1) return "$answer" ;;
    3) return 0 ;;
  esac
  say "the status $1 could not be written"
  return 2
}

status_once() {
  may_write || return
  put "$STATE/code" "$HERE/metadata/status-code" 0 60
}

# The first node judges; the others wait until the job has a status. 0 where the program is to run once more.
finish_gang() {
  local own=$ENDED answer=0
  say "the program ended with status $own${STOPPED:+, stopped since the gang is not whole ($PEERS_SAY)}"
  save_output || answer=$?
  [ "$answer" = 1 ] && return 1
  [ "$answer" = 0 ] || [ "$own" != 0 ] || own=74
  beat ",\"exit\":$own${STOPPED:+,\"stopped\":true}"
  if [ "$RANK" = 0 ]; then
    judge_gang "$own"
  else
    wait_for_verdict
  fi
  case $VERDICT in
    again) return 0 ;;
    lost) [ -z "$TAKEN" ] || hand_over ;;
    ended) leave ;;
    *) write_status "$VERDICT" && : >"$STATE/done" && leave ;;
  esac
  return 1
}

# Nothing is left to do here: the VM deletes itself.
leave() {
  local project
  end_loops
  : >"$STATE/done"
  setting keep-vm
  if [ "$REPLY" = 1 ]; then
    say "the VM stays, as spotwarden-keep-vm says"
    return
  fi
  ask project/project-id
  project=$REPLY
  say "deleting $NODE in $ZONE"
  # From here on a shutdown is what was asked for.
  trap - TERM
  patiently 600 delete_itself "$project" && return
  say "this VM may not delete itself, and is switched off"
  shutdown -h now
}

# By its id: a name may belong to another one some day.
delete_itself() {
  local compute=${CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE:-https://compute.googleapis.com/compute/v1/}
  if [ "$TRANSPORT" = curl ]; then
    request 60 -X DELETE -o /dev/null "${compute}projects/$1/zones/$ZONE/instances/$ID"
  else
    gcloud compute instances delete "$NODE" --zone="$ZONE" --quiet || return 2
  fi
}
