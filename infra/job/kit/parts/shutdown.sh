# --- Thirty seconds, then the VM is gone. ---

main() {
  local begun=$SECONDS
  mkdir -p "$STATE"
  : >"$STATE/shutdown"
  # The program gets its signal first, and the marker does not wait for it: each has the whole time.
  [ -p "$STATE/events" ] && echo shutdown 1<>"$STATE/events" >"$STATE/events"
  mark
  while [ -e "$STATE/running" ] && [ ! -e "$STATE/done" ] && [ $((SECONDS - begun)) -lt 27 ]; do
    kill -0 "$(cat "$STATE/pid")" 2>/dev/null || break
    sleep 0.1
  done
}

# Only what Compute Engine takes was preempted: not what its owner deletes, not what has ended, not what has a successor.
mark() {
  local answer=0
  patiently 8 preempted || answer=$?
  [ "$answer" = 0 ] || { say "no marker: this VM is not preempted" && return; }
  recall_settings || patiently 5 read_settings || return
  [ -n "$BUCKET" ] || return
  open_bucket
  if [ -e "$STATE/attempt" ]; then
    ATTEMPT=$(<"$STATE/attempt") NEXT=$((ATTEMPT + 1))
  else
    find_attempt
  fi
  if has_ended 3; then
    say "no marker: the job has ended"
    return
  fi
  may_write 3
  [ $? != 1 ] || return
  if patiently 16 write_marker ""; then
    say "the marker is written"
  else
    say "the marker couldn't be written; the next tick finds the VM missing"
  fi
}
