#!/bin/bash
# Thirty seconds, then the VM is gone. The marker says: this node was shut down while its job was running.
META="http://metadata.google.internal/computeMetadata/v1/instance"
ask() { curl -sf -H "Metadata-Flavor: Google" "$META/$1"; }

# A job that has ended is not to come back, and a VM that is deleted on purpose was not preempted.
JOB=$(ask attributes/JOB)
gsutil -q stat "gs://demo-jobs/$JOB/metadata/status-code" && exit 0
[ "$(ask preempted)" = TRUE ] || exit 0

printf '{"job": "%s", "node": "%s", "instance_id": "%s", "zone": "%s", "at": "%s"}' \
  "$JOB" "$(ask name)" "$(ask id)" "$(basename "$(ask zone)")" "$(date -u +%FT%TZ)" |
  gsutil -q cp - "gs://demo-jobs/preempted-jobs/$(ask name)"
