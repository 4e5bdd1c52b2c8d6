# --- The hand-over: a program that is told some minutes before trains on until its successor waits for it. ---

# There while this VM hands over; every process of the kit looks at it. So is what lets the program begin.
HANDING=$STATE/handing-over BEGUN=$STATE/begun
# Seconds after the end of the notice at which a successor begins by itself.
HANDOVER_MARGIN=60
# Seconds that a VM waits for a predecessor that nothing takes: it may have died just then.
MOVE_WAIT=600
PREDECESSOR="" STANDBY="" NOTICED=0

# --- The VM that will be taken. ---

# Whether it was told beforehand, and nobody has pressed the power button yet.
hands_over() {
  setting early
  [[ $TAKEN == preempted || $TAKEN == moved ]] && [ -n "${REPLY#0}" ] && [ ! -e "$STATE/shutdown" ]
}

# Call the successor, or the other nodes of a gang, and train on until just enough of the notice is left to stop and to upload
# what is new. 1 where a gang goes on, since the notice is no longer so.
use_notice() {
  local most again="" look=0
  NOTICED=$SECONDS
  number reserve 30
  most=$((NOTICE_SECONDS - REPLY))
  # The others wait for a member that waits for them: it says at once that it does not come.
  [ -z "$WAITS" ] || most=0
  : >"$HANDING"
  say "this VM will be $TAKEN in $NOTICE_SECONDS s; the program continues for $((most > 0 ? most : 0)) s more"
  ask_for_checkpoint
  [ "$TAKEN" = moved ] || loop announce
  [ "$NODES" = 1 ] || again=$((NOTICED + NOTICE_SECONDS / 2)) look=$((SECONDS + TOLD_LOOK))
  while [ -z "$ALL_SAID$FENCED$PEERS_SAY" ] && [ ! -e "$STATE/shutdown" ] && [ $((SECONDS - NOTICED)) -lt "$most" ] && program_runs; do
    listen 1
    [ "$NODES" != 1 ] || continue
    if [ "$SECONDS" -ge "$look" ]; then
      look=$((SECONDS + TOLD_LOOK))
      ! is_called_off || return 1
    fi
    if [ -n "$again" ] && [ "$SECONDS" -ge "$again" ]; then
      again=""
      ask_for_checkpoint
    fi
  done
  return 0
}

# Whether Compute Engine no longer says that it takes this VM; then all is as before it said so. Recovery clears the marker.
is_called_off() {
  preempted 5
  [ $? = 1 ] || return
  say "the preemption is called off: the program continues"
  forget_notice
}

forget_notice() {
  rm -f "$HANDING" "$STATE/announced" "$NOTICE_FILE" "$NOTICE_FILE.stop"
  TAKEN=""
  loop watch_preemption
}

# Whether this job may be moved while it runs, and the program has begun here.
may_move() {
  setting early
  [ "$NODES" = 1 ] && [ -n "${REPLY#0}" ] && [ -e "$BEGUN" ]
}

# Nothing else may be written for minutes: a move is looked for by itself.
watch_moves() {
  while sleep "$MOVE_PERIOD"; do
    may_write
  done
}
MOVE_PERIOD=30

# Whether a record, in REPLY, is that of a move of this VM's job: until it runs elsewhere, the program goes on here.
planned_move() { replaced_early && [[ $REPLY =~ \"planned\":\"[^\"] ]]; }

# Whether a record, in REPLY, is that of a move; once the VM that the job moves to is there, that is told.
note_move() {
  planned_move || return
  [[ $REPLY == *'"state":"running"'* ]] && [ ! -e "$STATE/moved" ] || return 0
  : >"$STATE/moved"
  echo moved 1<>"$STATE/events" >"$STATE/events"
}

# Whether the job has moved away from this VM: nothing else takes it.
has_moved() {
  local file=$STATE/next.$BASHPID
  get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 || return
  read_record "$file"
  planned_move && [[ $REPLY == *'"state":"running"'* ]]
}

announce() {
  may_write 3
  [ $? != 1 ] || return
  patiently 20 write_marker early || return
  : >"$STATE/announced"
  say "the early marker is written"
}

# Ask the program for a checkpoint in the way that it knows; it goes on afterwards. A file says it in any case.
ask_for_checkpoint() {
  : >"$NOTICE_FILE"
  setting checkpoint
  case ${REPLY:=SIGUSR1} in
    none) ;;
    file:*) (cd "$CODE" && touch -- "${REPLY#file:}") || say "couldn't request the checkpoint by $REPLY" ;;
    command:*)
      # What a loop begins ends with it.
      if [ "$BASHPID" = "$$" ]; then loop run_checkpoint_command "${REPLY#command:}"; else run_checkpoint_command "${REPLY#command:}" & fi
      ;;
    *) signal_catchers "$REPLY" ;;
  esac
}

run_checkpoint_command() {
  local line
  while IFS= read -r line; do
    export "${line?}"
  done <"$STATE/environment"
  cd "$CODE" && bash -c "$1"
  say "the command that asks for a checkpoint ended with status $?"
}

# Signal the processes of the program that catch this signal: all others would die of it.
signal_catchers() {
  local name=${1#SIG} code pid count=0 inner=""
  code=$(kill -l "$name" 2>/dev/null)
  [[ $name =~ ^[0-9]+$ ]] && code=$name
  if [[ ! $code =~ ^[0-9]+$ ]]; then
    say "spotwarden-checkpoint: $1 is not a valid signal; write SIGUSR1, file:PATH, command:LINE or none"
    return
  fi
  [ -z "${ENGINE:-}" ] || inner=$(timeout 5 "$ENGINE" inspect -f '{{.State.Pid}}' "spotwarden-$NODE" 2>/dev/null)
  find_tree "$PROGRAM" ${inner:+"$inner"}
  for pid in "${TREE[@]}"; do
    catches "$pid" "$code" && kill -s "$code" "$pid" 2>/dev/null && count=$((count + 1))
  done
  say "asked for a checkpoint: $count processes catch $1"
}

# These processes and all below them, in TREE: what starts a session of its own is no longer in the program's group.
find_tree() {
  local file line place
  local -A below=()
  for file in /proc/[0-9]*/stat; do
    { IFS= read -r line <"$file"; } 2>/dev/null || continue
    [[ ${line##*) } =~ ^[A-Z]\ ([0-9]+)\  ]] && below[${BASH_REMATCH[1]}]+=" ${line%% *}"
  done
  TREE=("$@")
  for ((place = 0; place < ${#TREE[@]}; place++)); do
    # shellcheck disable=SC2206 # numbers
    TREE+=(${below[${TREE[place]}]:-})
  done
}

# Whether a process has a handler for the signal of this number (proc_pid_status(5): SigCgt). Bash has one for each signal
# that would end it, and then ends: what it runs has to be asked in another way.
catches() {
  local line program
  program=$(readlink "/proc/$1/exe" 2>/dev/null)
  [ "${program##*/}" != bash ] || return 1
  while IFS= read -r line; do
    [[ $line =~ ^SigCgt:[[:space:]]*([0-9a-f]+)$ ]] && return $(((16#${BASH_REMATCH[1]} >> ($2 - 1) & 1) == 0))
  done < <(cat "/proc/$1/status" 2>/dev/null)
  return 1
}

# What the newest heartbeat of this node says: BEAT_ATTEMPT, BEAT_ID, BEAT_STATUS, BEAT_STANDBY and its BEAT_GENERATION, 0
# for none.
find_beat() {
  local LINE file=$STATE/found-beat.$BASHPID answer=0
  BEAT_ATTEMPT=0 BEAT_ID="" BEAT_STATUS="" BEAT_STANDBY="" BEAT_GENERATION=0
  describe "${PREFIX}heartbeats/$NODE" "$file" "${1:-20}" || answer=$?
  [ "$answer" != 1 ] || return 0
  [ "$answer" = 0 ] || return 2
  described "$file" '[gG]eneration' || return 2
  BEAT_GENERATION=$REPLY LINE=$(<"$file")
  # A VM of the same name elsewhere may be another job's.
  member job && [ "$REPLY" = "$JOB" ] || return 0
  member attempt && [[ $REPLY =~ ^[0-9]{1,9}$ ]] && BEAT_ATTEMPT=$((10#$REPLY))
  member instance_id && BEAT_ID=$REPLY
  member status && BEAT_STATUS=$REPLY
  member standby && BEAT_STANDBY=$REPLY
  return 0
}

# Whether the next attempt, whose record is in REPLY, is our successor and has not begun: 0 yes, 1 no, 2 not known.
successor_waits() {
  local file=$STATE/after.$BASHPID
  replaced_early || return 1
  get "$HERE/metadata/attempts/$((NEXT + 1)).json" "$file" "$1"
  case $? in
    0) return 1 ;;
    1) ;;
    *) return 2 ;;
  esac
  find_beat "$1" || return
  [ "$BEAT_ATTEMPT" -le "$ATTEMPT" ]
}

# Whether a record, in REPLY, stands in for this VM while it still runs.
replaced_early() { [[ $REPLY =~ \"replaces\":\{[^}]*\"$ID\" && $REPLY == *'"early":true'* ]]; }

# The last heartbeat: from here on the successor may begin. Over the heartbeat that was read, so that of the two, this one
# and that of a successor that waits no longer, there is only one.
tell_handed_over() {
  find_beat || return
  [ "$BEAT_ATTEMPT" -le "$ATTEMPT" ] || fence || return
  BEAT_OVER=$BEAT_GENERATION beat handed-over
  case $? in
    3) return 2 ;;
    *) return ;;
  esac
}

# All is handed over, and nothing has taken this VM. Where a successor runs it goes by itself; 0 where there is none, and
# Compute Engine no longer says that it will be taken.
outlives_notice() {
  local due=$((NOTICED + NOTICE_SECONDS + HANDOVER_MARGIN)) file=$STATE/next.$BASHPID
  trap 'exit 0' TERM
  while [ ! -e "$STATE/shutdown" ]; do
    sleep $((HEARTBEAT < 5 ? HEARTBEAT : 5))
    [ "${NODES:-1}" -gt 1 ] || [ "$SECONDS" -ge "$due" ] || continue
    get "$HERE/metadata/attempts/$NEXT.json" "$file" 20
    case $? in
      0)
        if goes_on_without_me "$file"; then
          preempted 5
          [ $? != 1 ] || break
          continue
        fi
        successor_runs || continue
        say "this VM was not preempted, and its successor runs"
        leave
        return 1
        ;;
      # Longer than recovery believes an early marker, so that nothing is begun beside this one. Beside a gang nothing is.
      1) { [ "${NODES:-1}" = 1 ] && [ "$SECONDS" -lt $((due + UNBELIEVED)) ]; } || preempted 5 || [ $? != 1 ] || break ;;
    esac
  done
  trap 'TAKEN=${TAKEN:-shutdown}' TERM
  [ ! -e "$STATE/shutdown" ]
}
UNBELIEVED=300

# Whether another VM is registered as this node, or has begun.
successor_runs() {
  get "$REGISTRATION" "$STATE/seen" 20 || return
  REPLY=$(<"$STATE/seen")
  [ "${REPLY//[[:space:]]/}" != "$ID" ]
}

# The notice came to nothing: the program runs once more, from what it has written.
take_back() {
  say "this VM was not preempted and has no successor: the program runs again"
  rm -f "$STATE/done"
  forget_notice
}

# The others have stopped as well: the first node has all run the program again. Those of a gang that bends may go on
# already: then this node waits to be one of them again. Fails where there is nothing to run.
return_to_gang() {
  local file=$STATE/next.$BASHPID
  if [ -n "$WAITS" ] || { get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 && goes_on_without_me "$file"; }; then
    leave_epoch
    FENCED="" && rm -f "$STATE/fenced"
    return
  fi
  # It has not handed over any more.
  patiently 20 write_marker early
  STOPPED=1 PEERS_SAY=lost
  finish_gang || return
  end_loops
  loop watch_preemption
  PEERS_SAY=""
}

# --- The VM that comes after it. ---

# The VM that still ran when this attempt was claimed, in PREDECESSOR, and until when it may: "" where nobody is waited for.
find_predecessor() {
  local file=$STATE/record.$BASHPID record created
  PREDECESSOR=""
  [ "$NODES" = 1 ] || return 0
  get "$HERE/metadata/attempts/$ATTEMPT.json" "$file" 20
  case $? in
    0) ;;
    1) return 0 ;;
    *) return 2 ;;
  esac
  read_record "$file"
  record=$REPLY
  [[ $record == *'"early":true'* && $record =~ \"replaces\":\{[^}]*\"$NODE\":\"([0-9]+)\" ]] || return 0
  [ "${BASH_REMATCH[1]}" != "$ID" ] || return 0
  PREDECESSOR=${BASH_REMATCH[1]}
  now
  [[ $record =~ \"created\":\"([^\"]+)\" ]] && created=$(date -d "${BASH_REMATCH[1]}" +%s 2>/dev/null)
  # By the clock, and by the time since then on this VM, whatever its clock says.
  BEGIN_AT=$((${created:-$REPLY} + NOTICE_SECONDS + HANDOVER_MARGIN))
  BEGIN_AFTER=$((SECONDS + NOTICE_SECONDS + HANDOVER_MARGIN))
  if [[ $record =~ \"planned\":\"[^\"] ]]; then
    # Nothing takes the predecessor: it hands over once it has seen that this VM is there.
    BEGIN_AT=9999999999 BEGIN_AFTER=$((SECONDS + MOVE_WAIT))
  fi
  say "instance $PREDECESSOR still runs: the program starts once it has handed over"
}

# From here on the program may read and write its output.
begin() { : >"$BEGUN" && : >"$TURN_FILE"; }

# Its setup runs meanwhile, and a program that waits for its turn. Fails where the output cannot be restored.
await_predecessor() {
  local answer=0
  while [ -n "$PREDECESSOR" ] && [ -z "$ALL_SAID$TAKEN$FENCED" ]; do
    if predecessor_is_done; then
      PREDECESSOR=""
      keep_standby
      for_ever restore_output || answer=$?
      REFUSED=$((answer == 1 ? 66 : 77))
      [ "$answer" = 0 ] || return 1
      break
    fi
    listen 1
  done
  [ -n "$PREDECESSOR$WAITS" ] || begin
}

# The program on the old VM knows how to wait for its turn: here it starts already, since its imports may take longest.
stand_by() {
  [ -z "$STANDBY" ] || return 0
  STANDBY=1
  say "the program starts early, and waits until it may continue"
  : >"$STATE/standby"
}

# The one that has started before its turn goes on if it waits, and has written nothing; any other starts again, for it may
# have looked for a checkpoint before there was one.
keep_standby() {
  local pid
  if [ -z "$STANDBY" ] || mv "$STATE/standby" "$STATE/not-started" 2>/dev/null; then
    return 0
  fi
  if [ -e "$TURN_FILE.awaited" ] && [ -z "$(find "$OUTPUT/" ! -type d -print -quit)" ]; then
    : >"$STATE/kept"
    return 0
  fi
  say "the program hasn't reached its wait, or has written output: it is restarted"
  # Until the shell around it has seen its end: a moment ago it may not have been there to be killed.
  while [ -e "$STATE/started" ] && program_runs; do
    [ -z "${ENGINE:-}" ] || timeout 5 "$ENGINE" kill "spotwarden-$NODE" >/dev/null 2>&1
    find_tree "$PROGRAM"
    for pid in "${TREE[@]:1}"; do
      kill -KILL "$pid" 2>/dev/null
    done
    sleep 0.1
  done
}

# Whether it writes nothing more: it has said so, or its time is over, and then it learns that this one has begun.
predecessor_is_done() {
  find_beat || return
  [ "$BEAT_ATTEMPT" -lt "$ATTEMPT" ] || return 0
  if [ "$BEAT_ID" = "$PREDECESSOR" ]; then
    if [ -n "$BEAT_STATUS" ] && [ "$BEAT_STATUS" != running ]; then
      say "instance $PREDECESSOR has handed over"
      return 0
    fi
    [ -z "$BEAT_STANDBY" ] || stand_by
  fi
  now
  [ "$REPLY" -ge "$BEGIN_AT" ] || [ "$SECONDS" -ge "$BEGIN_AFTER" ] || return 2
  BEAT_OVER=$BEAT_GENERATION beat || return 2
  say "instance $PREDECESSOR has not handed over in time; the program starts with what is in the bucket"
}
