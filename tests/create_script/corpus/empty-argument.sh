#!/bin/bash
GPU_FLAGS=""
gcloud compute instances create emptyarg --zone=us-central1-a "$GPU_FLAGS"
