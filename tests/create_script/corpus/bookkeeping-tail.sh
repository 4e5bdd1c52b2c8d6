#!/bin/bash
gcloud compute instances create tail --zone=us-central1-a --machine-type=e2-medium
for ip in $(gcloud compute instances list --format='value(EXTERNAL_IP)'); do echo "$ip" >> hosts; done
gcloud compute instances list | while read -r name zone _; do echo "$name is in $zone"; done
status=1; tries=0
while [ $status -ne 0 ] && [ $tries -lt 10 ]; do ssh tail true; status=$?; tries=$((tries + 1)); sleep 3; done
gcloud compute instances add-metadata tail --zone=us-central1-a --metadata=ip="$ip"
cat > report.txt <<R
$(date) $status
R
gsutil cp report.txt gs://harbor-reports/
