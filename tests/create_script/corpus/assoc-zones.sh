#!/bin/bash
declare -A zone_of=([gpu]=us-central1-c [cpu]='us-central1-f')
zone_of[big]=us-west1-a
zone_of[cpu]+=""
for kind in gpu cpu big none; do
  [[ -v zone_of[$kind] ]] || { echo "no zone for $kind"; continue; }
  gcloud compute instances create "m-$kind" --zone="${zone_of[$kind]}" --labels=kinds=${#zone_of[@]}
done
