#!/bin/bash
SPOT=
nvidia-smi >/dev/null 2>&1 && SPOT=--provisioning-model=SPOT
gcloud compute instances create flagged --zone=us-central1-a $SPOT
