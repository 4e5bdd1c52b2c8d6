#!/bin/bash
# Two spot VMs, one job: both run or none. When one is taken away, Spotwarden starts both anew, and each goes on
# from its own checkpoint.
gcloud compute instances bulk create \
  --name-pattern=pair-# \
  --count=2 \
  --zone=us-central1-a \
  --machine-type=g2-standard-8 \
  --image-family=debian-12 \
  --image-project=debian-cloud \
  --scopes=cloud-platform \
  --maintenance-policy=TERMINATE \
  --provisioning-model=SPOT \
  --instance-termination-action=DELETE \
  --metadata=JOB=pair,NODES=2,MASTER_ADDR=pair-1 \
  --metadata-from-file=startup-script=startup.sh,shutdown-script=shutdown.sh
