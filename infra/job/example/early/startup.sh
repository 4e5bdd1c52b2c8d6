#!/bin/bash
# Works step by step; hands over as soon as Compute Engine announces that it takes this VM.
HERE="gs://demo-jobs/relay"
META="http://metadata.google.internal/computeMetadata/v1/instance"
ask() { curl -sf -H "Metadata-Flavor: Google" "$META/$1"; }

work() {
  STEP=$(gsutil -q cat "$HERE/output/step" || echo 0)
  while [ "$STEP" -lt 600 ]; do
    sleep 1
    STEP=$((STEP + 1))
    echo "$STEP" | gsutil -q cp - "$HERE/output/step"
  done
}

# Waits for the announcement; fails where the process of this id ends before it comes.
announced_while_running() {
  while kill -0 "$1" 2>/dev/null; do
    [ "$(ask preempted)" = TRUE ] && return
    sleep 1
  done
  return 1
}

write_early_marker() {
  printf '{"job": "relay", "node": "%s", "instance_id": "%s", "zone": "%s", "early": true}' \
    "$(ask name)" "$(ask id)" "$(basename "$(ask zone)")" |
    gsutil -q cp - "gs://demo-jobs/preempted-jobs/$(ask name)"
}

work &
WORK=$!
if announced_while_running "$WORK"; then
  # In this order: the marker starts the successor, and only one of the two may write.
  kill "$WORK"
  wait "$WORK"
  write_early_marker
  exit
fi

wait "$WORK"
echo "$?" | gsutil -q cp - "$HERE/metadata/status-code"
gcloud compute instances delete "$(ask name)" --zone="$(basename "$(ask zone)")" --quiet
