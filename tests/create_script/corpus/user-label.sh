#!/bin/bash
OWNER=${OWNER:-$USER}
gcloud compute instances create mine --zone=us-central1-a --labels=owner=$OWNER
