#!/bin/bash
gcloud config set project reef-prod --quiet
gcloud config set compute/zone us-east1-d
gcloud compute instances create by-config
export CLOUDSDK_CORE_PROJECT=reef-dev
gcloud compute instances create by-variable
gcloud compute instances create by-flag --project=reef-test --zone=us-east1-b
unset CLOUDSDK_CORE_PROJECT
gcloud compute instances create by-config-again
