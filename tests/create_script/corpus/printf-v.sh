#!/bin/bash
printf -v name 'shard-%03d-of-%03d' 7 64
printf -v list '%s;' one two three
printf -v hexed '%x' 255
gcloud compute instances create "$name" --zone=us-central1-a --metadata="^|^list=${list%;}|hex=$hexed"
