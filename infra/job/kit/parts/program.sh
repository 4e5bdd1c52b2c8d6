# --- The developer's program: what it is given, how it is started, how it is asked to end. ---

GPU=/dev/nvidia0 AGENT=/opt/google-cloud-ops-agent

fetch_code() {
  setting code
  [ "$REPLY" = 1 ] || return 0
  get "$HERE/my-code.tar" "$WORK/my-code.tar" || return
  tar -xf "$WORK/my-code.tar" -C "$CODE" || return 4
}

# Each line of `spotwarden-inputs`: gs://BUCKET/NAME PATH. A NAME that is no object stands for all below it.
fetch_inputs() {
  local line
  setting inputs
  while read -r line; do
    [ -z "$line" ] || fetch_input "$line" || return
  done <<<"$REPLY"
}

fetch_input() {
  local from=${1%%[[:space:]]*} path=${1#*[[:space:]]} answer=0 BUCKET
  path=${path#"${path%%[![:space:]]*}"}
  BUCKET=${from#gs://}
  local name=${BUCKET#*/}
  BUCKET=${BUCKET%%/*}
  if [[ $from != gs://*/* ]] || ! inside "${path%/}"; then
    say "invalid input: $1; write gs://BUCKET/NAME PATH"
    return 4
  fi
  mkdir -p "$(dirname "$INPUT/$path")"
  if [[ $name != */ ]]; then
    get "$name" "$INPUT/$path" || answer=$?
    [ "$answer" = 1 ] || return "$answer"
  fi
  list "${name%/}/" "$STATE/inputs" || return
  if [ ! -s "$STATE/inputs" ]; then
    say "missing input: $from"
    return 1
  fi
  mkdir -p "$INPUT/$path"
  fetch_listed "${name%/}/" "$INPUT/${path%/}" "$STATE/inputs"
}

# The lines NAME=VALUE that the program gets: what we tell, then what its developer set.
write_environment() {
  local line
  mkdir -p "$WORK/python"
  print_module >"$WORK/python/spotwarden_preemption.py"
  {
    cat <<END
SPOTWARDEN_JOB=$JOB
SPOTWARDEN_NODE=$NODE
SPOTWARDEN_ATTEMPT=$ATTEMPT
SPOTWARDEN_OUTPUT=$OUTPUT
SPOTWARDEN_INPUT=$INPUT
SPOTWARDEN_PROGRESS=$PROGRESS
SPOTWARDEN_NOTICE=$NOTICE_FILE
SPOTWARDEN_TURN=$TURN_FILE
SPOTWARDEN_PYTHON=$WORK/python
NODE_RANK=$RANK
NNODES=$NODES
NODES=$NODES
WORLD_SIZE=$NODES
MASTER_ADDR=$MASTER
MASTER_PORT=$PORT
SPOTWARDEN_HOSTFILE=$HOSTFILE
END
    # Whoever joins the others without torchrun or MPI needs this one, too.
    [ "$NODES" = 1 ] || echo "RANK=$RANK"
    setting env
    # Python keeps what it prints to a pipe for itself, 8 kB of it, and loses that when it is killed.
    [[ $'\n'$REPLY == *$'\n'PYTHONUNBUFFERED=* ]] || echo PYTHONUNBUFFERED=1
    tpu_environment "$REPLY"
    setting env
    while IFS= read -r line; do
      if [[ $line =~ ^[A-Za-z_][A-Za-z0-9_]*= ]]; then
        printf '%s\n' "$line"
      elif [ -n "$line" ]; then
        say "invalid environment variable: ${line%%=*}; write NAME=VALUE" >&2
      fi
    done <<<"$REPLY"
  } >"$STATE/environment"
}

# What is run, as the words of `RUN`: the command by bash, or the container that it runs in.
choose_command() {
  local command flags=()
  setting command
  command=$REPLY
  setting container
  IMAGE=$REPLY
  if [ -z "$IMAGE" ]; then
    RUN=(bash -c "$command")
    line_by_line && RUN=(stdbuf -oL "${RUN[@]}")
    return 0
  fi
  install_engine
  find_engine || return
  log_in "${IMAGE%%/*}"
  setting container-flags
  eval "flags=($REPLY)"
  [ -e "$GPU" ] && flags=(--gpus all "${flags[@]}")
  has_tpu && flags=(--privileged "${flags[@]}")
  RUN=("$ENGINE" run --rm --name "spotwarden-$NODE" --network host --env-file "$STATE/environment" -v "$WORK:$WORK" -w "$CODE"
    "${flags[@]}" "$IMAGE")
  [ -z "$command" ] || RUN+=(sh -c "$command")
}

# Whether programs that print by the C library can be made to print each line at once, and nothing else changes: by
# stdbuf, which preloads a library. A terminal would do more: bars of progress, colours, other ends of lines. Whoever
# sets stdbuf's own variable has decided.
line_by_line() {
  setting env
  [[ $'\n'$REPLY != *$'\n'_STDBUF_O=* ]] || return
  command -v stdbuf >/dev/null && REPLY=$(stdbuf -oL env 2>&1) && [[ $REPLY == *_STDBUF_O=L* && $REPLY != *"cannot be preloaded"* ]]
}

# An engine that works; it may be starting itself.
find_engine() {
  local one try
  number engine-wait 30
  for ((try = REPLY; try >= 0; try -= 2)); do
    for one in docker podman; do
      ENGINE=$one
      command -v "$one" >/dev/null && timeout 20 "$one" info >/dev/null 2>&1 && return
    done
    ENGINE=""
    command -v docker >/dev/null || command -v podman >/dev/null || break
    [ "$try" -lt 2 ] || sleep 2
  done
  say "the job needs a container, but no container engine works in this image; use one with docker, such as Container-Optimized OS"
  return 1
}

# Google's registries take the VM's own token.
log_in() {
  case $1 in
    *-docker.pkg.dev | gcr.io | *.gcr.io) ;;
    *) return 0 ;;
  esac
  authorize
  sed 's/^Authorization: Bearer //' "$STATE/token" |
    "$ENGINE" login --username oauth2accesstoken --password-stdin "https://$1" >/dev/null 2>&1 ||
    say "$1 denies access to this VM's service account"
}

# Without the agent nobody knows whether the GPUs work or idle.
hint_at_agent() {
  [ ! -e "$GPU" ] || [ -d "$AGENT" ] ||
    say "GPUs are not measured: this VM has no Ops Agent. To add it, see Google's \"Install the Ops Agent\""
}

# Start the program in a process group of its own. What it prints goes through a pipe to the log and to the console: a
# full disk then ends the log, not the program.
start_program() {
  ALL_SAID="" WHOLE_AFTER=""
  rm -f "$STATE/printed" "$PROGRESS" "$NOTICE_FILE" "$NOTICE_FILE.stop"
  mkfifo "$STATE/printed"
  # Under which number a member that waits will begin is not known yet.
  SPOKEN=$LOG
  [ -z "${WAITS:-}" ] || { SPOKEN=$WORK/log/waiting && : >"$SPOKEN"; }
  tee -a "$SPOKEN" <"$STATE/printed" 2>/dev/null &
  TEE=$!
  set -m
  run_program >"$STATE/printed" 2>&1 </dev/null &
  PROGRAM=$!
  set +m
}

run_program() {
  local line status
  exec 5>&-
  # The group gets the signal, this shell with it: it stays, to tell how the program ended.
  trap : TERM
  trap - PIPE
  cd "$CODE" || exit 126
  while IFS= read -r line; do
    export "${line?}"
  done <"$STATE/environment"
  export HOME=${HOME:-/root}
  # An image may have a path of its own, so in a container the command says it.
  [ -n "$IMAGE" ] || export PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$WORK/python
  [ -e "$STATE/set-up" ] || set_up
  : >"$READY"
  if await_begin "$STATE/standby"; then
    "${RUN[@]}"
    status=$?
    [ ! -e "$STATE/kept" ] || end_program "$status"
    rm -f "$STATE/started"
    await_begin
  fi
  # Who the members of a gang that bends are is known only now.
  while IFS= read -r line; do
    export "${line?}"
  done <"$STATE/environment"
  "${RUN[@]}"
  end_program $?
}

# Once a boot: where the program runs again in place, the others of a gang wait for it.
set_up() {
  local status
  setting setup
  if [ -n "$REPLY" ]; then
    bash -c "$REPLY" || {
      status=$?
      say "the setup failed with status $status: $REPLY"
      end_program "$status"
    }
  fi
  [ -z "$IMAGE" ] || [ -e "$BEGUN" ] || "$ENGINE" pull -q "$IMAGE" >/dev/null 2>&1
  : >"$STATE/set-up"
}

# Until there is nobody any more who writes what it begins with; 0 where this file was there before, and could be taken.
await_begin() {
  until [ -e "$BEGUN" ]; do
    [ ! -e "$NOTICE_FILE.stop" ] || end_program 143
    [ ! -e "${1:-$BEGUN}" ] || ! mv "$1" "$STATE/started" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}

end_program() {
  echo "ended $1" 1<>"$STATE/events" >"$STATE/events"
  exit "$1"
}

program_runs() { kill -0 "$PROGRAM" 2>/dev/null; }

# Whether anything of it runs: of `cd src && python3 train.py` bash ends at the signal, and the training has yet to write
# its checkpoint. What has ended, and nobody has waited for, does not count.
group_runs() {
  local file line
  kill -0 -- "-$PROGRAM" 2>/dev/null || return
  for file in /proc/[0-9]*/stat; do
    { IFS= read -r line <"$file"; } 2>/dev/null || continue
    [[ ${line##*) } =~ ^[^ZX]\ [0-9]+\ $PROGRAM\  ]] && return
  done
  return 1
}

# Ask it to end, and make it end when that has taken too long. Its status is in ENDED; KILLED is when it had to be.
# Whoever ended in time was not in the middle of what it wrote after the signal, in WHOLE_AFTER.
stop_program() {
  local wait=$1 end=$((SECONDS + $1))
  KILLED=""
  if program_runs; then
    : >"$NOTICE_FILE.stop"
    kill -TERM -- "-$PROGRAM" 2>/dev/null
    sleep 0.05
    : >"$STATE/asked-to-end"
    WHOLE_AFTER=$(find "$STATE/asked-to-end" -printf '%T@')
    while group_runs && [ "$SECONDS" -lt "$end" ]; do
      listen 0.2
    done
  fi
  if [ -n "$WHOLE_AFTER" ] && group_runs; then
    say "the program did not end within $wait s of SIGTERM and is killed"
    now
    KILLED=$REPLY WHOLE_AFTER=""
    [ -z "${ENGINE:-}" ] || timeout 5 "$ENGINE" kill "spotwarden-$NODE" >/dev/null 2>&1
  fi
  kill -KILL -- "-$PROGRAM" 2>/dev/null
  wait "$PROGRAM" 2>/dev/null
  ENDED=$?
  # The last that it has said.
  end=$((SECONDS + 2))
  while kill -0 "$TEE" 2>/dev/null && [ "$SECONDS" -lt "$end" ]; do
    listen 0.05
  done
}
