#!/bin/bash
# A training on an image without the Ops Agent: nobody sees what its GPU does.
gcloud compute instances create dark \
  --zone=us-central1-c \
  --machine-type=g2-standard-4 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --metadata-from-file=startup-script=dark.sh
