#!/bin/bash
gcloud compute instances create brok\
en --zone="us-\
central1-a" \
   --tags=a,\
b --description='kept \
apart' |
  cat &&
gcloud compute instances create second \
	--zone=us-central1-a
