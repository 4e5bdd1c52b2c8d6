#!/bin/bash
# Another notebook. Its owner says that it is to be kept.
gcloud compute instances create kept \
  --zone=us-central1-b \
  --machine-type=g2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --metadata-from-file=startup-script=notebook.sh
