#!/usr/bin/env bash
# Fine-tunes the small speller on one L4.
gcloud compute instances create speller-ft \
  --project=harbor-lab \
  --zone=europe-west4-a \
  --machine-type=g2-standard-8 \
  --provisioning-model=SPOT --instance-termination-action=DELETE \
  --maintenance-policy=TERMINATE \
  --image-family=common-cu124-ubuntu-2204 --image-project=deeplearning-platform-release \
  --boot-disk-size=150GB --boot-disk-type=pd-balanced \
  --scopes=cloud-platform \
  --metadata=startup-script='#!/bin/bash
set -e
NAME=$(curl -s -H "Metadata-Flavor: Google" http://metadata.google.internal/computeMetadata/v1/instance/name)
gsutil cp "gs://harbor-jobs/$NAME/my-code.tar" /opt/ && tar -C /opt -xf /opt/my-code.tar
python3 /opt/train.py --out "/opt/output" | tee /var/log/train.log
' \
  --metadata-from-file=shutdown-script=leave.sh
