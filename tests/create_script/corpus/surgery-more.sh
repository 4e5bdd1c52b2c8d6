#!/bin/bash
URI=gs://harbor-models/speech/v3/model.tar.gz
file=${URI##*/}; stem=${file%%.*}; ext=${file#*.}
path=${URI#gs://}; bucket=${path%%/*}
ver=${URI%/*}; ver=${ver##*/}
which=stem
gcloud compute instances create "${stem}-${ver/v/ver}" --zone=us-central1-a \
  --labels="bucket=${bucket},ext=${ext//./-},up=${bucket: -6},first=${stem:0:1}" \
  --metadata="shout=${stem^^},cap=${!which^},quoted=${file@Q},odd=${path//[^a-z]/}"
