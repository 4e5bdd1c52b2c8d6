#!/bin/bash
# A training that hangs in a busy loop: its GPU is at work, and nothing comes of it.
gcloud compute instances create hang \
  --zone=us-central1-b \
  --machine-type=g2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --metadata-from-file=startup-script=hang.sh
