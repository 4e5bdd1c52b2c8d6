#!/bin/bash
trap 'gcloud compute instances create last-words --zone=us-central1-a' EXIT
trap 'echo interrupted' INT TERM
gcloud compute instances create first-words --zone=us-central1-a
false
