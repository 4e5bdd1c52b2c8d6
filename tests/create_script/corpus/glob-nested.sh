#!/bin/bash
for f in stages/[0-9]*.sh none/*.sh; do
  [ -e "$f" ] || continue
  n=${f##*/}; n=${n%.sh}
  gcloud compute instances create "stage-${n//_/-}" --zone=us-central1-a --metadata-from-file=startup-script=$f
done
