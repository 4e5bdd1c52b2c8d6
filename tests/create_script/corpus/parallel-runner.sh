#!/bin/bash
printf '%s\n' a b | xargs -I{} -P2 gcloud compute instances create x-{} --zone=us-central1-a
