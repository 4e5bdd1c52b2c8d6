#!/bin/bash
SIZE=medium
case "$SIZE" in
  s|small) TYPE=e2-small DISK=10 ;;
  m*)      TYPE=e2-standard-4 DISK=50 ;;&
  *dium)   LABEL=size=mid ;;
  *)       echo "what?" >&2; exit 64 ;;
esac
gcloud compute instances create "box-$SIZE" --zone=us-east1-c --machine-type=$TYPE --boot-disk-size=${DISK}GB --labels=$LABEL
