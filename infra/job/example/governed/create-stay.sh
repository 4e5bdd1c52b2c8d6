#!/bin/bash
# A job that ends well, and whose VM then fails to delete itself.
gcloud compute instances create stay \
  --zone=us-central1-a \
  --machine-type=e2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --metadata-from-file=startup-script=stay.sh
