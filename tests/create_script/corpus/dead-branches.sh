#!/bin/bash
DRY_RUN=false
never() { gcloud compute instances create never-called --zone=us-central1-a; }
if $DRY_RUN; then
  gcloud compute instances create dry --zone=us-central1-a
elif [ 3 -gt 5 ]; then
  never
else
  gcloud compute instances create taken --zone=us-central1-a
fi
exit 0
gcloud compute instances create too-late --zone=us-central1-a
done fi ) this is no bash any more
