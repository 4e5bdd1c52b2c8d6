#!/bin/bash
set -e
n=0
gcloud compute instances create before-count --zone=us-central1-a
((n++))
gcloud compute instances create after-count --zone=us-central1-a
