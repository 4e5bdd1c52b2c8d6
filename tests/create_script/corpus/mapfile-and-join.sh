#!/bin/bash
mapfile -t tags < tags.txt
old_ifs=$IFS; IFS=','
joined="${tags[*]}"
head="${tags[*]:0:2}"
IFS=$old_ifs
gcloud compute instances create joined --zone=us-central1-a --tags="$joined" --labels="n=${#tags[@]}" --metadata=head=${head//,/+}
