#!/bin/bash
timeout 300 gcloud compute instances create w-timeout --zone=us-central1-a
nice -n 5 gcloud compute instances create w-nice --zone=us-central1-a
env CLOUDSDK_COMPUTE_ZONE=us-east1-b gcloud compute instances create w-env
CLOUDSDK_COMPUTE_ZONE=us-east1-c exec gcloud compute instances create w-exec
gcloud compute instances create w-never --zone=us-central1-a
