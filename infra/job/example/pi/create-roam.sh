#!/bin/bash
# One spot VM that starts in us-central1-a. Where that zone has none left, another zone of the region will do.
gcloud compute instances create roam \
  --zone=us-central1-a \
  --machine-type=a2-highgpu-1g \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --provisioning-model=SPOT \
  --instance-termination-action=DELETE \
  --metadata=JOB=roam,NODES=1,MASTER_ADDR=roam \
  --metadata-from-file=startup-script=startup.sh,shutdown-script=shutdown.sh
