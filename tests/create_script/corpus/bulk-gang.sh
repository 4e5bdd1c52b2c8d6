#!/bin/bash
set -eu
JOB=gang7; N=4
COMMON="--region=us-central1 --machine-type=a2-highgpu-1g"
gcloud compute instances bulk create --name-pattern="$JOB-#" --count=$N --min-count=$((N - 1)) $COMMON \
  --location-policy=us-central1-a=allow,us-central1-f=deny --target-distribution-shape=any_single_zone \
  --provisioning-model=SPOT --instance-termination-action=DELETE --on-host-maintenance=TERMINATE \
  --metadata-from-file=startup-script=up.sh --metadata=job=$JOB --labels=job=$JOB
