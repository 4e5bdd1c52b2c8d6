#!/bin/bash
gcloud compute instances create "run-$(date +%s)" --zone=us-central1-a
