#!/bin/bash
Z=us-central1-a
( Z=us-central1-b; gcloud compute instances create in-sub --zone=$Z )
{ Z=us-central1-c; gcloud compute instances create in-group --zone=$Z; } > group.log 2>&1
gcloud compute instances create piped --zone=$Z 2>&1 | tee piped.log
yes | gcloud compute instances create agreed --zone=$Z --quiet
gcloud compute instances create behind --zone=$Z &
wait $!
