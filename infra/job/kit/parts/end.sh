# --- The end: the output, the status, the VM, in this order. ---

# The program has ended by itself: its output, then the status, then the VM goes. Never the status before the output.
finish() {
  local status=$1 answer=0
  say "the program ended with status $status"
  save_output || answer=$?
  [ "$answer" = 1 ] && return
  tell_end "$status"
  write_status "$status" && leave
}

# Upload what is left. 1 where a newer attempt has taken over; where it cannot be done UNSAVED says so: 2 for now, 4 for good.
save_output() {
  local answer=0
  UNSAVED=""
  [ -n "$PROGRAM" ] || return 0
  whole_until
  WHOLE=$REPLY
  patiently "$PATIENCE" save_once || answer=$?
  if [ "$answer" -gt 1 ]; then
    UNSAVED=$answer
    say "the output couldn't be uploaded; it is in $OUTPUT on this VM, which stays"
  elif [ "$answer${WAITING:-}" = 01 ]; then
    say "the program was killed; files that may be incomplete don't replace those in the bucket"
  fi
  return "$answer"
}

# A file that may be half still goes up where the bucket has none: there is no next look, and this VM goes. What is
# missing all the same, since somebody has deleted it there, is sent once more.
save_once() {
  local answer=0
  may_write || return
  upload_output 86400 "$WHOLE" new || return
  compare_output || answer=$?
  [ "$answer" = 4 ] || return "$answer"
  : >"$SENT_LIST"
  upload_output 86400 "$WHOLE" new && compare_output
}

# Whoever has written a status before this VM was right, unless it was an older attempt. Fails where there is none to be
# written, or none can be.
write_status() {
  local answer=0
  for_ever status_once "$1" || answer=$?
  case $answer in
    0 | 3) return 0 ;;
    1) return 1 ;;
  esac
  say "the status $1 couldn't be written, so this VM stays"
  return 1
}

# A bucket that was away for longer than we are patient, and is back, gets the output first.
status_once() {
  local status=$1 answer=0
  may_write || return
  [ "${UNSAVED:-}" != 2 ] || ! save_once || UNSAVED=""
  [ -z "${UNSAVED:-}" ] || [ "$status" != 0 ] || status=74
  echo "$status" >"$STATE/code"
  put_status 0 || answer=$?
  [ "$answer" = 3 ] || return "$answer"
  answer=0
  older_status || answer=$?
  case $answer in
    1) return 3 ;;
    2) return 2 ;;
  esac
  put_status "$REPLY" || answer=$?
  # Somebody was faster: look again whose that is.
  return $((answer == 3 ? 2 : answer))
}

# Over this generation. Who reads it learns whose it is: that of an attempt that is over ends no other. The attempt comes
# last, which is what every gsutil keeps.
put_status() { put "$STATE/code" "$HERE/metadata/status-code" "$1" 60 "instance_id=$ID" "attempt=$ATTEMPT"; }

# The first node judges; the others wait until the job has a status. 0 where the program is to run once more.
finish_gang() {
  local own=$ENDED answer=0
  say "the program ended with status $own${STOPPED:+, stopped since the gang is incomplete ($PEERS_SAY)}"
  save_output || answer=$?
  [ "$answer" = 1 ] && return 1
  if [ "$PEERS_SAY" = changed ] || members_changed; then
    # What it said last is of the epoch that it leaves.
    [ -e "$STATE/fenced" ] || upload_last_log
    leave_epoch
    return 0
  fi
  [ "$answer" = 0 ] || [ "$own" != 0 ] || own=74
  tell_end "$own" "$STOPPED"
  if [ "$RANK" = 0 ]; then
    judge_gang "$own"
  else
    wait_for_verdict
  fi
  case $VERDICT in
    again) restore_again && return 0 ;;
    bent) leave_epoch && return 0 ;;
    lost) [ -z "$TAKEN" ] || hand_over ;;
    ended) leave ;;
    *) write_status "$VERDICT" && leave ;;
  esac
  return 1
}

# All nodes begin with the same files: what this one wrote is in the bucket, and what others wrote may be newer.
restore_again() {
  [ -z "${UNSAVED:-}" ] || return 0
  find "$OUTPUT" -mindepth 1 -delete
  : >"$SENT_LIST"
  for_ever restore_output && return
  REFUSED=$(($? == 1 ? 66 : 77))
  refuse_start
  return 1
}

# Nothing is left to do here: the VM deletes itself.
leave() {
  local project
  end_loops
  : >"$STATE/done"
  [ -z "${UNSAVED:-}" ] || return
  setting keep-vm
  if [ "$REPLY" = 1 ]; then
    say "the VM stays, since spotwarden-keep-vm is set"
    return
  fi
  patiently 120 ask project/project-id
  project=$REPLY
  say "deleting $VM in $ZONE"
  # From here on a shutdown is what was asked for.
  trap - TERM
  patiently 600 delete_itself "$project" && return
  say "this VM may not delete itself, so it shuts down"
  shutdown -h now
}

# By its id: a name may belong to another one some day.
delete_itself() {
  local said
  local compute=${CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE:-https://compute.googleapis.com/compute/v1/}
  if [ "$TRANSPORT" = curl ]; then
    request 60 -X DELETE -o /dev/null "${compute}projects/$1/zones/$ZONE/instances/$ID"
  else
    said=$(gcloud compute instances delete "$VM" --zone="$ZONE" --quiet 2>&1) || told "$said"
  fi
}
