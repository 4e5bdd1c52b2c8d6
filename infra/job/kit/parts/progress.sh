# --- Progress: what the program says of itself, and the heartbeat that tells it. ---
# The heartbeat comes at a fixed period, whatever the program does: it says that this VM is alive, and when the program
# last made progress. Who looks for a program that hangs reads the second, never the time of the object.

METRICS_AT_MOST=1000000
LOG_AT_MOST=8000000
TAIL_BYTES=65536
# Bytes of all metrics in a heartbeat: Cloud Storage takes 8 KiB of custom metadata, and a checkpoint may have four.
BEAT_METRICS_AT_MOST=3000

declare -A METRICS=()
STEP="" STEPS="" CHECKPOINT="" PROGRESS_AT=""

# Take over what a line of JSON says: {"step": 5, "steps": 80, "checkpoint": "…", "loss": 0.1}. Fails, and changes
# nothing, where the line is no such object; a program may be in the middle of writing it.
read_progress() {
  local rest=$1 name value pairs=() place
  local member='^[[:space:]]*"(([^"\\]|\\.)*)"[[:space:]]*:[[:space:]]*("([^"\\]|\\.)*"|[-+A-Za-z0-9._]+)[[:space:]]*([,}])(.*)$'
  [[ $rest =~ ^[[:space:]]*\{(.*)$ ]] || return 1
  rest=${BASH_REMATCH[1]}
  while [[ $rest =~ $member ]]; do
    pairs+=("${BASH_REMATCH[1]}" "${BASH_REMATCH[3]}")
    rest=${BASH_REMATCH[6]}
    [ "${BASH_REMATCH[5]}" = "}" ] && break
  done
  [[ $rest =~ ^[[:space:]]*$ ]] && [ "${#pairs[@]}" -gt 0 ] || return 1
  for ((place = 0; place < ${#pairs[@]}; place += 2)); do
    name=${pairs[place]} value=${pairs[place + 1]}
    take_figure "$name" "$value"
  done
}

# One figure by its name: three have a place of their own, all others are metrics.
take_figure() {
  local name=$1 value=$2
  if [ "$name" = checkpoint ]; then
    if [[ $value == \"* ]]; then from_json "$value"; else REPLY=$value; fi
    CHECKPOINT=${REPLY:0:1000}
    return 0
  fi
  value=${value#\"}
  measured "${value%\"}" || return 0
  case $name in
    step) [[ $REPLY == \"* ]] || note_step "$REPLY" ;;
    steps) [[ $REPLY == \"* ]] || STEPS=$REPLY ;;
    *)
      [[ $name =~ ^[A-Za-z_][A-Za-z0-9_./-]{0,63}$ ]] || return 0
      [ -n "${METRICS[$name]:-}" ] || [ "${#METRICS[@]}" -lt 200 ] || return 0
      METRICS[$name]=$REPLY
      ;;
  esac
}

# The newest step, and in a file the first one of this attempt: who starts at 0 again has lost what was done before.
note_step() {
  STEP=$1
  [ -s "$STATE/first-step.${ATTEMPT-}" ] || printf '%s' "$1" 2>/dev/null >"$STATE/first-step.${ATTEMPT-}"
}

# The last whole line of the program's own file.
follow_file() {
  local line last=""
  [ -s "$PROGRESS" ] || return 0
  while IFS= read -r line || [ -n "$line" ]; do
    read_progress "$line" && last=$line
  done < <(tail -n 3 "$PROGRESS" 2>/dev/null)
  [ -n "$last" ]
}

# What the regular expressions of `spotwarden-metrics` find in the newest lines of the log.
follow_log() {
  local line rule pattern
  [ -n "$RULES" ] && [ -s "$LOG" ] || return 0
  while IFS= read -r line; do
    while IFS= read -r rule; do
      pattern=${rule#*=}
      [[ $rule == *=* && $line =~ $pattern && -n ${BASH_REMATCH[1]:-} ]] && take_figure "${rule%%=*}" "${BASH_REMATCH[1]}"
    done <<<"$RULES"
  done < <(tail -c "$TAIL_BYTES" "$LOG" | tr '\r' '\n')
  return 0
}

# The classes of a regular expression in the words of bash, which knows none within brackets.
in_words_of_bash() {
  local rest=$1 made="" within="" piece class
  while [ -n "$rest" ]; do
    piece=${rest:0:1}
    [[ $piece != "\\" ]] || piece=${rest:0:2}
    # A bracket that opens a set may be followed by a ^ and by a ] that belongs to it.
    [[ -n $within || ! $rest =~ ^\[\^?\]? ]] || piece=${BASH_REMATCH[0]}
    [[ -z $within || ! $rest =~ ^\[:[a-z]+:\] ]] || piece=${BASH_REMATCH[0]}
    rest=${rest:${#piece}}
    class=""
    case $piece in
      '\d') class=0-9 ;;
      '\s') class='[:space:]' ;;
      '\w') class='[:alnum:]_' ;;
      '\S') [ -n "$within" ] || piece='[^[:space:]]' ;;
      '['*) [ -n "$within" ] || within=1 ;;
      ']' | $'\n') within="" ;;
      # Within brackets bash takes a backslash for itself.
      '\-') [ -z "$within" ] || piece='[.-.]' ;;
      "\\"?) [ -z "$within" ] || piece=${piece:1} ;;
    esac
    if [ -n "$class" ]; then
      piece=$class
      [ -n "$within" ] || piece="[$class]"
    fi
    made+=$piece
  done
  REPLY=$made
}

# Regular expressions as people write them for Python, in the words of bash.
read_rules() {
  local rule
  setting metrics
  in_words_of_bash "$REPLY"
  RULES=$REPLY
  while IFS= read -r rule; do
    [[ "" =~ ${rule#*=} ]]
    [ $? != 2 ] || say "invalid regular expression: $rule"
  done 2>/dev/null <<<"$RULES"
}

# What may not stand still while a program works: its figures, its log, its output, its TensorBoard events.
signs_of_progress() {
  local newest
  newest=$(
    find -L "$OUTPUT" "$CODE" -maxdepth 6 \( -path "$OUTPUT/*" ! -path "$OUTPUT/logs/libtpu/*" -o -name 'events.out.tfevents.*' \) -type f \
      -printf '%T@\n' 2>/dev/null | LC_ALL=C sort -n | tail -n 1
  )
  figures
  REPLY="$REPLY $newest $(exec stat -Lc %s "$LOG" 2>/dev/null)"
}

# What is known of the progress, as members of a JSON object, each with a comma before it.
figures() {
  local name made="" parts=""
  [ -z "$STEP" ] || made+=",\"step\":$STEP"
  [ -z "$STEPS" ] || made+=",\"steps\":$STEPS"
  if [ -n "$CHECKPOINT" ]; then
    json_text "$CHECKPOINT"
    made+=",\"checkpoint\":\"$REPLY\""
  fi
  for name in "${!METRICS[@]}"; do
    parts+=",\"$name\":${METRICS[$name]}"
  done
  [ -z "$parts" ] || made+=",\"metrics\":{${parts:1}}"
  REPLY=$made
}

# Look at the program, and note when it last made progress; its start counts.
look_at_progress() {
  follow_file
  follow_log
  signs_of_progress
  if [ -s "$STATE/progress-at" ] && [ "$REPLY" = "$(<"$STATE/signs")" ]; then
    PROGRESS_AT=$(<"$STATE/progress-at")
    return 0
  fi
  # In files: what tells that the program has ended is not the process that has watched it.
  printf '%s' "$REPLY" >"$STATE/signs"
  note_gap
  printf -v PROGRESS_AT '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  printf '%s' "$PROGRESS_AT" >"$STATE/progress-at"
}

# The longest time in seconds, from a minute on, that the program was without progress before it went on: it may be
# as long again.
note_gap() {
  local before known=59
  before=$(stat -Lc %Y "$STATE/progress-at" 2>/dev/null) || return 0
  [ ! -s "$STATE/gap" ] || known=$(<"$STATE/gap")
  now
  [ $((REPLY - before)) -le "$known" ] || printf '%s' $((REPLY - before)) >"$STATE/gap"
}

# The beginning of what is told: now, this attempt, and of a gang this run.
told_now() {
  local run=""
  [ "$NODES" = 1 ] || run=",\"round\":$ROUND"
  printf -v REPLY '{"at":"%(%Y-%m-%dT%H:%M:%SZ)T","instance_id":"%s","attempt":%s%s' -1 "$ID" "$ATTEMPT" "$run"
}

# beat [STATUS [STOPPED]]: write a heartbeat, an empty object with all that it tells in its custom metadata, so that who
# lists a thousand of them reads none. STATUS is "running", the status with which the program has ended, "stopped", or
# "handed-over" where the successor may begin; STOPPED says of one that has ended that it was told to. It is written
# over the heartbeat of the generation BEAT_OVER, where it is set.
beat() {
  local told=("status=${1:-running}" ${2:+"stopped=1"}) moment
  look_at_progress
  may_write || return
  # A loop that has followed the chain says nothing for an epoch that the program has not come to.
  [ -n "${WAITS:-}" ] || ! moved_on || return 0
  printf -v moment '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  told+=("job=$JOB" "attempt=$ATTEMPT" "instance_id=$ID" "at=$moment" "progress_at=$PROGRESS_AT")
  [ "$NODES" = 1 ] || told+=("round=$ROUND")
  [ ! -e "$TURN_FILE.awaited" ] || told+=("standby=1")
  [ -z "$STEP" ] || told+=("step=$STEP")
  [ -z "$STEPS" ] || told+=("steps=$STEPS")
  [ ! -s "$STATE/first-step.${ATTEMPT-}" ] || told+=("first_step=$(<"$STATE/first-step.${ATTEMPT-}")")
  [ ! -s "$STATE/gap" ] || told+=("longest_gap=$(<"$STATE/gap")")
  if [ -n "$CHECKPOINT" ]; then
    # Bytes that are no UTF-8 would have the whole refused.
    object_path "${CHECKPOINT//[[:cntrl:]]/ }"
    told+=("checkpoint=$REPLY")
  fi
  metrics_of_beat
  [ -z "$REPLY" ] || told+=("metrics={$REPLY}")
  if [ "$TRANSPORT" = gsutil ]; then
    in_one_value "${told[@]}"
    told=("beat=$REPLY")
  fi
  : >"$STATE/beat"
  put "$STATE/beat" "${PREFIX}heartbeats/$NODE" "${BEAT_OVER:-}" 30 "${told[@]}"
}

# All of that in one value without commas, for gsutil: where it hands its work to gcloud a comma ends a value, and of several
# values only the last counts.
in_one_value() {
  local pair made=""
  for pair in "$@"; do
    encoded "${pair#*=}"
    made+="&${pair%%=*}=$REPLY"
  done
  REPLY=${made#&}
}

# The metrics that a heartbeat has room for; what is no number first, for a training may have to end because of it.
metrics_of_beat() {
  local name made="" order=()
  for name in "${!METRICS[@]}"; do
    if [[ ${METRICS[$name]} == \"* ]]; then
      order=("$name" ${order[@]+"${order[@]}"})
    else
      order+=("$name")
    fi
  done
  for name in ${order[@]+"${order[@]}"}; do
    [ $((${#made} + ${#name} + ${#METRICS[$name]} + 4)) -gt "$BEAT_METRICS_AT_MOST" ] ||
      made+=",\"$name\":${METRICS[$name]}"
  done
  REPLY=${made#,}
}

# A line of the metrics file where there are new figures; every second line goes when it is full.
keep_figures() {
  local known
  figures
  known=$REPLY
  [ -n "$known" ] && [ "$known" != "$(cat "$STATE/figures" 2>/dev/null)" ] || return 0
  may_write || return
  told_now
  printf '%s' "$known" >"$STATE/figures"
  printf '%s%s}\n' "$REPLY" "$known" 2>/dev/null >>"$CURVE" || return 0
  if [ "$(stat -c %s "$CURVE")" -gt "$METRICS_AT_MOST" ]; then
    sed -n 'p;n' "$CURVE" >"$CURVE.thin" && mv -f "$CURVE.thin" "$CURVE"
  fi
  put_figures
}

put_figures() { put "$CURVE" "$HERE/metadata/metrics/$NODE/${CURVE##*/}" "" 60; }

# The last that is told of a program that has ended: how, its figures, its log. Each is sent again where it must be: an
# object takes one write a second, and there is no next look. The heartbeat goes on being sent for some seconds, for what
# it says has to be the last word.
tell_end() {
  patiently 10 beat "$@"
  keep_figures || { sleep 2 && put_figures; }
  upload_last_log
}

upload_last_log() {
  upload_log
  log_is_sent || { sleep 2 && upload_log; }
}

log_is_sent() { [ ! -e "$LOG" ] || [ "$(stat -Lc %s "$LOG")" = "${OLD_LOG_SIZE:-0}" ]; }

# upload_log [SECONDS]: the log, its newest part where it is long. What stands on the disk is cut as well before it fills it.
# It goes up under the number that its file has: ATTEMPT may be of a newer epoch by now.
upload_log() {
  local size from=$STATE/log
  size=$(stat -Lc %s "$LOG" 2>/dev/null) || return 0
  [ "$size" = "${OLD_LOG_SIZE:-0}" ] && return 0
  # A copy: what grows while it is sent is refused over HTTP/2.
  if [ "$size" -le "$LOG_AT_MOST" ] && [ ! -e "$LOG.cut" ]; then
    head -c "$size" "$LOG" >"$from"
  else
    { echo "[the beginning was cut: this is the newest part of the log]" && tail -c $((LOG_AT_MOST - 100)) "$LOG"; } >"$from"
  fi
  put "$from" "$HERE/metadata/logs/$NODE/${LOG##*/}" "" "${1:-60}" && OLD_LOG_SIZE=$size
  if [ "$size" -gt $((4 * LOG_AT_MOST)) ] && [ -f "$LOG" ]; then
    : >"$LOG.cut"
    tail -c "$LOG_AT_MOST" "$LOG" >"$LOG.tail" && cat "$LOG.tail" >"$LOG"
    rm -f "$LOG.tail"
  fi
  return 0
}
