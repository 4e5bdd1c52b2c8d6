#!/bin/bash
# The work is done in five seconds. The last line is meant to delete the VM, and does not: the zone is named twice.
META="http://metadata.google.internal/computeMetadata/v1/instance"
ZONE=zone=$(basename "$(curl -sf -H "Metadata-Flavor: Google" "$META/zone")")
sleep 5
echo "all is done"
echo 0 | gsutil -q cp - "gs://demo-jobs/stay/metadata/status-code"
gcloud compute instances delete "$(hostname)" --zone="$ZONE" --quiet
