#!/bin/bash
export $(grep -v '^#' job.env | xargs)
gcloud compute instances create "$NAME" --zone="$ZONE"
