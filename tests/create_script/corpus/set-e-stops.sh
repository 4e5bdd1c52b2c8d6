#!/bin/bash
set -e
gcloud compute instances create reached --zone=us-central1-a
READY=no
[ "$READY" = yes ]
gcloud compute instances create unreached --zone=us-central1-a
