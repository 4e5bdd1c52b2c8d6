#!/bin/bash
# Trains, and says so in the one way that takes no agent: a heartbeat in the bucket.
while true; do
  date | gsutil -q cp - "gs://demo-jobs/dark/metadata/heartbeat/dark"
  sleep 4
done
