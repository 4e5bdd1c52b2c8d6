# --- Several nodes: each knows its rank, the first one judges for all. ---
# A program whose peer is gone fails as well, and that is no failure of the job. So a node says in a last heartbeat how
# its program ended, and the first node writes the job's status once it has heard of all; where one has been taken away
# nobody writes a status, and the gang is started anew as one.

# The nodes that are told that they will be taken, and for which of them this one has saved already.
TOLD_PEERS="" SAVED_FOR="" SAVE_AGAIN="" HURRY=$STATE/hurry
# Seconds between two looks for a node that is told.
TOLD_LOOK=5

find_place() {
  local rank
  value NODES
  NODES=${REPLY:-1}
  [[ $NODES =~ ^[1-9][0-9]{0,4}$ ]] || NODES=1
  BASE=$NODE RANK=0 WIDTH=1
  if [ "$NODES" -gt 1 ] && [[ $NODE =~ ^(.*[^0-9])(0*)([1-9][0-9]*)$ ]]; then
    BASE=${BASH_REMATCH[1]} RANK=$((BASH_REMATCH[3] - 1))
    # `bulk create` fills up with zeros: train-01 to train-16.
    [ -z "${BASH_REMATCH[2]}" ] || WIDTH=$((${#BASH_REMATCH[2]} + ${#BASH_REMATCH[3]}))
  fi
  setting rank
  rank=$REPLY
  [[ $rank =~ ^[0-9]{1,5}$ ]] && RANK=$((10#$rank))
  value MASTER_ADDR
  MASTER=$REPLY
  # Of train-16 alone nobody could tell whether it goes with train-1 or train-01.
  [[ ${MASTER%%.*} =~ ^(.*[^0-9])(0*1)$ && ${BASH_REMATCH[1]} = "$BASE" ]] && WIDTH=${#BASH_REMATCH[2]}
  peer 0
  [ "$NODES" -gt 1 ] || REPLY=localhost
  MASTER=${MASTER:-$REPLY}
  # On a laptop all nodes are one computer, and their names mean nothing to it.
  [ -n "${GCE_METADATA_HOST:-}" ] && MASTER=127.0.0.1
  value MASTER_PORT
  PORT=${REPLY:-29500}
}

# The name of a node by its rank: among the members of a gang that bends, else by its number.
peer() {
  printf -v REPLY '%s%0*d' "$BASE" "$WIDTH" $(($1 + 1))
  REPLY=${MEMBERS[$1]:-$REPLY}
}

# For MPI: a line for each node, with as many slots as it has GPUs, or one.
write_hostfile() {
  local place gpus=0 one
  for one in /dev/nvidia[0-9]*; do
    [ -e "$one" ] && gpus=$((gpus + 1))
  done
  for ((place = 0; place < NODES; place++)); do
    peer "$place"
    [ "$NODES" -gt 1 ] || REPLY=localhost
    echo "$REPLY slots=$((gpus ? gpus : 1))"
  done >"$HOSTFILE"
}

# Look at the others, each some seconds, and tell the main loop what it has to know. Who is told that it will be taken is
# looked for more often where nodes are told: all have to save at once.
watch_peers() {
  local pause=$LOOK due
  setting early
  [ -z "${REPLY#0}" ] || pause=$((LOOK < TOLD_LOOK ? LOOK : TOLD_LOOK))
  due=$((SECONDS + LOOK - pause))
  rm -f "$HURRY"
  while sleep "$pause"; do
    PEERS=""
    if [ -n "$TOLD_PEERS" ] || [ "$SECONDS" -ge "$due" ]; then
      look_at_peers
      due=$((SECONDS + LOOK - pause))
    else
      look_at_markers
    fi
    save_with_peers
    save_to_join
    # That all others have succeeded ends no program that still runs: the last to save is often the first node.
    [ -z "${PEERS#succeeded}" ] || echo "peers $PEERS" >"$STATE/events"
  done
}

# Another node is told that it will be taken: what it has seen of the work is lost with it. So all save at once, and once
# more when half of the notice is over, and train on until it stops.
save_with_peers() {
  if [ -z "$TOLD_PEERS" ]; then
    SAVED_FOR="" && rm -f "$HURRY"
  elif [ -e "$HANDING" ] || [ "$PEERS" = lost ]; then
    return 0
  elif [ "$SAVED_FOR" != "$TOLD_PEERS" ]; then
    SAVED_FOR=$TOLD_PEERS SAVE_AGAIN=$((SECONDS + NOTICE_SECONDS / 2))
    : >"$HURRY"
    say "another node will be preempted: the program saves, and continues until that node stops"
    ask_for_checkpoint
  elif [ -n "$SAVE_AGAIN" ] && [ "$SECONDS" -ge "$SAVE_AGAIN" ]; then
    SAVE_AGAIN=""
    ask_for_checkpoint
  fi
}

# PEERS becomes "lost" where one was taken away, "ended" where the program of one has failed or the first node has
# stopped, "ahead" where that runs once more, "succeeded" where all others have, else "". The first node looks at all,
# the others at the first one, whose run is in LEAD.
look_at_peers() {
  local place last=$((RANK == 0 ? NODES - 1 : 0)) well=0
  PEERS=""
  look_at_markers && [ -z "$PEERS" ] || return 0
  for place in $TOLD_PEERS; do
    place=${place%%@*}
    peer "$place"
    describe "${PREFIX}heartbeats/$REPLY" "$STATE/peer-$place" 20 || continue
    ! run_of "$place" || [ -z "$HANDED" ] || [ "$LEAD" != "$ROUND" ] || { PEERS=lost && return; }
  done
  for ((place = RANK == 0; place <= last; place++)); do
    peer "$place"
    describe "${PREFIX}heartbeats/$REPLY" "$STATE/peer-$place" 20 || continue
    run_of "$place" || continue
    if [ "$LEAD" != "$ROUND" ]; then
      [ "$RANK" = 0 ] || [ "$LEAD" -lt "$ROUND" ] || PEERS=ahead
      continue
    fi
    [ -z "$HANDED" ] || { PEERS=lost && return; }
    [ "$EXIT" != 0 ] || well=$((well + 1))
    [ "${EXIT:-0}" = 0 ] || PEERS=ended
  done
  [ -n "$PEERS" ] || [ "$RANK" != 0 ] || [ "$well" -lt $((NODES - 1)) ] || PEERS=succeeded
}

# PEERS becomes "lost" where the marker of another node says that it is taken away. TOLD_PEERS are those that will be, and have
# until then: RANK@MOMENT for each. Fails where nobody knows.
look_at_markers() {
  local place soon=""
  list "${PREFIX}preempted-jobs/$BASE" "$STATE/markers" || return
  for ((place = 0; place < NODES; place++)); do
    [ -s "$STATE/markers" ] || break
    peer "$place"
    if [ "$place" = "$RANK" ] || ! grep -q "/$REPLY$" "$STATE/markers" || ! of_this_attempt "$REPLY"; then
      continue
    fi
    if [[ ! $REPLY =~ \"early\":\ *true ]]; then
      PEERS=lost
      return
    fi
    # Any VM may have written it, and its words are counted with: nothing but a moment is taken.
    [[ $REPLY =~ \"at\":\ *\"([0-9TZ:.+-]{1,40})\" ]] && soon+=" $place@${BASH_REMATCH[1]}"
  done
  TOLD_PEERS=${soon# }
}

# Whether a node's marker, then in REPLY, is news: that of an earlier attempt may be cleared only when this one runs.
of_this_attempt() {
  get "${PREFIX}preempted-jobs/$1" "$STATE/peer-marker" 20 || return
  REPLY=$(<"$STATE/peer-marker")
  [[ $REPLY =~ \"attempt\":\ *${ATTEMPT}[,\}] ]]
}

# What a node's newest heartbeat says of this attempt: its run in LEAD, how its program ended in EXIT (""), whether it was
# told to end in BY_OTHERS, and whether it has stopped since it is taken in HANDED. A VM of the same name elsewhere may be
# another job's.
run_of() {
  local LINE
  LINE=$(cat "$STATE/peer-$1" 2>/dev/null)
  LEAD="" EXIT="" BY_OTHERS="" HANDED=""
  member job && [ "$REPLY" = "$JOB" ] && member attempt && [ "$REPLY" = "$ATTEMPT" ] || return 1
  member round && [[ $REPLY =~ ^(0|[1-9][0-9]{0,8})$ ]] || return 1
  LEAD=$REPLY
  member status || return 0
  [ "$REPLY" != handed-over ] || HANDED=1
  [[ $REPLY =~ ^[0-9]{1,3}$ ]] || return 0
  EXIT=$REPLY
  ! member stopped || BY_OTHERS=1
}

# What LINE, a heartbeat as `describe` shows it, says under this name; fails where it does not.
member() {
  [[ $LINE =~ \"$1\":\ *\"([^\"]*)\" || $LINE =~ [[:space:]\&]$1=([^\&[:space:]]*) ]] && REPLY=${BASH_REMATCH[1]}
}

# All nodes of an attempt run the program as often as the first one does; after a reboot it begins a new run.
find_run() {
  local first
  ROUND=1
  [ "$NODES" -gt 1 ] && [ -z "$WAITS" ] || return 0
  peer 0
  first=$REPLY
  describe "${PREFIX}heartbeats/$first" "$STATE/peer-0" 20
  case $? in
    0) ;;
    1) return 0 ;;
    *) return 2 ;;
  esac
  run_of 0 || return 0
  ROUND=$((RANK == 0 ? LEAD + 1 : LEAD))
}

# The first node, whose own program has ended with a status: wait until it is known how the job has, and say that in
# VERDICT: a status, "lost", or "again" where a lost node is back. Once a node has failed all others get the time to stop
# and to say so; one that says nothing is gone, though nobody has told yet.
judge_gang() {
  local end=$((SECONDS + VERDICT_SECONDS)) was_lost=${PEERS_SAY#ended}
  while true; do
    ! await_look || { VERDICT=bent && return; }
    look_at_peers
    gang_is_over && return
    ! moved_on || { VERDICT=bent && return; }
    if [ "$PEERS" = lost ]; then
      was_lost=1
      continue
    fi
    if [ -n "$was_lost" ]; then
      ROUND=$((ROUND + 1)) VERDICT=again
      return
    fi
    if [ "$1" = 0 ] && [ "$PEERS" != ended ]; then
      VERDICT=0
      [ "$PEERS" != succeeded ] || return
      end=$((SECONDS + VERDICT_SECONDS))
      continue
    fi
    count_failures "$1"
    [ "$HEARD" -lt $((NODES - 1)) ] && [ "$SECONDS" -lt "$end" ] || return
  done
}

# The others wait for a status, or for what becomes of the gang.
wait_for_verdict() {
  while true; do
    ! await_look || { VERDICT=bent && return; }
    look_at_peers
    gang_is_over && return
    ! moved_on || { VERDICT=bent && return; }
    if [ "$PEERS" = ahead ]; then
      ROUND=$LEAD VERDICT=again
      return
    fi
    if has_ended; then
      VERDICT=ended
      return
    fi
  done
}

# Whether the VERDICT is that there is none here: this VM goes, or the gang is started anew.
gang_is_over() {
  listen 0.01
  VERDICT=lost
  [ -z "$TAKEN" ] || return 0
  may_write || [ $? = 2 ] || return 0
  return 1
}

# How many of the others have said how they ended, and what the first failure was that nobody else has caused.
count_failures() {
  local place
  HEARD=0 VERDICT=""
  [ -n "$STOPPED" ] || [ "$1" = 0 ] || VERDICT=$1
  for ((place = 1; place < NODES; place++)); do
    run_of "$place" && [ "$LEAD" = "$ROUND" ] && [ -n "$EXIT" ] || continue
    HEARD=$((HEARD + 1))
    [ "$EXIT" = 0 ] || [ -n "$BY_OTHERS" ] || VERDICT=${VERDICT:-$EXIT}
  done
  VERDICT=${VERDICT:-1}
}
