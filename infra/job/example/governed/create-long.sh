#!/bin/bash
# A search without end. Its team has agreed on a limit.
gcloud compute instances create long \
  --zone=us-central1-c \
  --machine-type=e2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --metadata-from-file=startup-script=long.sh
