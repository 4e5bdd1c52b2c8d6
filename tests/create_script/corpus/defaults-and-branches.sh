#!/bin/bash
ENV=${1:-staging}
ZONE=${ZONE:=asia-east1-b}
if [[ $ENV =~ ^(staging|prod)$ ]]; then
  if [[ $ENV != prod ]]; then PRE=--preemptible; else PRE=; fi
  SUFFIX=${ENV:0:4}
fi
[[ -n $PRE && $ZONE == asia-* ]] && TAGS=asia,cheap || TAGS=costly
gcloud compute instances create "api-${SUFFIX}" --zone "$ZONE" $PRE --tags "$TAGS"
