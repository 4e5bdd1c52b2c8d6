#!/bin/bash
# A training whose data come late: its GPU waits for them, then works.
gcloud compute instances create late \
  --zone=us-central1-a \
  --machine-type=g2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --metadata-from-file=startup-script=late.sh
