#!/bin/bash
# One spot VM without a shutdown script, so it never writes a marker. It is missed all the same.
gcloud compute instances create silent \
  --zone=us-central1-b \
  --machine-type=e2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --provisioning-model=SPOT \
  --instance-termination-action=DELETE \
  --metadata=JOB=silent,NODES=1,MASTER_ADDR=silent \
  --metadata-from-file=startup-script=startup.sh
