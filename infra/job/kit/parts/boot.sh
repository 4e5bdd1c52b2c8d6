# --- From boot to the program: who this VM is, and what the program needs. ---

main() {
  trap '' PIPE
  trap 'TAKEN=${TAKEN:-shutdown}' TERM
  (umask 077 && mkdir -p "$STATE") && rm -rf "${STATE:?}"/*
  mkfifo "$STATE/events"
  exec 5<>"$STATE/events"
  echo "$BASHPID" >"$STATE/pid"
  until read_settings; do
    say "the metadata server doesn't answer; trying again"
    sleep 2
  done
  make_place
  open_bucket
  begin_attempt || return
  loop watch_preemption
  prepare
  case $? in
    0) live ;;
    1)
      ! hands_over || announce
      ! begins_anew || { main && return; }
      ;;
    *) finish "$REFUSED" ;;
  esac
  end_loops
}

# Whether this VM, which was told of its end before it was a member, is not taken after all: it would be waited for.
begins_anew() {
  [ -n "$WAITS" ] && hands_over || return
  NOTICED=$SECONDS
  outlives_notice || return
  say "this VM was not preempted: it starts again"
  end_loops
  TAKEN=""
}

make_place() {
  setting folder
  WORK=${REPLY:-$WORK}
  NOTICE_FILE=$WORK/notice TURN_FILE=$WORK/turn CODE=$WORK/code OUTPUT=$WORK/output INPUT=$WORK/input ASIDE=$WORK/set-aside
  SENT_LIST=$WORK/sent PROGRESS=$WORK/progress HOSTFILE=$WORK/hostfile
  number heartbeat 300
  HEARTBEAT=$((REPLY ? REPLY : 300))
  # The progress is looked at once a period, and the log goes up as often at most; whether it has grown is looked at sooner.
  PERIOD=$((HEARTBEAT < 60 ? HEARTBEAT : 60)) LOG_PERIOD=$((HEARTBEAT < 2 ? HEARTBEAT : 2))
  number sync 300
  SYNC=$((REPLY ? REPLY : 300))
  number grace 10
  GRACE=$REPLY
  number notice 120
  NOTICE_SECONDS=$REPLY
  number upload-timeout 900
  PATIENCE=$REPLY
  LOOK=$((HEARTBEAT < 15 ? HEARTBEAT : 15)) VERDICT_SECONDS=$((6 * LOOK + GRACE + 60))
  mkdir -p "$CODE" "$OUTPUT" "$INPUT" "$WORK/log"
  rm -f "$TURN_FILE" "$TURN_FILE.awaited"
  find_place
  find_bending
  read_rules
}

# 1 where there is nothing to do for this VM: the job has ended, or a newer attempt has taken over.
begin_attempt() {
  local answer=0
  [ -n "$BUCKET" ] || { say "the metadata attribute spotwarden-bucket is missing; set it to the job's bucket" && return 1; }
  for_ever find_attempt || answer=$?
  echo "$ATTEMPT" >"$STATE/attempt"
  LOG=$WORK/log/$ATTEMPT.log CURVE=$WORK/log/$ATTEMPT.jsonl
  say "attempt $ATTEMPT of $JOB on $NODE ($ID) in $ZONE"
  [ "$answer" = 0 ] || fence || return 1
  if for_ever has_ended; then
    say "the job has already ended with status $REPLY; nothing is run"
    leave
    return 1
  fi
}

# Until there is an answer. Training from nothing because the bucket was away for a while would be worse than waiting.
for_ever() {
  local answer=0
  while true; do
    patiently 120 "$@" || answer=$?
    [ "$answer" = 2 ] || return "$answer"
    say "the bucket doesn't answer ($1${STATUS:+, status $STATUS}); trying again"
    answer=0
  done
}

# What the program needs. 1: this VM is taken; 2: the job cannot run, and REFUSED is the status that says why.
prepare() {
  local step answer
  for step in register find_run find_predecessor restore_now fetch_code fetch_inputs; do
    answer=0
    for_ever "$step" || answer=$?
    listen 0.01
    [ -z "$TAKEN" ] || return 1
    case $answer in
      0) ;;
      1) REFUSED=66 ;;
      *) REFUSED=77 ;;
    esac
    [ "$answer" = 0 ] || { say "failed, and won't be tried again: $step${STATUS:+ (status $STATUS)}" && return 2; }
  done
  write_environment
  write_hostfile
  [ -n "$PREDECESSOR$WAITS" ] || begin
  REFUSED=127
  choose_command || return 2
  hint_at_agent
}

# What a predecessor still writes is restored once it has handed over.
restore_now() {
  [ -z "$PREDECESSOR$WAITS" ] || return 0
  # Another node may have written a newer file of the same length.
  [ "$NODES" = 1 ] || : >"$SENT_LIST"
  restore_output
}
