# --- A gang that bends: its members are those that the newest record of the chain names; its number is their epoch. ---
# Nothing is trained before all members of an epoch have stopped what they did in the one before, and have uploaded it.

# EPOCH is the one that the program runs in, BENT_TO the newest that this VM was seen to be in.
MEMBERS=() ABSENT=() BENDS="" WAITS="" EPOCH="" BENT_TO="" CALLED="" SAVED="" READY=$STATE/ready
# Seconds between two looks at the chain, and at the others while all of them wait.
MEMBERS_LOOK=3 BARRIER_LOOK=1
# The VMs that wait to join for which this one has saved.
SAVED_TO_JOIN=""
# When it was first seen that the newest record no longer names this VM, and how long it waits to be named again.
DROPPED="" REJOIN_SECONDS=1200

# Whether this VM was made for a gang that bends. What it joined on this disk before a reboot it need not join again.
find_bending() {
  setting joins
  [ "$REPLY" = 1 ] && [ "$NODES" -gt 1 ] || return 0
  BENDS=1 WAITS=1
}

# What a record, in REPLY, says: the members in their order, and the nodes that may join again: those that are to be
# refilled, and those that somebody removed and may start.
read_members() {
  local rest why
  MEMBERS=() ABSENT=()
  for why in lacking removed; do
    [[ $REPLY =~ \"$why\":\{(.*)$ ]] || continue
    rest=${BASH_REMATCH[1]}
    while [[ $rest =~ ^\"([^\"]+)\":\{[^}]*\},?(.*)$ ]]; do
      ABSENT+=("${BASH_REMATCH[1]}")
      rest=${BASH_REMATCH[2]}
    done
  done
  [[ $REPLY =~ \"instances\":\{([^}]*)\} ]] || return 1
  rest=${BASH_REMATCH[1]}
  while [[ $rest =~ ^\"([^\"]+)\":\"[0-9]+\",?(.*)$ ]]; do
    MEMBERS+=("${BASH_REMATCH[1]}")
    rest=${BASH_REMATCH[2]}
  done
  [ "${#MEMBERS[@]}" -gt 0 ]
}

names_me() { [[ $REPLY =~ \"instances\":\{[^}]*\"$ID\" ]]; }

# What this VM is among the members: NODES, RANK and MASTER. The program's port is each epoch's own.
place_among_members() {
  local place domain=""
  NODES=${#MEMBERS[@]}
  for ((place = 0; place < NODES; place++)); do
    [ "${MEMBERS[place]}" != "$NODE" ] || RANK=$place
  done
  value MASTER_ADDR
  [[ $REPLY != *[a-z]*.* ]] || domain=.${REPLY#*.}
  MASTER=${MEMBERS[0]}$domain
  [ "$NODES" -gt 1 ] || MASTER=localhost
  [ -z "${GCE_METADATA_HOST:-}" ] || MASTER=127.0.0.1
}

# Follow the chain to its newest record: 0 it names this VM, which is among its members now; 1 none has named it yet, or
# the newest goes on without it; 2 not known; 3 the job goes on with another gang, or not at all.
find_membership() {
  local number=$ATTEMPT file=$STATE/members.$BASHPID found=1 answer
  while true; do
    answer=0
    get "$HERE/metadata/attempts/$number.json" "$file" 20 || answer=$?
    case $answer in
      0) ;;
      1) break ;;
      *) return 2 ;;
    esac
    read_record "$file"
    if names_me && read_members; then
      found=0 ATTEMPT=$number NEXT=$((number + 1)) DROPPED=""
    elif is_over "$number"; then
      return 3
    elif [ "$found" = 0 ]; then
      found=1 ATTEMPT=$number NEXT=$((number + 1)) DROPPED=${DROPPED:-$SECONDS}
    fi
    number=$((number + 1))
  done
  [ "$found" != 0 ] || place_among_members
  return "$found"
}

# Whether a member that the gang went on without has waited in vain to be one again: who starts its VM wants it back, but
# another may have its place.
is_given_up() { [ -n "$DROPPED" ] && [ $((SECONDS - DROPPED)) -ge "$REJOIN_SECONDS" ]; }

# Whether a record, in REPLY, ends the gang that this VM was made for: it is closed, or another one is begun.
is_over() {
  [[ $REPLY =~ \"state\":\"(ended|stopped|gave up|gaveup)\" ]] && return
  [ "$1" != "$ATTEMPT" ] && [[ $REPLY != *'"bent":true'* ]]
}

# Whether there is a newer record that says who goes on: 0 yes, with this VM or without it.
members_changed() {
  local file=$STATE/changed.$BASHPID
  [ "$NODES" -gt 1 ] || [ -n "$BENDS" ] || return 1
  ! moved_on || return 0
  get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 || return
  read_record "$file"
  [[ $REPLY == *'"bent":true'* ]] || return 1
  names_me || fence
  return 0
}

# Whether it wants this VM back once that was not taken, and has said that it waits.
wants_me_back() {
  local file=$STATE/wanted.$BASHPID
  get "$HERE/metadata/attempts/$NEXT.json" "$file" 20 && goes_on_without_me "$file" || return
  [[ $REPLY =~ \"lacking\":\{.*\"$NODE\":\{\"instance_id\":\"$ID\" ]]
}

# Whether the record in this file is that of a gang that bends, which goes on without this VM.
goes_on_without_me() {
  read_record "$1"
  [[ $REPLY == *'"bent":true'* ]] && ! names_me
}

# Whether this process has followed the chain to an epoch that its program is not of.
moved_on() { [ -n "${BENT_TO:-}" ] && [ "$BENT_TO" != "$EPOCH" ]; }

watch_members() {
  while sleep "$MEMBERS_LOOK"; do
    ! members_changed || echo "peers changed" 1<>"$STATE/events" >"$STATE/events"
  done
}

# What was refilled or started again says that it waits, and joins by the next record, up to a minute later: all are stopped
# for that. So all save before, each once for each VM, or a program that does not save as it is stopped would do its work again.
save_to_join() {
  local one new=""
  [ ! -e "$HANDING" ] || return 0
  for one in "${ABSENT[@]}"; do
    waits_to_join "$one" || continue
    [[ " $SAVED_TO_JOIN " != *" $REPLY "* ]] || continue
    SAVED_TO_JOIN+=" $REPLY" new+=${new:+, }$one
  done
  [ -n "$new" ] || return 0
  say "$new will join: the program saves, and continues until then"
  ask_for_checkpoint
}

# Whether a node says that it waits to be a member; the id of its VM is in REPLY then.
waits_to_join() {
  local LINE
  describe "${PREFIX}heartbeats/$1" "$STATE/lacking" 20 || return
  LINE=$(<"$STATE/lacking")
  member job && [ "$REPLY" = "$JOB" ] && member status && [ "$REPLY" = waiting ] || return
  member instance_id && [[ $REPLY =~ ^[0-9]+$ ]]
}

# The pause between two looks at the others: 0 at once where the members have changed.
await_look() {
  local due=$((SECONDS + LOOK))
  while [ "$SECONDS" -lt "$due" ]; do
    sleep "$BARRIER_LOOK"
    ! members_changed || return 0
  done
  return 1
}

# The program is stopped, and what it wrote is uploaded, as far as it could be: wait for the others of the next epoch.
leave_epoch() {
  BENDS=1 WAITS=1 ROUND=1
  [ -n "${UNSAVED:-}" ] || SAVED=1
  rm -f "$BEGUN" "$READY" "$TURN_FILE"
  forget_program
}

# What was told of a program that is over must not end the next one.
forget_program() {
  local word more
  while read -r -t 0.05 -u 5 word more; do
    case $word in
      shutdown | preempted) TAKEN=${TAKEN:-$word} ;;
      fenced) FENCED=1 ;;
    esac
  done
}

# Wait to be a member, and then for the others; what the program begins with is restored once all have uploaded theirs.
# 1 where this VM goes, 2 where its output cannot be had.
await_members() {
  local answer entered="" due=0
  [ -n "$WAITS" ] || return 0
  while [ -z "$TAKEN$FENCED" ]; do
    answer=0
    find_membership || answer=$?
    if [ "$answer" = 3 ]; then
      if [ -n "$DROPPED" ]; then go_off "the job goes on without this VM"; else go_away "the job goes on without this VM"; fi
      return 1
    elif [ "$answer" = 0 ] && [ "$(cat "$WORK/epoch" 2>/dev/null)" = "$ATTEMPT $ID" ]; then
      come_back
      return
    elif [ "$answer" = 0 ] && [ -e "$READY" ]; then
      [ "$ATTEMPT" = "$entered" ] || due=0
      [ "$CALLED" = "$ATTEMPT" ] || [ "$SECONDS" -lt "$due" ] || {
        enter_epoch "$entered" && entered=$ATTEMPT due=$((SECONDS + HEARTBEAT))
      }
      [ "$ATTEMPT" != "$entered" ] || ! all_have_come || { begin_epoch && return; return 2; }
    elif [ "$answer" = 1 ] && [ -n "$ALL_SAID" ]; then
      go_away "the setup failed before this VM was a member; it goes"
      return 1
    elif [ "$answer" = 1 ] && [ -e "$READY" ] && [ "$SECONDS" -ge "$due" ]; then
      ! is_given_up || { go_off "the gang goes on without this VM" && return 1; }
      ! beat waiting || due=$((SECONDS + HEARTBEAT))
      ! has_ended || { go_away "the job has ended" && return 1; }
    fi
    # A read that was not answered says nothing, of what this VM has said before neither.
    [ -z "$ALL_SAID" ] || [ "$answer" = 2 ] || return 0
    listen "$BARRIER_LOOK"
  done
}

# A person has started it, so its disk stays.
go_off() {
  say "$1; it shuts down"
  end_loops
  stop_program 2
  : >"$STATE/done"
  trap - TERM
  shutdown -h now
}

# What waits to begin never will.
go_away() {
  say "$1"
  end_loops
  stop_program 2
  leave
}

# enter_epoch LAST: say that this VM has come to the epoch, with all that it has written before in the bucket; and go on
# saying so.
enter_epoch() {
  [ "$1" = "$ATTEMPT" ] || say "attempt $ATTEMPT: member $((RANK + 1)) of $NODES (${MEMBERS[*]})"
  echo "$ATTEMPT" >"$STATE/attempt"
  LOG=$WORK/log/$ATTEMPT.log CURVE=$WORK/log/$ATTEMPT.jsonl OLD_LOG_SIZE=""
  patiently 20 beat joining
}

# Whether all members have: the first one looks at all, the others at the first one, which then says that it runs. Once
# it may have said so, they no longer wait.
all_have_come() {
  local place last=$((RANK == 0 ? NODES - 1 : 0))
  if [ "$CALLED" != "$ATTEMPT" ]; then
    for ((place = RANK == 0; place <= last; place++)); do
      describe "${PREFIX}heartbeats/${MEMBERS[place]}" "$STATE/peer-$place" 20 && has_come "$place" || return 1
    done
  fi
  [ "$RANK" = 0 ] || return 0
  CALLED=$ATTEMPT
  patiently 20 beat
}

has_come() {
  local LINE
  LINE=$(cat "$STATE/peer-$1")
  member job && [ "$REPLY" = "$JOB" ] && member attempt && [ "$REPLY" = "$ATTEMPT" ] && member status || return 1
  [ "$REPLY" != waiting ] || return 1
  if [ "$RANK" = 0 ]; then [ "$REPLY" = joining ]; else [ "$REPLY" != joining ]; fi
}

# A reboot: the others are in this epoch, and have stopped since they saw this VM go.
come_back() {
  WAITS="" EPOCH=$ATTEMPT BENT_TO=$ATTEMPT
  for_ever find_run
  begin_program
}

# All of it is in the bucket by now, the newest of whichever member wrote it.
begin_epoch() {
  [ -z "$SAVED" ] || find "$OUTPUT" -mindepth 1 -delete
  : >"$SENT_LIST"
  echo "$ATTEMPT $ID" >"$WORK/epoch"
  WAITS="" SAVED="" EPOCH=$ATTEMPT BENT_TO=$ATTEMPT
  begin_program
}

begin_program() {
  local answer=0
  for_ever restore_output || answer=$?
  REFUSED=$((answer == 1 ? 66 : 77))
  [ "$answer" = 0 ] || return 2
  write_environment
  write_hostfile
  begin
}
