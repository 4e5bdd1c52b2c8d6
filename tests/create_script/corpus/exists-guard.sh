#!/bin/bash
if ! gcloud compute instances describe once --zone=us-central1-a >/dev/null 2>&1; then
  gcloud compute instances create once --zone=us-central1-a
fi
