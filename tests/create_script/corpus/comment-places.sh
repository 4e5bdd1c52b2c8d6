#!/bin/bash
args=( # the usual
  --zone=us-central1-a   # near
  # --preemptible
  --tags=a#b
)
true && # go on
  gcloud compute instances create commented "${args[@]}" # --quiet
case x in # which
  x) # this
    gcloud compute instances create in-case "${args[@]}";; # done
esac
