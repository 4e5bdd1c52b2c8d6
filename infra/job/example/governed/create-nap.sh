#!/bin/bash
# A notebook on a GPU. Nobody is there to type the next cell.
gcloud compute instances create nap \
  --zone=us-central1-a \
  --machine-type=g2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --metadata-from-file=startup-script=notebook.sh
