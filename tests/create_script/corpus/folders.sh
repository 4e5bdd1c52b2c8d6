#!/bin/bash
cd conf
( cd deep && gcloud compute instances create in-deep --zone=us-central1-a --metadata-from-file=user-data=x.yaml )
gcloud compute instances create in-conf --zone=us-central1-a --metadata-from-file=user-data=deep/x.yaml,other=./top.txt
pushd deep >/dev/null; gcloud compute instances create pushed --zone=us-central1-a --metadata-from-file=up=../top.txt; popd >/dev/null
cd ..
gcloud compute instances create back --zone=us-central1-a --metadata-from-file=t=conf/top.txt
