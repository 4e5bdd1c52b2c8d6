# --- While the program runs: what happens to it, and what is told of it. ---

# What happens is told by a word in a pipe: ended, shutdown, preempted, fenced, peers.
TAKEN="" FENCED="" PEERS_SAY="" PROGRAM="" ALL_SAID="" LOOPS=() HALF=""

# For so many seconds at most. A word that comes as they end is read by halves, and bash gives out the first one.
listen() {
  local line
  IFS= read -r -t "$1" -u 5 line || { HALF+=$line && return 0; }
  line=$HALF$line HALF=""
  case ${line%% *} in
    ended) ALL_SAID=1 ;;
    shutdown | preempted | moved) TAKEN=${TAKEN:-$line} ;;
    fenced) FENCED=1 ;;
    peers) PEERS_SAY=${line#peers } ;;
  esac
}

# A background loop in a process group of its own, so that it ends with all that it has started.
loop() {
  set -m
  "$@" 5>&- </dev/null &
  LOOPS+=($!)
  set +m
}

end_loops() {
  local one
  for one in "${LOOPS[@]}"; do
    kill -KILL -- "-$one" 2>/dev/null
    wait "$one" 2>/dev/null
  done
  LOOPS=()
}

watch_preemption() {
  while true; do
    if preempted 5; then
      echo preempted >"$STATE/events"
      return
    fi
    ask "instance/preempted?wait_for_change=true&timeout_sec=60" 70 || sleep 2
  done
}

# The heartbeat at its period, whatever the program does; what it measures is looked at more often.
send_beats() {
  local due=0 waits=""
  while true; do
    # That the program waits for its turn is told as soon as it is known: its successor may be called at any moment.
    [ -n "$waits" ] || [ ! -e "$TURN_FILE.awaited" ] || due=0 waits=1
    if [ "$SECONDS" -lt "$due" ]; then
      look_at_progress
    elif beat; then
      due=$((SECONDS + HEARTBEAT))
    fi
    keep_figures
    sleep "$PERIOD"
  done
}

# The log whenever it has grown. Each upload is a write of the whole: the first comes within seconds, and those that
# follow each other each wait twice as long as the one before, up to the period. After a silence a line goes up at once.
send_log() {
  local due=0 pause=$LOG_PERIOD size
  while sleep "$LOG_PERIOD"; do
    size=$(exec stat -Lc %s "$LOG" 2>/dev/null)
    if [ "$SECONDS" -ge "$due" ] && [ "${size:-0}" != "${OLD_LOG_SIZE:-0}" ] && may_write; then
      upload_log
      due=$((SECONDS + pause)) pause=$((2 * pause < PERIOD ? 2 * pause : PERIOD))
    fi
  done
}

# Where nothing has changed nobody is asked whether this VM may still write.
send_output() {
  local try ASKS=1
  while pause_sync; do
    for try in 1 2 3; do
      upload_output 86400
      [ "${WAITING:-0}" = 1 ] && [ "$try" -lt 3 ] || break
      sleep 2
    done
  done
}

# The pause between two looks at the output; while this VM, or another one of its gang, is being taken, whatever is new goes
# up at once.
pause_sync() {
  local due=$((SECONDS + SYNC))
  sleep 1
  while [ "$SECONDS" -lt "$due" ] && [ ! -e "$HANDING" ] && [ ! -e "$HURRY" ]; do
    sleep "$LOG_PERIOD"
  done
}

# Run the program, as often as the others of a gang come back, until there is something to end with.
live() {
  EPOCH=$ATTEMPT
  while true; do
    : >"$STATE/running"
    rm -f "$STATE/progress-at"
    start_program
    [ -n "$WAITS" ] || loop send_log
    begin_with_members || return
    await_predecessor || { refuse_start && return; }
    [ ! -e "$BEGUN" ] || { loop send_beats && loop send_output; }
    [ "$NODES" = 1 ] || loop watch_peers
    ! may_move || loop watch_moves
    [ "$NODES$BENDS" = 1 ] || loop watch_members
    if wait_for_end && [ -z "$FENCED" ]; then
      hand_over
      [ -e "$HANDING" ] && outlives_notice || return
      take_back
      [ "$NODES" = 1 ] || return_to_gang || return
      continue
    fi
    if [ -n "$FENCED" ]; then
      ! give_way || return
      continue
    fi
    STOPPED=${PEERS_SAY:+1}
    end_loops
    stop_program "$GRACE"
    keep_tpu_logs
    if [ "$NODES$BENDS" = 1 ]; then
      finish "$ENDED"
      return
    fi
    loop watch_preemption
    finish_gang || return
    end_loops
    loop watch_preemption
    PEERS_SAY=""
  done
}

# Until something ends the program here: 0 where the VM is taken, and its notice is used up.
wait_for_end() {
  while true; do
    while [ -z "$ALL_SAID$TAKEN$FENCED$PEERS_SAY" ] && program_runs; do
      listen 1
    done
    taken_meanwhile || return
    ! hands_over || use_notice || continue
    return 0
  done
}

# A member of a gang that bends begins with the others. Its log goes up from then on, under the number of their attempt.
begin_with_members() {
  local answer=0
  [ -n "$WAITS" ] || return 0
  await_members || answer=$?
  [ "$answer" != 1 ] || return 1
  name_log
  if [ "$answer" = 2 ]; then
    refuse_start
    return 1
  fi
  loop send_log
}

# What a member has printed since it waits becomes the log of the attempt that it begins with, behind what it printed in
# that before its VM was restarted. The file stays the one that is written to.
name_log() {
  LOG=$WORK/log/$ATTEMPT.log CURVE=$WORK/log/$ATTEMPT.jsonl OLD_LOG_SIZE=""
  [ "$SPOKEN" != "$LOG" ] || return 0
  if [ -s "$LOG" ]; then
    cat "$LOG" "$SPOKEN" >"$LOG.whole" && cat "$LOG.whole" >"$SPOKEN"
    rm -f "$LOG.whole"
  fi
  mv -f "$SPOKEN" "$LOG" && SPOKEN=$LOG
}

# What it begins with cannot be had.
refuse_start() {
  stop_program 2
  end_loops
  say "failed, and won't be tried again: restore_output${STATUS:+ (status $STATUS)}"
  finish "$REFUSED"
}

# A program that ends while its VM is taken has not ended by itself, whoever told it.
taken_meanwhile() {
  [ -n "$TAKEN" ] && return
  [ ! -e "$STATE/shutdown" ] || TAKEN=shutdown
  [ -z "$ALL_SAID" ] || ! preempted 3 || TAKEN=${TAKEN:-preempted}
  [ -n "$TAKEN" ]
}

# Up to which moment what was written is whole: a program that was killed may have been writing.
whole_until() {
  now
  [ "$ENDED" -lt 128 ] && [ -z "$KILLED" ] && REPLY=9999999999
  # Of a program that we killed it is then, however long it took to hear its last.
  REPLY=$((${KILLED:-$REPLY} - 2))
}

# Another VM goes on with the job. What this one has trained since then is lost. 1 where a gang that bends went on without
# it since it was told of its end, which did not come: then it waits to join.
give_way() {
  end_loops
  stop_program 2
  say "the program was stopped: a newer attempt has taken over the job"
  if wants_me_back; then
    UNSAVED=""
    leave_epoch
    FENCED="" && rm -f "$STATE/fenced"
    loop watch_preemption
    return 1
  fi
  if has_moved || [ -n "$BENDS" ]; then
    # The name of a node that is no member is free for the one that takes its place.
    leave
  fi
}

# The VM is being taken, or shut down: some seconds for the program, the rest for what it wrote.
hand_over() {
  local end=$((SECONDS + 25)) answer=0 early whole
  setting early
  early=${REPLY#0}
  if [ -e "$HANDING" ] && [ ! -e "$STATE/shutdown" ]; then
    # The power button comes once the notice is over, and thirty seconds later the end.
    end=$((NOTICED + NOTICE_SECONDS + 20 > end ? NOTICED + NOTICE_SECONDS + 20 : end))
  fi
  end_loops
  say "this VM will be ${TAKEN/shutdown/shut down}: the program gets $GRACE s"
  stop_program "$GRACE"
  keep_tpu_logs
  whole_until
  whole=$REPLY
  if may_write 3 || [ $? = 2 ]; then
    # What it said comes first: it is small, and the output may take all the time that there is.
    OLD_LOG_SIZE=""
    upload_log 5
    [ ! -e "$BEGUN" ] || upload_last "$end" "$whole" || answer=$?
    say "output: ${UPLOADED:-0} changed files, $([ "$answer" = 0 ] && echo "all uploaded" || echo "not all uploaded")"
    # Then it stays, with what it has.
    [ "$answer" = 0 ] || UNSAVED=2
    if [ "$TAKEN" = preempted ] && [ -n "$early" ] && [ ! -e "$STATE/shutdown" ] && [ ! -e "$STATE/announced" ]; then
      patiently 20 write_marker early && say "the early marker is written"
    fi
    [ "$SECONDS" -ge "$end" ] || say_last
    [ "${NODES:-1}" = 1 ] || [ ! -e "$HANDING" ] || [ "$TAKEN" != preempted ] || tell_recovery
  fi
  : >"$STATE/done"
}

# Those of a gang that bends go on without this node as soon as recovery knows that it has stopped.
tell_recovery() { patiently 20 write_marker handed-over; }

# upload_last END WHOLE: the output, as often as there is time for: an object takes one write a second, and its newest
# version may have gone up a moment ago.
upload_last() {
  local answer
  while true; do
    upload_output $(($1 - SECONDS)) "$2" "" newest
    answer=$?
    # 4: a name that no object can have, which no second try changes.
    case $answer in 0 | 4) return "$answer" ;; esac
    [ $((SECONDS + 3)) -lt "$1" ] || return "$answer"
    sleep 1
  done
}

# The last heartbeat. One that has waited for its predecessor, and never begun, leaves that one's as it is.
say_last() {
  [ -e "$BEGUN" ] || return 0
  if [ ! -e "$HANDING" ]; then
    tell_end stopped
    return
  fi
  patiently 10 tell_handed_over && say "handed over"
  keep_figures
  # The one before may have come within a second of another write, which is refused.
  log_is_sent || { sleep 1 && upload_log; }
}
