# --- From boot to the end. ---

# What happens is told by a word in a pipe: ended, shutdown, preempted, fenced, peers.
TAKEN="" FENCED="" PEERS_SAY="" PROGRAM="" ALL_SAID="" LOOPS=()

listen() {
  local word more
  read -r -t "$1" -u 5 word more || return 0
  case $word in
    ended) ALL_SAID=1 ;;
    shutdown | preempted) TAKEN=${TAKEN:-$word} ;;
    fenced) FENCED=1 ;;
    peers) PEERS_SAY=$more ;;
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

main() {
  trap '' PIPE
  trap 'TAKEN=${TAKEN:-shutdown}' TERM
  (umask 077 && mkdir -p "$STATE") && rm -rf "${STATE:?}"/*
  mkfifo "$STATE/events"
  exec 5<>"$STATE/events"
  echo "$BASHPID" >"$STATE/pid"
  until read_settings; do
    say "the metadata server does not answer; asking again"
    sleep 2
  done
  make_place
  open_bucket
  begin_attempt || return
  loop watch_preemption
  prepare
  case $? in
    0) live ;;
    1) ;;
    *) finish "$REFUSED" ;;
  esac
  end_loops
}

make_place() {
  setting folder
  WORK=${REPLY:-$WORK}
  CODE=$WORK/code OUTPUT=$WORK/output INPUT=$WORK/input ASIDE=$WORK/set-aside
  SENT_LIST=$WORK/sent PROGRESS=$WORK/progress HOSTFILE=$WORK/hostfile
  number heartbeat 60
  HEARTBEAT=$((REPLY ? REPLY : 60))
  number sync 300
  SYNC=$((REPLY ? REPLY : 300))
  number grace 10
  GRACE=$REPLY
  number patience 900
  PATIENCE=$REPLY
  LOOK=$((HEARTBEAT < 15 ? HEARTBEAT : 15)) VERDICT_SECONDS=$((6 * LOOK + GRACE + 60))
  mkdir -p "$CODE" "$OUTPUT" "$INPUT" "$WORK/log"
  find_place
  read_rules
}

# 1 where there is nothing to do for this VM: the job has ended, or a newer attempt has taken over.
begin_attempt() {
  local answer=0
  [ -n "$BUCKET" ] || { say "no bucket: the metadata attribute spotwarden-bucket is not set" && return 1; }
  for_ever find_attempt || answer=$?
  echo "$ATTEMPT" >"$STATE/attempt"
  LOG=$WORK/log/$ATTEMPT.log CURVE=$WORK/log/$ATTEMPT.jsonl
  say "attempt $ATTEMPT of $JOB on $NODE ($ID) in $ZONE"
  [ "$answer" = 0 ] || fence || return 1
  if for_ever has_ended; then
    say "the job has ended already, with status $REPLY: nothing is run"
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
    say "the bucket does not answer ($1${STATUS:+, status $STATUS}); asking again"
    answer=0
  done
}

# What the program needs. 1: this VM is taken; 2: the job cannot run, and REFUSED is the status that says why.
prepare() {
  local step answer
  for step in register find_run restore_output fetch_code fetch_inputs; do
    answer=0
    for_ever "$step" || answer=$?
    listen 0.01
    [ -z "$TAKEN" ] || return 1
    case $answer in
      0) ;;
      1) REFUSED=66 ;;
      *) REFUSED=77 ;;
    esac
    [ "$answer" = 0 ] || { say "this failed for good: $step" && return 2; }
  done
  write_environment
  write_hostfile
  REFUSED=127
  choose_command || return 2
  [ ! -e /dev/nvidia0 ] || [ -d /opt/google-cloud-ops-agent ] ||
    say "GPUs are not measured: there is no Ops Agent here. Google's \"Install the Ops Agent\" says how to add it."
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

send_beats() {
  while true; do
    beat
    sleep "$HEARTBEAT"
  done
}

send_output() {
  local try
  while sleep "$SYNC"; do
    for try in 1 2 3; do
      may_write && upload_output "$SYNC"
      [ "${WAITING:-0}" = 1 ] && [ "$try" -lt 3 ] || break
      sleep 2
    done
  done
}

# Run the program, as often as the others of a gang come back, until there is something to end with.
live() {
  while true; do
    : >"$STATE/running"
    start_program
    loop send_beats
    loop send_output
    [ "$NODES" = 1 ] || loop watch_peers
    while [ -z "$ALL_SAID$TAKEN$FENCED$PEERS_SAY" ] && program_runs; do
      listen 1
    done
    if [ -n "$TAKEN" ]; then
      hand_over
      return
    fi
    if [ -n "$FENCED" ]; then
      give_way
      return
    fi
    STOPPED=${PEERS_SAY:+1}
    end_loops
    stop_program "$GRACE"
    if [ "$NODES" = 1 ]; then
      finish "$ENDED"
      return
    fi
    loop watch_preemption
    finish_gang || return
    end_loops
    PEERS_SAY=""
  done
}

# Up to which moment what was written is whole: a program that was killed may have been writing.
whole_until() {
  now
  [ "$ENDED" -lt 128 ] && [ -z "$KILLED" ] && REPLY=9999999999
  REPLY=$((REPLY - 2))
}

# Another VM goes on with the job. What this one has trained since then is lost.
give_way() {
  end_loops
  stop_program 2
  say "the program was stopped: a newer attempt goes on with the job"
}

# The VM is being taken, or shut down: some seconds for the program, the rest for what it wrote.
hand_over() {
  local end=$((SECONDS + 25)) answer=0 early whole
  setting early
  early=${REPLY#0}
  end_loops
  say "this VM is to be ${TAKEN/shutdown/shut down}: the program gets $GRACE s"
  stop_program "$GRACE"
  whole_until
  whole=$REPLY
  if may_write 3 || [ $? = 2 ]; then
    upload_output $((end - SECONDS)) "$whole" || answer=$?
    say "the output: $UPLOADED files had changed, $([ "$answer" = 0 ] && echo "all are uploaded" || echo "not all could be uploaded")"
    if [ "$TAKEN" = preempted ] && [ -n "$early" ] && [ ! -e "$STATE/shutdown" ]; then
      patiently 20 write_marker early && say "the early marker is written"
    fi
    OLD_LOG_SIZE=""
    [ "$SECONDS" -ge "$end" ] || beat ',"stopped":true'
  fi
  : >"$STATE/done"
}

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

main
