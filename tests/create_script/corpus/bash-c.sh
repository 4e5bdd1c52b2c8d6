#!/bin/bash
export ZONE=us-east4-a
HIDDEN=x
bash -c 'gcloud compute instances create "c-${HIDDEN:-none}-$1" --zone=$ZONE' ignored arg
sh -c "gcloud compute instances create c-$HIDDEN --zone=$ZONE"
