# --- TPUs: what programs on them are told, and what their driver writes. ---

# The newest bytes of each file that the driver has written; the next attempt gets them all back.
TPU_LOG_AT_MOST=1000000

# The machine type says whether this VM has TPUs: ct6e-standard-4t, tpu7x-standard-4t.
has_tpu() {
  value machine-type
  [[ ${REPLY##*/} =~ ^(ct[0-9]+[a-z]*|tpu[0-9]+x)-[a-z]+-[0-9]+t(-tpu)?$ ]]
}

tpu_logs() { REPLY=$WORK/log/tpu-$ATTEMPT; }

# Lines for the program's environment, but for those that its developer has set, in $1. A VM alone is worker 0 of one.
# A part of a slice has an attribute from Google that says which part; the driver reads that itself. Where it has none, its
# place among the nodes is told, as GKE does it: JAX and PyTorch take all of it from there.
tpu_environment() {
  local line lines=(PJRT_DEVICE=TPU)
  has_tpu || return 0
  tpu_logs
  mkdir -p "$REPLY"
  lines+=("TPU_LOG_DIR=$REPLY")
  value tpu-env
  [ -n "$REPLY" ] || tpu_workers
  for line in "${lines[@]}"; do
    [[ $'\n'$1 == *$'\n'${line%%=*}=* ]] || echo "$line"
  done
}

# Adds to `lines` which worker this VM is, and of which.
tpu_workers() {
  local place workers=""
  setting topology
  if [ -z "$REPLY" ] || [ "$NODES" = 1 ]; then
    lines+=(TPU_WORKER_ID=0 TPU_WORKER_HOSTNAMES=localhost)
    return
  fi
  lines+=("TPU_TOPOLOGY=$REPLY" "TPU_WORKER_ID=$RANK")
  for ((place = 0; place < NODES; place++)); do
    peer "$place"
    workers+=${workers:+,}$REPLY
  done
  lines+=("TPU_WORKER_HOSTNAMES=$workers")
}

# What the driver wrote joins the output when the program has ended, not before: a driver that goes on talking while the
# program hangs would pass for progress. What has an older time than its inode is not in the middle of being written.
keep_tpu_logs() {
  local file from to
  has_tpu || return 0
  tpu_logs
  from=$REPLY to=$OUTPUT/logs/libtpu/$NODE-$ATTEMPT
  for file in "$from"/*; do
    [ -s "$file" ] && [ ! -L "$file" ] || continue
    mkdir -p "$to" || return 0
    tail -c "$TPU_LOG_AT_MOST" "$file" >"$to/log.tmp" && touch -r "$file" "$to/log.tmp" && mv -f "$to/log.tmp" "$to/${file##*/}"
  done
  return 0
}

# Google's image for TPUs has no container engine.
install_engine() {
  has_tpu && ! command -v docker >/dev/null && ! command -v podman >/dev/null && command -v apt-get >/dev/null || return 0
  say "installing docker: this image has no container engine"
  { timeout 300 apt-get -qq update && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -qqy install docker.io; } \
    >/dev/null 2>&1 || say "docker couldn't be installed"
}
