#!/bin/bash
while IFS=: read -r name zone disk rest; do
  case $name in ''|'#'*) continue;; esac
  gcloud compute instances create "$name" --zone="$zone" --boot-disk-size="${disk:-20}" ${rest:+--tags="$rest"}
done <<'TABLE'
# name:zone:disk:tags
ada:us-central1-a:100:math,old

bob:us-central1-c
TABLE
