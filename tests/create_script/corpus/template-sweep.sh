#!/bin/bash
for lr in 0.1 0.01; do for bs in 32 64; do
  id="lr${lr#0.}-bs$bs"
  gcloud compute instances create "sweep-$id" --zone=us-central1-a --source-instance-template=sweeper --metadata=lr=$lr,bs=$bs
done; done
