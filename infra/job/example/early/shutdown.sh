#!/bin/bash
# Written when the VM is really shut down. Where the early marker has been answered, so is this one.
META="http://metadata.google.internal/computeMetadata/v1/instance"
ask() { curl -sf -H "Metadata-Flavor: Google" "$META/$1"; }

gsutil -q stat gs://demo-jobs/relay/metadata/status-code && exit 0
[ "$(ask preempted)" = TRUE ] || exit 0

printf '{"job": "relay", "node": "%s", "instance_id": "%s", "zone": "%s"}' \
  "$(ask name)" "$(ask id)" "$(basename "$(ask zone)")" |
  gsutil -q cp - "gs://demo-jobs/preempted-jobs/$(ask name)"
