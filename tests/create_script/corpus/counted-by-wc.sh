#!/bin/bash
n=$(wc -l < hosts.txt)
for ((i = 0; i < n; i++)); do gcloud compute instances create "h-$i" --zone=us-central1-a; done
