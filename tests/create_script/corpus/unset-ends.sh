#!/bin/bash
set -u
gcloud compute instances create known --zone=us-central1-a
gcloud compute instances create "$SOMETHING" --zone=us-central1-a
