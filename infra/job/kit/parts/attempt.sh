# --- Which attempt this is, and whether it may still write: a newer one may, an older one must not. ---

# The metadata says which attempt this VM was launched as. It does not change where the same VM is started again, and
# who launches by hand sets none: then the ledger says it, by the VM's own id.
find_attempt() {
  local line newest=0
  setting attempt
  ATTEMPT=$REPLY
  [[ $ATTEMPT =~ ^[1-9][0-9]{0,8}$ ]] || ATTEMPT=""
  if [ -z "$ATTEMPT" ]; then
    list "$HERE/metadata/attempts/" "$STATE/ledger" || return
    while IFS= read -r line; do
      [[ $line =~ /([0-9]{1,9})\.json$ ]] && [ "${BASH_REMATCH[1]}" -gt "$newest" ] && newest=${BASH_REMATCH[1]}
    done <"$STATE/ledger"
    # The newest record is this VM's, or is of one before it; the first launch is not in the ledger yet.
    ATTEMPT=$((newest ? newest - 1 : 0)) NEXT=$((newest ? newest : 1))
    [ "$newest" = 0 ] || look_ahead || [ $? = 1 ] || return 2
    if [ "$ATTEMPT" -lt "$newest" ]; then
      was_mine "$newest"
      case $? in
        0) return 1 ;;
        2) return 2 ;;
      esac
    fi
    [ "$ATTEMPT" -ge 1 ] && [ "$ATTEMPT" -ge "$newest" ] || ATTEMPT=$((newest + 1))
  fi
  NEXT=$((ATTEMPT + 1))
  # What a gang that bends goes on as meanwhile may not name this VM yet, or no longer.
  [ -n "${WAITS:-}" ] || look_ahead || may_rejoin "$?"
}

# Whether this VM was a member of a gang that goes on without it: it is started again, and waits.
may_rejoin() {
  [ "$1" = 1 ] && [ "${NODES:-1}" -gt 1 ] && [[ $REPLY == *'"bent":true'* ]] || return "$1"
  BENDS=1 WAITS=1
}

# Whether this VM was an attempt before the newest one, which is then in ATTEMPT: somebody has started it again though
# another VM goes on with the job. 1 no, 2 not known.
was_mine() {
  local file=$STATE/record.$BASHPID
  for ((ATTEMPT = $1 - 1; ATTEMPT >= 1; ATTEMPT--)); do
    get "$HERE/metadata/attempts/$ATTEMPT.json" "$file" 20
    case $? in
      0) read_record "$file" && is_mine "$REPLY" && NEXT=$((ATTEMPT + 1)) && return ;;
      1) ;;
      *) return 2 ;;
    esac
  done
  return 1
}

# Read the record of the next attempt: 0 there is none, or it is about this very VM; 1 it is another's; 2 not known.
look_ahead() {
  local answer=0 file=$STATE/record.$BASHPID
  while true; do
    get "$HERE/metadata/attempts/$NEXT.json" "$file" "${1:-20}" || answer=$?
    case $answer in
      0) ;;
      1) return 0 ;;
      *) return 2 ;;
    esac
    read_record "$file"
    is_mine "$REPLY" || return 1
    [[ $REPLY != *'"bent":true'* ]] || BENT_TO=$NEXT
    ATTEMPT=$NEXT NEXT=$((NEXT + 1))
  done
}

# A record of the ledger in REPLY, without the blanks and ends of lines that make it readable.
read_record() {
  REPLY=$(<"$1")
  REPLY=${REPLY//[[:space:]]/}
}

# Whether a record of the ledger names this VM as its own, or starts it again in its place.
is_mine() {
  local record=$1
  [[ $record =~ \"instances\":\{[^}]*\"$ID\" ]] && return
  [[ $record =~ \"replaces\":\{[^}]*\"$ID\" && $record != *'"early":true'* ]] || return 1
  [[ ${record##*\"kind\":} == '"start"'* ]]
}

# may_write [SECONDS]: whether this VM may; 0 yes, 1 a newer attempt has taken over, 2 nobody knows just now.
may_write() {
  local answer=0 seconds=${1:-20} file=$STATE/seen.$BASHPID
  [ -e "$STATE/fenced" ] && return 1
  # Between two epochs, and before the first, nobody writes but heartbeats and what was written before.
  [ -z "${WAITS:-}" ] || return 0
  look_ahead "$seconds" || answer=$?
  if [ "$answer" = 1 ] && [ -n "${HANDING:-}" ] && { note_move || [ -e "$HANDING" ]; }; then
    answer=0
    successor_waits "$seconds" || answer=$?
  elif [ "$answer" = 0 ] && [ -e "$STATE/registered" ]; then
    get "$REGISTRATION" "$file" "$seconds" || answer=$?
    if [ "$answer" = 0 ]; then
      REPLY=$(<"$file")
      [ "${REPLY//[[:space:]]/}" = "$ID" ] || answer=3
    elif [ "$answer" = 1 ]; then
      answer=0
    fi
  fi
  case $answer in
    0) return 0 ;;
    1 | 3) fence ;;
    *) return 2 ;;
  esac
}

fence() {
  [ -e "$STATE/fenced" ] || say "attempt $ATTEMPT on $NODE ($ID) is no longer the newest; it writes nothing more"
  : >"$STATE/fenced"
  echo fenced 1<>"$STATE/events" >"$STATE/events"
  return 1
}

# Write down that this VM is the node, where nobody has; a VM without the right to do so is registered by Spotwarden.
register() {
  local generation=0 answer=0
  printf '%s' "$ID" >"$STATE/id"
  get "$REGISTRATION" "$STATE/seen" 20 || answer=$?
  [ "$answer" -le 1 ] || return "$answer"
  if [ "$answer" = 0 ]; then
    REPLY=$(<"$STATE/seen")
    if [ "${REPLY//[[:space:]]/}" = "$ID" ]; then
      : >"$STATE/registered"
      return 0
    fi
    generation=""
  fi
  answer=0
  put "$STATE/id" "$REGISTRATION" "$generation" 20 || answer=$?
  case $answer in
    0) : >"$STATE/registered" ;;
    3) return 2 ;; # Whoever launched us has registered us in between: look again.
    4) say "this VM may not write $REGISTRATION; Spotwarden does" ;;
    *) return "$answer" ;;
  esac
}
