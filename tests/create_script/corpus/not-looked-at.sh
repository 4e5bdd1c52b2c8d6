#!/bin/bash
set -e
command -v gcloud >/dev/null
gsutil mb gs://harbor-scratch || true
STARTED=$(date)
gcloud compute networks create scratch-net --subnet-mode=auto
gcloud compute firewall-rules create scratch-ssh --network=scratch-net --allow=tcp:22 --source-ranges="$(curl -s ifconfig.me)/32"
gcloud compute instances create scratch --zone=us-central1-a --network=scratch-net
IP=$(gcloud compute instances describe scratch --zone=us-central1-a --format='value(networkInterfaces[0].accessConfigs[0].natIP)')
until ssh "$IP" true; do sleep 5; done
if [ -n "$STARTED" ]; then echo "since $STARTED: $IP"; fi
