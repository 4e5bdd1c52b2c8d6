#!/bin/bash
envs=(MODEL=small PORT=8080)
IFS=,
gcloud compute instances create-with-container serve --zone=us-central1-a --image=cos-113 --image-project=cos-cloud --container-image=eu.gcr.io/harbor/serve:1 --container-env="${envs[*]}" --container-arg=--fast --container-arg="two words"
