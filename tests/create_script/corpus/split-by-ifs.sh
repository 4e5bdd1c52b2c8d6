#!/bin/bash
extra="--tags=a,b --no-address"
IFS=';'
more="--machine-type=e2-small;--description=with blanks inside"
gcloud compute instances create ifs-own --zone=us-central1-a $more
unset IFS
gcloud compute instances create ifs-default --zone=us-central1-a $extra
pattern='--metadata=glob=*[a-z]?'
gcloud compute instances create globbed --zone=us-central1-a $pattern
