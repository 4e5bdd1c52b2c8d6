#!/bin/bash
mkdir -p logs || exit 1
gcloud config set project harbor-lab || { echo "no project" >&2; exit 2; }
if ! gcloud auth list > logs/auth.txt; then
  echo "log in first"
  exit 3
fi
gcloud compute instances create guarded --zone=us-central1-a > logs/create.txt && echo done
